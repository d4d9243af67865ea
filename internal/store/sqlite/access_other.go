//go:build !unix

package sqlite

import (
	"io/fs"
	"os"
)

// access returns nil when what is at path may be written, and otherwise why not:
// there is nothing, or it may not. It asks the mode bits alone, which elsewhere than on
// unix hold the read-only attribute. What an access list forbids shows when it is
// tried.
func access(path string) error {
	f, err := os.Stat(path)
	if err == nil && !f.IsDir() && f.Mode().Perm()&0o200 == 0 {
		return fs.ErrPermission
	}
	return err
}
