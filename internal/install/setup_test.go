package install

import (
	"errors"
	"strings"
	"testing"
)

func TestSetupFiles(t *testing.T) {
	for _, f := range SetupFiles {
		if c := f.Install(nil); c.Op != Create || string(c.Text) != f.Text {
			t.Errorf("%s: installing it where there is no file writes %q, want %q", f.Path, c.Text, f.Text)
		}
		for name, tt := range map[string]struct {
			text     []byte
			in, back string
		}{
			"nothing":   {nil, "created", "absent"},
			"as made":   {[]byte(f.Text), "kept", "removed"},
			"edited":    {[]byte(f.Text + "x"), "kept", "kept"},
			"emptied":   {[]byte{}, "kept", "kept"},
			"their own": {[]byte("registry: {}\n"), "kept", "kept"},
		} {
			if in, back := f.Install(tt.text).Action, f.Uninstall(tt.text).Action; in != tt.in || back != tt.back {
				t.Errorf("%s, %s: Install gives %s and Uninstall %s, want %s and %s", f.Path, name, in, back, tt.in, tt.back)
			}
		}
	}
}

func TestWould(t *testing.T) {
	for action, want := range map[string]string{
		"created": "would create", "set aside": "would set aside", "taken out": "would take out", "kept": "kept", "absent": "absent",
	} {
		if got := Would(action); got != want {
			t.Errorf("Would(%q) = %q, want %q", action, got, want)
		}
	}
}

func TestFindings(t *testing.T) {
	fine := Facts{
		Git: "2.39.5 (Apple Git-154)", OnPath: true, Hooks: map[string]string{"a": "kept", "b": "kept"},
		Clients: []ClientStatus{{Client: "x", Scope: "project", Path: "x.json", Parts: 1, Of: 1}},
	}
	with := func(change func(*Facts)) Facts {
		f := fine
		change(&f)
		return f
	}
	none := map[string]string{"a": "created", "b": "set aside"}
	for name, tt := range map[string]struct {
		facts Facts
		want  string
	}{
		"all is well":         {fine, ""},
		"nothing is set up":   {Facts{Git: "2.31.0", Hooks: none}, ""},
		"a broken config":     {with(func(f *Facts) { f.Config = errors.New("x") }), "CONFIG_INVALID"},
		"a broken store":      {with(func(f *Facts) { f.Store = errors.New("x") }), "STORE_UNREADABLE"},
		"no team":             {with(func(f *Facts) { f.Base, f.Trouble = errors.New("x"), "away" }), "STORE_AWAY"},
		"an old git":          {with(func(f *Facts) { f.Git = "2.9.0" }), "GIT_OLD"},
		"an odd git":          {with(func(f *Facts) { f.Git = "next" }), ""},
		"no git":              {with(func(f *Facts) { f.NoGit = errors.New("x") }), "GIT_UNKNOWN"},
		"a hook is missing":   {with(func(f *Facts) { f.Hooks = map[string]string{"a": "kept", "b": "created"} }), "HOOKS_PARTIAL"},
		"a hook is old":       {with(func(f *Facts) { f.Hooks = map[string]string{"a": "kept", "b": "updated"} }), "HOOKS_OLD"},
		"a hook is off":       {with(func(f *Facts) { f.Off = []string{"a"} }), "HOOKS_OFF"},
		"it is ken's alone":   {with(func(f *Facts) { f.Off, f.Hooks = []string{"b"}, map[string]string{"a": "kept", "b": "updated"} }), "HOOKS_OFF"},
		"no way to the hooks": {with(func(f *Facts) { f.NoHooks = errors.New("x") }), "HOOKS_UNKNOWN"},
		"hooks without ken":   {with(func(f *Facts) { f.OnPath, f.Clients = false, nil }), "KEN_NOT_ON_PATH"},
		"clients without ken": {with(func(f *Facts) { f.OnPath, f.Hooks = false, none }), "KEN_NOT_ON_PATH"},
		"ken is not wanted":   {with(func(f *Facts) { f.OnPath, f.Hooks, f.Clients = false, none, nil }), ""},
		"half a client": {with(func(f *Facts) {
			f.Clients = append(f.Clients[:1:1], ClientStatus{Client: "x", Scope: "project", Parts: 2, Of: 5})
		}), "CLIENT_PARTIAL"},
		"half a client, broken": {with(func(f *Facts) {
			f.Clients = append(f.Clients[:1:1], ClientStatus{Client: "x", Scope: "project", Of: 5, Broken: "no JSON"})
		}), "CLIENT_BROKEN"},
		"half a client, a file is missing": {with(func(f *Facts) {
			f.Clients = append(f.Clients[:1:1], ClientStatus{Client: "x", Scope: "project", Server: true, Of: 1, Absent: true})
		}), "CLIENT_PARTIAL"},
		"the half is in the user's own files": {with(func(f *Facts) {
			f.Clients = append(f.Clients[:1:1], ClientStatus{Client: "x", Scope: "project", Server: true, Of: 1, Absent: true},
				ClientStatus{Client: "x", Scope: "user", Server: true, Parts: 1, Of: 1})
			f.Clients = append(f.Clients, ClientStatus{Client: "x", Scope: "user", Of: 5, Absent: true})
		}), ""},
		"the half is in the files of a client that it reads": {with(func(f *Facts) {
			f.Clients = append(f.Clients[:1:1], ClientStatus{Client: "y", Scope: "project", Server: true, Parts: 1, Of: 1},
				ClientStatus{Client: "y", Scope: "project", Of: 5, Absent: true, Reads: "x"})
		}), ""},
		"a server is no hook": {with(func(f *Facts) {
			f.Clients = append(f.Clients[:1:1], ClientStatus{Client: "y", Scope: "project", Parts: 5, Of: 5},
				ClientStatus{Client: "y", Scope: "project", Server: true, Of: 1, Absent: true, Reads: "x"})
		}), "CLIENT_PARTIAL"},
		"all of a client is broken": {with(func(f *Facts) {
			f.Clients = append(f.Clients[:1:1], ClientStatus{Client: "y", Scope: "project", Of: 1, Broken: "no JSON"},
				ClientStatus{Client: "y", Scope: "project", Of: 5, Broken: "no JSON", Named: true})
		}), "CLIENT_BROKEN CLIENT_BROKEN"},
		"another's, missing": {with(func(f *Facts) {
			f.Clients = append(f.Clients[:1:1], ClientStatus{Client: "y", Scope: "project", Of: 5, Absent: true})
		}), ""},
		"another's, broken": {with(func(f *Facts) {
			f.Clients = append(f.Clients[:1:1], ClientStatus{Client: "y", Scope: "project", Of: 5, Broken: "no JSON"})
		}), ""},
	} {
		var got []string
		for _, found := range tt.facts.Findings() {
			got = append(got, found.Code)
			if found.What == "" || found.Mend == "" && found.Code != "HOOKS_UNKNOWN" {
				t.Errorf("%s: %+v lacks a text or a hint", name, found)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: found %v, want %s", name, got, tt.want)
		}
	}
}

// ken verify --full removes damaged records and leaves records that are dated ahead, so the
// doctor recommends it only for the first.
func TestFindingsOfIgnoredRecords(t *testing.T) {
	f := Facts{Git: "2.45", Damaged: []string{"a.go"}, Ahead: []string{"b.go"}}
	for _, found := range f.Findings() {
		removes := strings.Contains(found.Mend, "ken verify --full")
		if want := found.Code == "RECORDS_DAMAGED"; removes != want {
			t.Errorf("%s recommends %q; want ken verify --full: %v", found.Code, found.Mend, want)
		}
	}
}

// The hint for a ken that is not on the PATH contains its path.
func TestFindingsOffThePath(t *testing.T) {
	for program, want := range map[string]string{
		"/opt/k e n/ken":     `run this, and add it to the profile of your shell: export PATH="$PATH":'/opt/k e n'`,
		"/tmp/ken_1.0_linux": `ln -s /tmp/ken_1.0_linux ~/.local/bin/ken`,
		`C:\ken\ken.exe`:     "add its directory to the PATH",
		"":                   "add the directory of ken to the PATH",
	} {
		f := Facts{Git: "2.45", Program: program, Hooks: map[string]string{"a": "kept"}}
		list := f.Findings()
		if len(list) != 1 || !strings.Contains(list[0].Mend, want) || !strings.HasSuffix(list[0].What, program) {
			t.Errorf("%s: found %+v, want a hint with %s", program, list, want)
		}
	}
}

// The hint for a file of the user has --user.
func TestFindingsOfAUsersOwnFiles(t *testing.T) {
	for scope, mend := range map[Scope]string{Project: "ken install x", User: "ken install x --user"} {
		f := Facts{Git: "2.45", OnPath: true, Clients: []ClientStatus{{Client: "x", Scope: scope, Path: "x.json", Parts: 1, Of: 2}}}
		if list := f.Findings(); len(list) != 1 || list[0].Mend != mend {
			t.Errorf("%s: found %+v, want the hint %s", scope, list, mend)
		}
	}
}
