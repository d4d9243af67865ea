package install

import (
	"bytes"
	"fmt"

	"ken/internal/fault"
)

// GitHooks lists the hooks that run ken, in the order in which git runs them.
//
// commit-msg completes prepare-commit-msg: a message that the user writes in an editor gets
// its trailer afterwards.
var GitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"}

// gateHook is the hook that can stop a commit.
const gateHook = "pre-commit"

// AsideSuffix follows the name of a hook that ken renamed, because it cannot contain ken's
// block.
const AsideSuffix = ".before-ken"

// A FileKind is the kind of a file.
type FileKind int

// The kinds.
const (
	NoFile    FileKind = iota // no file
	Regular                   // a file
	Link                      // a symbolic link
	OtherKind                 // such as a directory or a pipe
)

// A HookFile is the file of a hook.
type HookFile struct {
	Kind    FileKind
	Content []byte // of a regular file
	Exec    bool   // git would run it, or the target of the link
}

// A Hook is a git hook on disk.
type Hook struct {
	Name  string // one of [GitHooks]
	At    HookFile
	Aside HookFile // the file with [AsideSuffix]
	// Sourced says that a hook manager reads the file with a shell, whatever its mode and
	// interpreter line.
	Sourced bool
}

// Install adds ken's block to a hook. An existing hook still runs after it: a shell script in
// the same file, anything else (another language, a program, a link) under another name. A
// hook that is switched off is renamed too, and stays off. A second time changes nothing.
func (h Hook) Install() (FileChange, error) {
	f, err := h.find()
	switch {
	case err != nil:
		return FileChange{}, err
	case f != nil:
		return h.update(f), nil
	}
	part := hookBlock{hook: h.Name}
	switch {
	case h.At.Kind == NoFile && h.Aside.Kind == NoFile:
		part.own = true
		return FileChange{Op: Create, Text: part.file(), Action: "created"}, nil
	case h.At.Kind == NoFile: // somebody removed the hook that replaced it
		part.own, part.chain = true, true
		return FileChange{Op: Create, Text: part.file(), Action: "created"}, nil
	case h.At.Kind == Regular && (h.Sourced || h.At.Exec && isShell(h.At.Content)):
		return FileChange{Op: Rewrite, Text: part.insert(h.At.Content), Action: "added", Note: overwriteNote(h.At.Content)}, nil
	case h.Sourced: // no shell would read a renamed link
		return FileChange{}, &fault.Error{
			Hint: "replace the link with a script that calls its target",
			Err:  fmt.Errorf("read hook %s: it is a link", h.Name),
		}
	case h.Aside.Kind != NoFile:
		return FileChange{}, &fault.Error{
			Hint: fmt.Sprintf("move one of the two files away: %s or %s%s", h.Name, h.Name, AsideSuffix),
			Err:  fmt.Errorf("rename hook %s: %s%s exists already", h.Name, h.Name, AsideSuffix),
		}
	}
	part.own, part.chain = true, true
	c := FileChange{Op: SetAside, Text: part.file(), Action: "set aside"}
	if h.At.Exec { // a hook that was off stays off
		c.Note = "runs as " + h.Name + AsideSuffix
	}
	return c, nil
}

// update replaces the block of another version. It makes a file that ken created executable
// again; a hook of somebody else that is switched off stays off.
func (h Hook) update(f *markedBlock) FileChange {
	part := hookBlock{hook: h.Name, own: f.own(), chain: f.chain()}
	content := part.replace(f)
	c := FileChange{Action: "kept", Off: !h.At.Exec && !h.Sourced}
	switch {
	case c.Off && f.own():
		c.Op, c.Text, c.Action, c.Note = Create, content, "updated", "made executable"
		return c
	case c.Off:
		c.Note = "git does not run it: the file is not executable"
	}
	if !bytes.Equal(content, h.At.Content) {
		c.Op, c.Text, c.Action = Rewrite, content, "updated"
	}
	return c
}

// Uninstall removes ken's block from a hook, and restores the hook before
// [Hook.Install].
func (h Hook) Uninstall() (FileChange, error) {
	f, err := h.find()
	switch {
	case err != nil:
		return FileChange{}, err
	case f == nil && h.At.Kind == NoFile && h.Aside.Kind != NoFile:
		return FileChange{Op: Restore, Action: "restored"}, nil
	case f == nil:
		return FileChange{Action: "absent"}, nil
	}
	rest := f.rest()
	untouched := string(rest) == shebang
	switch {
	case !f.own():
		return FileChange{Op: Rewrite, Text: rest, Action: "taken out"}, nil
	case f.chain() && h.Aside.Kind != NoFile && untouched:
		return FileChange{Op: Restore, Action: "restored"}, nil
	case f.chain() && h.Aside.Kind != NoFile:
		return FileChange{}, &fault.Error{
			Hint: fmt.Sprintf("save what you need of %s, then: mv %s%s %s", h.Name, h.Name, AsideSuffix, h.Name),
			Err:  fmt.Errorf("restore hook %s: somebody edited the file that replaced it", h.Name),
		}
	case untouched:
		return FileChange{Op: Remove, Action: "removed"}, nil
	}
	return FileChange{Op: Rewrite, Text: rest, Action: "taken out"}, nil
}

// find finds ken's block; nil if there is none. It returns an error for a directory and the like.
func (h Hook) find() (*markedBlock, error) {
	switch h.At.Kind {
	case Regular:
	case NoFile, Link:
		return nil, nil
	default:
		return nil, &fault.Error{
			Hint: "move it away",
			Err:  fmt.Errorf("read hook %s: neither a file nor a link", h.Name),
		}
	}
	f, err := findMarkedBlock(h.At.Content)
	if err != nil {
		return nil, fmt.Errorf("read hook %s: %w", h.Name, err)
	}
	return f, nil
}
