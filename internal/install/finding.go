package install

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/permission"
)

// A Finding is something wrong with the set-up, and how to fix it.
type Finding struct {
	Code, What, Mend string
}

// Facts describe the set-up of a repository.
type Facts struct {
	Config error // the error of the configuration
	Store  error // the error of the store
	// Damaged and Ahead list the paths of records that ken ignores, because their content
	// does not match their hash, or because they are dated ahead.
	Damaged, Ahead []string
	// StaleFiles and StaleDirectories count stale and unknown summaries, without outlines.
	StaleFiles, StaleDirectories int
	// Base is the error of the team's store, and Trouble its code.
	Base    error
	Trouble string
	// Addresses lists permissions and requests for them. BadAddress is the error of an
	// address in the configuration.
	Addresses  []permission.Permission
	BadAddress error
	// Password says that the address of the store in the configuration contains a password.
	Password bool
	// Git is the version of git, and NoGit the error if git did not print it.
	Git   string
	NoGit error
	// Hooks has the action that ken install git --hooks would take, by hook.
	Hooks map[string]string
	// Off lists the hooks with ken's block that git does not run.
	Off []string
	// NoHooks is the error if the hooks could not be read.
	NoHooks error
	OnPath  bool   // ken is on the PATH
	Program string // the path of this program; "" if unknown
	// Clients has the files of all clients, also missing ones.
	Clients []ClientStatus
}

// AddUnused adds the records that ken ignores.
func (f *Facts) AddUnused(list []fresh.UnusedRecord) {
	for _, u := range list {
		if errors.Is(u.Why, fresh.ErrDamaged) {
			f.Damaged = append(f.Damaged, u.Label())
		} else {
			f.Ahead = append(f.Ahead, u.Label())
		}
	}
}

// AddHooks adds the result of a dry run of ken install git --hooks, or its error.
func (f *Facts) AddHooks(result *HooksResult, err error) {
	f.Hooks = make(map[string]string)
	f.NoHooks = err
	if err != nil {
		return
	}
	for _, hook := range result.Hooks {
		f.Hooks[hook.Name] = hook.Action
		if hook.Off {
			f.Off = append(f.Off, hook.Name)
		}
	}
}

// oldest is the oldest version of git that ken supports.
const oldest = "2.31"

// Findings lists what is wrong.
func (f Facts) Findings() []Finding {
	var list []Finding
	add := func(code, what, mend string) { list = append(list, Finding{code, what, mend}) }
	if f.Config != nil {
		add("CONFIG_INVALID", f.Config.Error(), firstOf(fault.HintOf(f.Config), "correct .ken/config.yaml"))
	}
	if f.Store != nil {
		add("STORE_UNREADABLE", f.Store.Error(), firstOf(fault.HintOf(f.Store), "see the manual page trouble"))
	}
	f.records(add)
	if f.Base != nil {
		add("STORE_"+strings.ToUpper(f.Trouble), f.Base.Error(), firstOf(fault.HintOf(f.Base), "ken share status"))
	}
	if f.BadAddress != nil && f.Base == nil { // the finding for the store has it
		add("ADDRESS_INVALID", f.BadAddress.Error(), firstOf(fault.HintOf(f.BadAddress), "correct .ken/config.yaml"))
	}
	if f.Password {
		add("STORE_PASSWORD", "the address of the store in .ken/config.yaml contains a password, which everybody with the repository can read", "remove it, change the password, and set PGPASSWORD, ~/.pgpass or KEN_STORE")
	}
	switch {
	case f.NoGit != nil:
		add("GIT_UNKNOWN", f.NoGit.Error(), firstOf(fault.HintOf(f.NoGit), "install git"))
	case older(f.Git, oldest):
		add("GIT_OLD", fmt.Sprintf("git is version %s; ken needs %s or newer", f.Git, oldest), "install a newer git")
	}
	used := f.hooks(add)
	used = f.clients(add) || used
	if used && !f.OnPath {
		what, mend := f.offPath()
		add("KEN_NOT_ON_PATH", "hooks or clients start ken, but ken is not on the PATH"+what, mend)
	}
	return list
}

// records reports records that ken ignores, and stale summaries.
func (f Facts) records(add func(code, what, mend string)) {
	if n := len(f.Damaged); n > 0 {
		add("RECORDS_DAMAGED", fmt.Sprintf("ken ignores %s whose content does not match its hash: %s", english.Count(n, "record"), english.First(f.Damaged, shownRecords)),
			"remove them with: ken verify --full; then get shared ones back with: ken share pull")
	}
	if n := len(f.Ahead); n > 0 {
		add("RECORDS_AHEAD", fmt.Sprintf("ken ignores %s dated more than a day ahead: %s", english.Count(n, "record"), english.First(f.Ahead, shownRecords)),
			"check the clock of this machine; if it is right, write these summaries again")
	}
	if f.StaleFiles+f.StaleDirectories > 0 {
		add("KNOWLEDGE_STALE", fmt.Sprintf("stale or unknown: %s, %s", english.Count(f.StaleFiles, "file summary"), english.Count(f.StaleDirectories, "directory summary")),
			"list them: ken status")
	}
}

// shownRecords is the number of records that a finding lists.
const shownRecords = 5

// offPath says where this program is, and how to put it on the PATH.
func (f Facts) offPath() (what, mend string) {
	if f.Program == "" {
		return "", "add the directory of ken to the PATH"
	}
	what = "; this program is " + f.Program
	dir, name := path.Split(strings.ReplaceAll(f.Program, `\`, "/"))
	switch {
	case strings.HasSuffix(name, ".exe"):
		return what, "name it ken.exe, and add its directory to the PATH of your account"
	case name != "ken":
		return what, `link it as ken: mkdir -p ~/.local/bin && ln -s ` + fault.Quote(f.Program) + ` ~/.local/bin/ken && export PATH="$PATH":~/.local/bin`
	}
	return what, `run this, and add it to the profile of your shell: export PATH="$PATH":` + fault.Quote(path.Clean(dir))
}

// hooks adds findings about git hooks, and reports whether any hook runs ken.
func (f Facts) hooks(add func(code, what, mend string)) bool {
	if f.NoHooks != nil {
		add("HOOKS_UNKNOWN", f.NoHooks.Error(), fault.HintOf(f.NoHooks))
		return false
	}
	var missing, old []string
	in := 0
	for name, action := range f.Hooks {
		switch action {
		case "kept":
			in++
		case "updated":
			in++
			if !slices.Contains(f.Off, name) { // HOOKS_OFF has the others
				old = append(old, name)
			}
		default:
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	slices.Sort(old)
	if in > 0 && len(missing) > 0 {
		add("HOOKS_PARTIAL", "some git hooks do not run ken: "+strings.Join(missing, ", "), "ken install git --hooks")
	}
	if len(f.Off) > 0 {
		add("HOOKS_OFF", "git does not run these hooks, because they are not executable: "+strings.Join(f.Off, ", "),
			"make them executable with chmod +x; for files that ken made: ken install git --hooks")
	}
	if len(old) > 0 {
		add("HOOKS_OLD", "another version of ken installed these hooks: "+strings.Join(old, ", "), "ken install git --hooks")
	}
	return in > 0
}

// clients adds findings about clients, and reports whether any client has ken.
func (f Facts) clients(add func(code, what, mend string)) bool {
	type owner struct {
		client string
		scope  Scope
	}
	used := make(map[owner]bool)
	for _, c := range f.Clients {
		o := owner{c.Client, c.Scope}
		if c.Foreign > 0 {
			add("CLIENT_FOREIGN", c.Path+" has a server named ken that starts another program",
				"look at it; if you do not want it, remove it, then: ken install "+c.Client)
		}
		used[o] = used[o] || c.Parts > 0 || c.Named
	}
	any := false
	for _, c := range f.Clients {
		if !used[owner{c.Client, c.Scope}] {
			continue
		}
		any = true
		command := "ken install " + c.Client
		if c.Scope == User {
			command += " --user"
		}
		switch {
		case c.Broken != "":
			add("CLIENT_BROKEN", c.Broken, "correct the file, then: "+command)
		case c.Foreign > 0, c.Parts == 0 && f.elsewhere(c):
		case c.Absent:
			add("CLIENT_PARTIAL", fmt.Sprintf("%s is half installed: %s, for the %s, is missing", c.Client, c.Path, c.half()), command)
		case c.Parts < c.Of:
			add("CLIENT_PARTIAL", fmt.Sprintf("%s has %d of ken's %d entries", c.Path, c.Parts, c.Of), command)
		}
	}
	return any
}

// elsewhere reports whether a client has the entries of a file in another file: the files of
// the user apply to all repositories, and some clients run the hooks of others.
func (f Facts) elsewhere(c ClientStatus) bool {
	return slices.ContainsFunc(f.Clients, func(o ClientStatus) bool {
		return o.Server == c.Server && o.Parts == o.Of && (o.Client == c.Client || !c.Server && o.Client == c.Reads && o.Scope == c.Scope)
	})
}

func (c ClientStatus) half() string {
	if c.Server {
		return "server"
	}
	return "hooks"
}

func firstOf(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// older reports whether a version is older than another; false if it cannot be parsed.
func older(version, than string) bool {
	var a, b [2]int
	if n, _ := fmt.Sscanf(version, "%d.%d", &a[0], &a[1]); n != 2 {
		return false
	}
	if n, _ := fmt.Sscanf(than, "%d.%d", &b[0], &b[1]); n != 2 {
		return false
	}
	return slices.Compare(a[:], b[:]) < 0
}
