package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A disk is the one way by which this package changes anything: each method is one
// act on a path in the root, announced to the step function first.
//
// Cleaning up after a failure is spelled out where it is needed and never deferred:
// a test that kills the process in the midst of an act, by a panic, must find what a
// killed process leaves.
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

// create makes a new file, where nothing may be yet.
func (k *disk) create(path string, perm fs.FileMode) (*os.File, error) {
	if err := k.announce("create", path); err != nil {
		return nil, err
	}
	return k.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

// write adds all of content to f; of a bytes.Reader, in one write.
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

func (k *disk) chtimes(path string, mtime time.Time) error {
	if err := k.announce("chtimes", path); err != nil {
		return err
	}
	return k.root.Chtimes(path, time.Time{}, mtime)
}

// defaultPerm is the mode of a new file, as far as the umask lets it.
const defaultPerm fs.FileMode = 0o644

// writeNew makes a file with this content, durable but for its name. A mode of 0 is
// the default; any other is the file's whatever the umask says.
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

// mkdirIf makes a directory unless it is there, and makes its name durable. What
// is there and no directory is an error.
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

// exists reports whether anything is at path.
func (k *disk) exists(path string) (bool, error) {
	_, err := k.root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
