package githook

import (
	"bytes"
	"errors"
	"fmt"

	"ken/internal/fault"
)

// A Kind is what lies at a name.
type Kind int

// The kinds.
const (
	Absent  Kind = iota // nothing
	Regular             // a file
	Link                // a symbolic link, wherever it leads
	Strange             // a directory, a pipe
)

// A File is what lies at a name, as far as it matters.
type File struct {
	Kind    Kind
	Content []byte // of a regular one
	Exec    bool   // git would run it, or what a link leads to
}

// A Place is a hook and what lies there.
type Place struct {
	Name  string // one of [Names]
	At    File
	Aside File // what lies at its name with [Aside] behind it
	// Sourced says that something else hands the file to a shell, whatever its
	// mode and its first line say.
	Sourced bool
}

// A Deed is what is done to the files of a hook.
type Deed int

// The deeds.
const (
	Nothing  Deed = iota
	Create        // write a file that is executable, where none or one of ken's own is
	Rewrite       // write the file anew, its mode as it is
	SetAside      // give the file its name aside, then create
	Remove        // remove the file
	Restore       // give the file aside its name back
)

// A Change is what putting in or taking out ken's part of a hook amounts to.
type Change struct {
	Deed    Deed
	Content []byte // of what is written
	Action  string // the word for it
	Note    string // what the user should know besides
	Off     bool   // ken's part is there already, in a file that git does not run
}

var errMarks = errors.New("the lines that mark ken's part are not a pair")

// Install puts ken's part into a hook. What is there runs behind it, as it did: a
// shell script in the same file, anything else (another language, a program, a link)
// under another name. A hook that is switched off gets that name too, and stays off.
// Doing it twice is doing it once.
func (p Place) Install() (Change, error) {
	f, err := p.find()
	switch {
	case err != nil:
		return Change{}, err
	case f != nil:
		return p.renew(f), nil
	}
	part := block{hook: p.Name}
	switch {
	case p.At.Kind == Absent && p.Aside.Kind == Absent:
		part.own = true
		return Change{Deed: Create, Content: part.file(), Action: "created"}, nil
	case p.At.Kind == Absent: // it was set aside, and then nothing came
		part.own, part.chain = true, true
		return Change{Deed: Create, Content: part.file(), Action: "created"}, nil
	case p.At.Kind == Regular && (p.Sourced || p.At.Exec && isShell(p.At.Content)):
		return Change{Deed: Rewrite, Content: part.insert(p.At.Content), Action: "added", Note: rewriter(p.At.Content)}, nil
	case p.Sourced: // aside, nobody would hand it to a shell
		return Change{}, &fault.Error{
			Hint: "put a file in its place that calls it",
			Err:  fmt.Errorf("read the hook %s: it is a link", p.Name),
		}
	case p.Aside.Kind != Absent:
		return Change{}, &fault.Error{
			Hint: fmt.Sprintf("look at the two, and move one of them away: %s and %s%s", p.Name, p.Name, Aside),
			Err:  fmt.Errorf("set aside the hook %s: there is a %s%s already", p.Name, p.Name, Aside),
		}
	}
	part.own, part.chain = true, true
	c := Change{Deed: SetAside, Content: part.file(), Action: "set aside"}
	if p.At.Exec { // or it was switched off, and stays so
		c.Note = "runs as " + p.Name + Aside
	}
	return c, nil
}

// renew brings a part that is there up to date. A file that is ken's alone is made
// executable where it is not; somebody else's was switched off, and stays so.
func (p Place) renew(f *found) Change {
	part := block{hook: p.Name, own: f.own(), chain: f.chain()}
	content := part.replace(f.before, f.after, f.ended)
	c := Change{Action: "kept", Off: !p.At.Exec && !p.Sourced}
	switch {
	case c.Off && f.own():
		c.Deed, c.Content, c.Action, c.Note = Create, content, "updated", "made executable"
		return c
	case c.Off:
		c.Note = "it is not executable, and git does not run it"
	}
	if !bytes.Equal(content, p.At.Content) {
		c.Deed, c.Content, c.Action = Rewrite, content, "updated"
	}
	return c
}

// Uninstall takes ken's part out of a hook, and leaves what was there before it, byte
// for byte.
func (p Place) Uninstall() (Change, error) {
	f, err := p.find()
	switch {
	case err != nil:
		return Change{}, err
	case f == nil && p.At.Kind == Absent && p.Aside.Kind != Absent:
		return Change{Deed: Restore, Action: "restored"}, nil
	case f == nil:
		return Change{Action: "absent"}, nil
	}
	rest := f.rest()
	untouched := string(rest) == shebang
	switch {
	case !f.own():
		return Change{Deed: Rewrite, Content: rest, Action: "taken out"}, nil
	case f.chain() && p.Aside.Kind != Absent && untouched:
		return Change{Deed: Restore, Action: "restored"}, nil
	case f.chain() && p.Aside.Kind != Absent:
		return Change{}, &fault.Error{
			Hint: fmt.Sprintf("keep what you need of %s elsewhere, then: mv %s%s %s", p.Name, p.Name, Aside, p.Name),
			Err:  fmt.Errorf("restore the hook %s: what ken put in its place has been edited", p.Name),
		}
	case untouched:
		return Change{Deed: Remove, Action: "removed"}, nil
	}
	return Change{Deed: Rewrite, Content: rest, Action: "taken out"}, nil
}

// find looks for ken's part, and refuses what is no hook at all.
func (p Place) find() (*found, error) {
	switch p.At.Kind {
	case Regular:
	case Absent, Link:
		return nil, nil
	default:
		return nil, &fault.Error{
			Hint: "move it away",
			Err:  fmt.Errorf("read the hook %s: neither a file nor a link", p.Name),
		}
	}
	f, err := find(p.At.Content)
	if err != nil {
		return nil, &fault.Error{
			Hint: "take ken's lines out of it by hand, from " + blockStart[:len(blockStart)-1] + " to " + blockEnd,
			Err:  fmt.Errorf("read the hook %s: %w", p.Name, err),
		}
	}
	return f, nil
}
