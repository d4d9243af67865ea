package state

import (
	"errors"
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

func (k *disk) announce(act string) error {
	if k.step == nil {
		return nil
	}
	return k.step(act)
}

// do announces an act and then does it.
func (k *disk) do(act string, f func() error) error {
	if err := k.announce(act); err != nil {
		return err
	}
	return f()
}

func (k *disk) mkdir(path string) error {
	return k.do("mkdir "+path, func() error { return k.root.Mkdir(path, 0o755) })
}

func (k *disk) rename(from, to string) error {
	return k.do("rename "+from+" "+to, func() error { return k.root.Rename(from, to) })
}

func (k *disk) link(from, to string) error {
	return k.do("link "+from+" "+to, func() error { return k.root.Link(from, to) })
}

func (k *disk) remove(path string) error {
	return k.do("remove "+path, func() error { return k.root.Remove(path) })
}

func (k *disk) removeAll(path string) error {
	return k.do("remove all "+path, func() error { return k.root.RemoveAll(path) })
}

func (k *disk) syncDir(path string) error {
	return k.do("sync dir "+path, func() error {
		f, err := k.root.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(syncFolder(f), f.Close())
	})
}

func (k *disk) syncDirs(paths ...string) error {
	for _, path := range paths {
		if err := k.syncDir(path); err != nil {
			return err
		}
	}
	return nil
}

// write writes content to f in one write, and syncs it.
func (k *disk) write(f *os.File, content []byte) error {
	err := k.do("write "+f.Name(), func() error {
		_, err := f.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return k.do("sync "+f.Name(), f.Sync)
}

// defaultPerm is the mode of a new file before the umask.
const defaultPerm fs.FileMode = 0o644

// writeNew creates and syncs a file that must not exist; the caller syncs the directory. A
// mode of 0 is the default; the umask does not apply to others.
func (k *disk) writeNew(path string, content []byte, mode fs.FileMode) error {
	var f *os.File
	err := k.do("create "+path, func() (err error) {
		f, err = k.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, defaultPerm)
		return err
	})
	if err != nil {
		return err
	}
	if mode != 0 {
		err = k.do("chmod "+path, func() error { return f.Chmod(mode) })
	}
	if err == nil {
		err = k.write(f, content)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, k.remove(path))
	}
	return nil
}

// mkdirIf creates a directory in parent unless it exists.
func (k *disk) mkdirIf(parent, path string) error {
	if isFolder(k.root, path) {
		return nil
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
