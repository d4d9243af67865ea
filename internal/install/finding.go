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
		add("CONFIG_INVALID", f.Config.Error(), firstOf(fault.HintOf(f.Config), "mend .ken/config.yaml"))
	}
	if f.Store != nil {
		add("STORE_UNREADABLE", f.Store.Error(), firstOf(fault.HintOf(f.Store), "see the page trouble of the manual"))
	}
	f.records(add)
	if f.Base != nil {
		add("STORE_"+strings.ToUpper(f.Trouble), f.Base.Error(), firstOf(fault.HintOf(f.Base), "ken share status"))
	}
	if f.BadAddress != nil && f.Base == nil { // of the store it was said
		add("ADDRESS_INVALID", f.BadAddress.Error(), firstOf(fault.HintOf(f.BadAddress), "mend .ken/config.yaml"))
	}
	if f.Password {
		add("STORE_PASSWORD", "the address of the store in .ken/config.yaml has a password, for everybody with the repository to read", "take it out, change it, and give it in PGPASSWORD, ~/.pgpass or KEN_STORE")
	}
	switch {
	case f.NoGit != nil:
		add("GIT_UNKNOWN", f.NoGit.Error(), firstOf(fault.HintOf(f.NoGit), "install git"))
	case older(f.Git, oldest):
		add("GIT_OLD", fmt.Sprintf("git is %s; ken wants %s or newer", f.Git, oldest), "install a newer git")
	}
	used := f.hooks(add)
	used = f.clients(add) || used
	if used && !f.OnPath {
		what, mend := f.offPath()
		add("KEN_NOT_ON_PATH", "hooks or clients start ken, and no ken is on the PATH"+what, mend)
	}
	return list
}

// offPath says where the ken is that is not on the PATH, and how it gets there.
// records says what is wrong with what is kept.
func (f Facts) records(add func(code, what, mend string)) {
	const mend = "remove what is not used with: ken verify --full; then bring back what was shared with: ken share pull"
	if n := len(f.Damaged); n > 0 {
		add("RECORDS_DAMAGED", fmt.Sprintf("the content of %s does not match its hash, and is not used: %s", count(n, "record"), some(f.Damaged)), mend)
	}
	if n := len(f.Ahead); n > 0 {
		add("RECORDS_AHEAD", fmt.Sprintf("%s dated more than a day ahead, and not used: %s", count(n, "record"), some(f.Ahead)), mend)
	}
	if f.StaleFiles+f.StaleDirectories > 0 {
		add("KNOWLEDGE_STALE", fmt.Sprintf("%s and %s do not hold", count(f.StaleFiles, "file summary", "file summaries"), count(f.StaleDirectories, "directory text")),
			"see which with: ken status")
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

func (f Facts) offPath() (what, mend string) {
	if f.Program == "" {
		return "", "put the directory that ken is in on the PATH"
	}
	what = "; this one is " + f.Program
	dir, name := path.Split(strings.ReplaceAll(f.Program, `\`, "/"))
	switch {
	case strings.HasSuffix(name, ".exe"):
		return what, "add its directory to the PATH of your account, under the name ken.exe"
	case name != "ken":
		return what, `give it that name: mkdir -p ~/.local/bin && ln -s ` + fault.Quote(f.Program) + ` ~/.local/bin/ken && export PATH="$PATH":~/.local/bin`
	}
	return what, `in the profile of your shell, and here: export PATH="$PATH":` + fault.Quote(path.Clean(dir))
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
		add("HOOKS_PARTIAL", "ken is in some git hooks, and not in "+strings.Join(missing, ", "), "ken init --hooks")
	}
	if len(f.Off) > 0 {
		add("HOOKS_OFF", "git does not run the hooks that ken is in and that are not executable: "+strings.Join(f.Off, ", "),
			"chmod +x them, or where the file is ken's alone: ken init --hooks")
	}
	if len(old) > 0 {
		add("HOOKS_OLD", "ken's part is that of another version in "+strings.Join(old, ", "), "ken init --hooks")
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
			add("CLIENT_BROKEN", c.Broken, "mend it, then: "+command)
		case c.Parts == 0 && f.elsewhere(c):
		case c.Absent:
			add("CLIENT_PARTIAL", fmt.Sprintf("%s has half of ken: %s, which is for the %s, is not there", c.Client, c.Path, c.half()), command)
		case c.Parts < c.Of:
			add("CLIENT_PARTIAL", fmt.Sprintf("%s has %d of %d entries of ken's", c.Path, c.Parts, c.Of), command)
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
