package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A disk makes all changes of this package. Each method changes one path in the root and
// calls the step function first.
//
// Clean-up after a failure is never deferred: a test simulates a killed process with a
// panic and must find what such a process leaves.
type disk struct {
	root *os.Root
	step stepFunc
}

func (k *disk) announce(act, path string) error {
	if k.step == nil {
		return nil
	}
	return k.step(act + " " + path)
}

func (k *disk) mkdir(path string) error {
	if err := k.announce("mkdir", path); err != nil {
		return err
	}
	return k.root.Mkdir(path, 0o755)
}

func (k *disk) rename(from, to string) error {
	if err := k.announce("rename "+from, to); err != nil {
		return err
	}
	return k.root.Rename(from, to)
}

func (k *disk) link(from, to string) error {
	if err := k.announce("link "+from, to); err != nil {
		return err
	}
	return k.root.Link(from, to)
}

func (k *disk) remove(path string) error {
	if err := k.announce("remove", path); err != nil {
		return err
	}
	return k.root.Remove(path)
}

func (k *disk) removeAll(path string) error {
	if err := k.announce("remove all", path); err != nil {
		return err
	}
	return k.root.RemoveAll(path)
}

func (k *disk) syncDir(path string) error {
	if err := k.announce("sync dir", path); err != nil {
		return err
	}
	f, err := k.root.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(f), f.Close())
}

func (k *disk) syncDirs(paths ...string) error {
	for _, path := range paths {
		if err := k.syncDir(path); err != nil {
			return err
		}
	}
	return nil
}

// create creates a file that must not exist.
func (k *disk) create(path string, perm fs.FileMode) (*os.File, error) {
	if err := k.announce("create", path); err != nil {
		return nil, err
	}
	return k.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

// write writes content to f; a bytes.Reader in one write.
func (k *disk) write(f *os.File, content io.Reader) error {
	if err := k.announce("write", f.Name()); err != nil {
		return err
	}
	_, err := io.Copy(f, content)
	return err
}

func (k *disk) sync(f *os.File) error {
	if err := k.announce("sync", f.Name()); err != nil {
		return err
	}
	return f.Sync()
}

func (k *disk) chmod(f *os.File, mode fs.FileMode) error {
	if err := k.announce("chmod", f.Name()); err != nil {
		return err
	}
	return f.Chmod(mode)
}

// defaultPerm is the mode of a new file before the umask.
const defaultPerm fs.FileMode = 0o644

// writeNew creates and syncs a file; the caller syncs the directory. A mode of 0 is the
// default; the umask does not apply to others.
func (k *disk) writeNew(path string, content io.Reader, mode fs.FileMode) error {
	f, err := k.create(path, defaultPerm)
	if err != nil {
		return err
	}
	err = k.write(f, content)
	if err == nil && mode != 0 {
		err = k.chmod(f, mode)
	}
	if err == nil {
		err = k.sync(f)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, k.remove(path))
	}
	return nil
}

// mkdirIf creates a directory unless it exists, and syncs its parent.
func (k *disk) mkdirIf(parent, path string) error {
	switch info, err := k.root.Lstat(path); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a directory", path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := k.mkdir(path); err != nil {
		return err
	}
	return k.syncDir(parent)
}

// exists reports whether path exists.
func (k *disk) exists(path string) (bool, error) {
	_, err := k.root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
