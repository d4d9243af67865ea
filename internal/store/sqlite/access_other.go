//go:build !unix

package sqlite

import (
	"io/fs"
	"os"
)

// access returns an error if path does not exist or cannot be written. It checks only the mode bits, which contain
// the read-only attribute on systems other than Unix. It does not check access control lists.
func access(path string) error {
	f, err := os.Stat(path)
	if err == nil && !f.IsDir() && f.Mode().Perm()&0o200 == 0 {
		return fs.ErrPermission
	}
	return err
}
