package install

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ken/internal/allow"
	"ken/internal/fault"
)

// A Finding is something about the set-up that wants a person's attention.
type Finding struct {
	Code, What, Mend string
}

// Facts are what was found out about how a repository is set up.
type Facts struct {
	Config error // why the configuration cannot be read
	Store  error // why what is kept cannot be read
	// Damaged and Ahead name what those records are about that are not used, because their
	// content does not match their hash or because they are dated ahead.
	Damaged, Ahead []string
	// StaleFiles and StaleDirectories are how many texts do not hold that people, agents or
	// models wrote, or of which that is not known.
	StaleFiles, StaleDirectories int
	// Base is why the store of the team cannot be used, and Trouble the word for that.
	Base    error
	Trouble string
	// Addresses are what the configuration asks to contact, with the user's answers, and
	// BadAddress is why one of them cannot be read.
	Addresses  []allow.Permission
	BadAddress error
	// Password says that the committed configuration has one in the address of the store.
	Password bool
	// Git is what git calls its version, and NoGit why it does not say.
	Git   string
	NoGit error
	// Hooks are what would be done to each hook to have ken in it, by the word for it.
	Hooks map[string]string
	// Off are the hooks that have ken's part, and that git does not run.
	Off []string
	// NoHooks is why they could not be looked at.
	NoHooks error
	OnPath  bool   // a ken is on the PATH
	Program string // where the ken that looks is, as the system spells it; "" when unknown
	// Clients are the clients' files.
	Clients []ClientStatus
}

// oldest is the git from which on ken works.
const oldest = "2.31"

// Findings says what of the facts is worth a doctor's word.
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
	if f.BadAddress != nil && f.Base == nil { // of the store it was said
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
		add("RECORDS_DAMAGED", fmt.Sprintf("ken ignores %s whose content does not match its hash: %s", count(n, "record"), some(f.Damaged)),
			"remove them with: ken verify --full; then get shared ones back with: ken share pull")
	}
	if n := len(f.Ahead); n > 0 {
		add("RECORDS_AHEAD", fmt.Sprintf("ken ignores %s dated more than a day ahead: %s", count(n, "record"), some(f.Ahead)),
			"check the clock of this machine; if it is right, write these summaries again")
	}
	if f.StaleFiles+f.StaleDirectories > 0 {
		add("KNOWLEDGE_STALE", fmt.Sprintf("stale or unknown: %s, %s", count(f.StaleFiles, "file summary", "file summaries"), count(f.StaleDirectories, "directory summary", "directory summaries")),
			"list them: ken status")
	}
}

// counted says how many there are of something; more than one are called by many, or by an
// s behind the word for one.
func count(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// some names the first of a list, and says how many more there are.
func some(list []string) string {
	const most = 5
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

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

// hooks reports whether ken is in any hook.
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
			if !slices.Contains(f.Off, name) { // one that is renewed along with its mode is told of once
				old = append(old, name)
			}
		default:
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	slices.Sort(old)
	if in > 0 && len(missing) > 0 {
		add("HOOKS_PARTIAL", "some git hooks do not run ken: "+strings.Join(missing, ", "), "ken init --hooks")
	}
	if len(f.Off) > 0 {
		add("HOOKS_OFF", "git does not run these hooks, because they are not executable: "+strings.Join(f.Off, ", "),
			"make them executable with chmod +x; for files that ken made: ken init --hooks")
	}
	if len(old) > 0 {
		add("HOOKS_OLD", "another version of ken installed these hooks: "+strings.Join(old, ", "), "ken init --hooks")
	}
	return in > 0
}

// clients reports whether ken is in any client's file.
func (f Facts) clients(add func(code, what, mend string)) bool {
	type owner struct {
		client string
		scope  Scope
	}
	used := make(map[owner]bool)
	for _, c := range f.Clients {
		o := owner{c.Client, c.Scope}
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
		case c.Parts == 0 && f.elsewhere(c):
		case c.Absent:
			add("CLIENT_PARTIAL", fmt.Sprintf("%s is half installed: %s, for the %s, is missing", c.Client, c.Path, c.half()), command)
		case c.Parts < c.Of:
			add("CLIENT_PARTIAL", fmt.Sprintf("%s has %d of ken's %d entries", c.Path, c.Parts, c.Of), command)
		}
	}
	return any
}

// elsewhere reports whether a client has from another file what it could have from this
// one: a person's own serve every repository, and some clients run the hooks of others.
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

// older reports whether a version is before another; one that cannot be read is not.
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
