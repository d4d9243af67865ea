//go:build !linux && !darwin

package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// openRegular opens the regular file name directly in root. What is neither that
// nor missing is not opened, because opening could wait or act.
func openRegular(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, fs.FileInfo, error) {
	const tries = 10 // the file may be replaced between the look and the opening
	for try := 1; ; try++ {
		before, err := root.Lstat(name)
		created := errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0
		if err != nil && !created {
			return nil, nil, cause(err)
		}
		if !created {
			if err := regular(before.Mode()); err != nil {
				return nil, nil, err
			}
		}
		f, err := root.OpenFile(name, flag, perm)
		if err != nil {
			return nil, nil, cause(err)
		}
		after, err := f.Stat()
		if err == nil && !created && !os.SameFile(before, after) {
			err = errors.New("replaced while it was being opened")
		}
		if err == nil {
			return f, after, nil
		}
		_ = f.Close()
		if try == tries {
			return nil, nil, cause(err)
		}
	}
}

// shared is not asked here: the answer would cost another call.
func shared(fs.FileInfo) bool { return false }

// identity has no short answer here.
func identity(fs.FileInfo) string { return "" }

// syncFolder has nothing to do here: a directory is not opened for writing, and its
// names are durable when the call that makes them returns.
func syncFolder(*os.File) error { return nil }

// validName refuses the names that mean more than a name here: devices,
// streams, other separators.
func validName(name string) bool {
	return filepath.IsLocal(name) && !strings.ContainsAny(name, `\:`)
}

// openDocument opens any file for reading; a link, only one that was named.
func openDocument(path string, named bool) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !named && info.Mode()&fs.ModeSymlink != 0 {
		return nil, errLink
	}
	return os.Open(path)
}
