package state

import (
	"errors"
	"io/fs"
	"os"
)

var (
	errLink      = errors.New("it is a symbolic link, which ken does not follow")
	errDirectory = errors.New("it is a directory")
	errSpecial   = errors.New("it is not a regular file")
	errReplaced  = errors.New("it was replaced while ken opened it")
)

// regular returns an error unless mode is that of a regular file.
func regular(mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errDirectory
	case mode&fs.ModeSymlink != 0:
		return errLink
	}
	return errSpecial
}

// openRegular opens the regular file name in root. os.Root follows links inside the root, so
// openRegular looks first, and again at what it opened. It does not block on a pipe.
func openRegular(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, fs.FileInfo, error) {
	const tries = 10 // the file may be replaced meanwhile
	for range tries {
		before, err := root.Lstat(name)
		created := errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0
		if err == nil {
			err = regular(before.Mode())
		}
		if err != nil && !created {
			return nil, nil, cause(err)
		}
		f, err := root.OpenFile(name, flag|nonblock, perm)
		if err != nil {
			return nil, nil, cause(err)
		}
		info, err := f.Stat()
		if err == nil {
			err = regular(info.Mode())
		}
		seen := created || os.SameFile(before, info)
		if err == nil && seen {
			return f, info, nil
		}
		_ = f.Close()
	}
	return nil, nil, errReplaced
}

// openDocument opens a file for reading without blocking on a pipe. It opens a link only
// if named is set.
func openDocument(path string, named bool) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !named && info.Mode()&fs.ModeSymlink != 0 {
		return nil, errLink
	}
	return os.OpenFile(path, os.O_RDONLY|nonblock, 0)
}
