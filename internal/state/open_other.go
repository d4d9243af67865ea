//go:build !linux && !darwin

package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// openRegular opens the regular file name in root. It does not open anything else, since
// that could block.
func openRegular(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, fs.FileInfo, error) {
	const tries = 10 // the file may be replaced between Lstat and OpenFile
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

// shared always returns false: the answer would need another system call.
func shared(fs.FileInfo) bool { return false }

// identity is not available.
func identity(fs.FileInfo) string { return "" }

// syncFolder does nothing: names are durable when the call that creates them returns.
func syncFolder(*os.File) error { return nil }

// validName refuses the names of devices and streams, and names with separators.
func validName(name string) bool {
	return filepath.IsLocal(name) && !strings.ContainsAny(name, `\:`)
}

// openDocument opens a file for reading, and a link only if named is set.
func openDocument(path string, named bool) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !named && info.Mode()&fs.ModeSymlink != 0 {
		return nil, errLink
	}
	return os.Open(path)
}
