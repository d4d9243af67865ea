package content

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"

	"ken/internal/fault"
	"ken/internal/repo"
)

// Create writes a file that is not there yet, whole, and the directories above it. What
// fails leaves nothing behind.
func (t *Tree) Create(p repo.Path, content []byte) error {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return err
	}
	defer root.Close()
	made := lacking(root, path.Dir(string(p)))
	err = create(root, string(p), content)
	if err == nil {
		return nil
	}
	for _, dir := range made {
		_ = root.Remove(dir) // unless somebody has put something there
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // the name that it names is nobody's
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return &fault.Error{Hint: "edit it instead, or choose another name", Err: fmt.Errorf("%s is there already", p)}
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return &fault.Error{Hint: "nothing was written; free some space, then run the command again: df -h " + fault.Quote(t.root), Err: fmt.Errorf("write %s: %w", p, err)}
	}
	return fmt.Errorf("write %s: %w", p, err)
}

// lacking lists the directories on the way to one, and itself, that are not there; the
// deepest first.
func lacking(root *os.Root, dir string) []string {
	var list []string
	for ; dir != "."; dir = path.Dir(dir) {
		if _, err := root.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		list = append(list, dir)
	}
	return list
}

// create writes a file under another name and then gives it its own, if nobody else has
// it by then.
func create(root *os.Root, name string, content []byte) error {
	if _, err := root.Lstat(name); err == nil {
		return fs.ErrExist
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	next, err := beside(name)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, root.Remove(next))
	}
	err = root.Link(next, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(err, root.Remove(next))
	}
	// Not every file system has a second name for a file.
	if err := root.Rename(next, name); err != nil {
		return errors.Join(err, root.Remove(next))
	}
	return nil
}
