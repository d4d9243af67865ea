//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// access returns nil when what is at path may be written, and otherwise why not:
// there is nothing, or it may not.
func access(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
}
