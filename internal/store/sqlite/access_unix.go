//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// access returns an error if path does not exist or cannot be written.
func access(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
}
