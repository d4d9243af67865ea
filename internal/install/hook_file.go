package install

import (
	"bytes"
	"fmt"

	"ken/internal/fault"
)

// GitHooks are the hooks that ken has a part in, in the order git runs them.
//
// The third belongs to the second: a message that somebody is yet to write gets its
// trailer only once it is written.
var GitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"}

// gateHook is the one that may stop a commit.
const gateHook = "pre-commit"

// AsideSuffix is what a hook that ken's part cannot be put into is called meanwhile: its
// name with this behind it.
const AsideSuffix = ".before-ken"

// A FileKind is what lies at a name.
type FileKind int

// The kinds.
const (
	NoFile    FileKind = iota // nothing
	Regular                   // a file
	Link                      // a symbolic link, wherever it leads
	OtherKind                 // a directory, a pipe
)

// A HookFile is what lies at a name, as far as it matters.
type HookFile struct {
	Kind    FileKind
	Content []byte // of a regular one
	Exec    bool   // git would run it, or what a link leads to
}

// A Hook is a hook and what lies there.
type Hook struct {
	Name  string // one of [GitHooks]
	At    HookFile
	Aside HookFile // what lies at its name with [AsideSuffix] behind it
	// Sourced says that something else hands the file to a shell, whatever its
	// mode and its first line say.
	Sourced bool
}

// Install puts ken's part into a hook. What is there runs behind it, as it did: a
// shell script in the same file, anything else (another language, a program, a link)
// under another name. A hook that is switched off gets that name too, and stays off.
// Doing it twice is doing it once.
func (p Hook) Install() (FileChange, error) {
	f, err := p.find()
	switch {
	case err != nil:
		return FileChange{}, err
	case f != nil:
		return p.update(f), nil
	}
	part := hookBlock{hook: p.Name}
	switch {
	case p.At.Kind == NoFile && p.Aside.Kind == NoFile:
		part.own = true
		return FileChange{Op: Create, Text: part.file(), Action: "created"}, nil
	case p.At.Kind == NoFile: // it was set aside, and then nothing came
		part.own, part.chain = true, true
		return FileChange{Op: Create, Text: part.file(), Action: "created"}, nil
	case p.At.Kind == Regular && (p.Sourced || p.At.Exec && isShell(p.At.Content)):
		return FileChange{Op: Rewrite, Text: part.insert(p.At.Content), Action: "added", Note: overwriteNote(p.At.Content)}, nil
	case p.Sourced: // aside, nobody would hand it to a shell
		return FileChange{}, &fault.Error{
			Hint: "replace the link with a script that calls its target",
			Err:  fmt.Errorf("read hook %s: it is a link", p.Name),
		}
	case p.Aside.Kind != NoFile:
		return FileChange{}, &fault.Error{
			Hint: fmt.Sprintf("move one of the two files away: %s or %s%s", p.Name, p.Name, AsideSuffix),
			Err:  fmt.Errorf("rename hook %s: %s%s exists already", p.Name, p.Name, AsideSuffix),
		}
	}
	part.own, part.chain = true, true
	c := FileChange{Op: SetAside, Text: part.file(), Action: "set aside"}
	if p.At.Exec { // or it was switched off, and stays so
		c.Note = "runs as " + p.Name + AsideSuffix
	}
	return c, nil
}

// renew brings a part that is there up to date. A file that is ken's alone is made
// executable where it is not; somebody else's was switched off, and stays so.
func (p Hook) update(f *markedBlock) FileChange {
	part := hookBlock{hook: p.Name, own: f.own(), chain: f.chain()}
	content := part.replace(f)
	c := FileChange{Action: "kept", Off: !p.At.Exec && !p.Sourced}
	switch {
	case c.Off && f.own():
		c.Op, c.Text, c.Action, c.Note = Create, content, "updated", "made executable"
		return c
	case c.Off:
		c.Note = "git does not run it: the file is not executable"
	}
	if !bytes.Equal(content, p.At.Content) {
		c.Op, c.Text, c.Action = Rewrite, content, "updated"
	}
	return c
}

// Uninstall takes ken's part out of a hook, and leaves what was there before it, byte
// for byte.
func (p Hook) Uninstall() (FileChange, error) {
	f, err := p.find()
	switch {
	case err != nil:
		return FileChange{}, err
	case f == nil && p.At.Kind == NoFile && p.Aside.Kind != NoFile:
		return FileChange{Op: Restore, Action: "restored"}, nil
	case f == nil:
		return FileChange{Action: "absent"}, nil
	}
	rest := f.rest()
	untouched := string(rest) == shebang
	switch {
	case !f.own():
		return FileChange{Op: Rewrite, Text: rest, Action: "taken out"}, nil
	case f.chain() && p.Aside.Kind != NoFile && untouched:
		return FileChange{Op: Restore, Action: "restored"}, nil
	case f.chain() && p.Aside.Kind != NoFile:
		return FileChange{}, &fault.Error{
			Hint: fmt.Sprintf("save what you need of %s, then: mv %s%s %s", p.Name, p.Name, AsideSuffix, p.Name),
			Err:  fmt.Errorf("restore hook %s: somebody edited the file that replaced it", p.Name),
		}
	case untouched:
		return FileChange{Op: Remove, Action: "removed"}, nil
	}
	return FileChange{Op: Rewrite, Text: rest, Action: "taken out"}, nil
}

// find looks for ken's part, and refuses what is no hook at all.
func (p Hook) find() (*markedBlock, error) {
	switch p.At.Kind {
	case Regular:
	case NoFile, Link:
		return nil, nil
	default:
		return nil, &fault.Error{
			Hint: "move it away",
			Err:  fmt.Errorf("read hook %s: neither a file nor a link", p.Name),
		}
	}
	f, err := findMarkedBlock(p.At.Content)
	if err != nil {
		return nil, fmt.Errorf("read hook %s: %w", p.Name, err)
	}
	return f, nil
}
