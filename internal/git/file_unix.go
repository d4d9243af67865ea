//go:build unix

package git

import (
	"io/fs"
	"syscall"
)

// openFlags prevent that open waits for the other end of a pipe.
const openFlags = syscall.O_NONBLOCK

// sameDevice reports whether two files are on the same file system.
func sameDevice(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, also := b.Sys().(*syscall.Stat_t)
	return !ok || !also || x.Dev == y.Dev
}
