//go:build unix

package sqlite

import "golang.org/x/sys/unix"

func writable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}
