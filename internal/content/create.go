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

// Create writes a new file and its parent directories. If it fails, it removes them again.
func (t *Tree) Create(p repo.Path, content []byte) error {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return err
	}
	defer root.Close()
	made := missingDirs(root, path.Dir(string(p)))
	err = create(root, string(p), content)
	if err == nil {
		return nil
	}
	for _, dir := range made {
		_ = root.Remove(dir) // fails if another process has created a file in it
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // the path in e is a temporary name
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return &fault.Error{Hint: "edit it instead, or choose another name", Err: fmt.Errorf("%s is there already", p)}
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return &fault.Error{Hint: "nothing was written; free some space, then run the command again: df -h " + fault.Quote(t.root), Err: fmt.Errorf("write %s: %w", p, err)}
	}
	return fmt.Errorf("write %s: %w", p, err)
}

// missingDirs lists the parent directories of a path, and the path itself, that do not exist. The deepest is
// first.
func missingDirs(root *os.Root, dir string) []string {
	var list []string
	for ; dir != "."; dir = path.Dir(dir) {
		if _, err := root.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		list = append(list, dir)
	}
	return list
}

// create writes a file under a temporary name and then links it to its own name, unless that exists by then.
func create(root *os.Root, name string, content []byte) error {
	if _, err := root.Lstat(name); err == nil {
		return fs.ErrExist
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	next, err := tempName(name)
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
	// Not every file system supports hard links.
	if err := root.Rename(next, name); err != nil {
		return errors.Join(err, root.Remove(next))
	}
	return nil
}
