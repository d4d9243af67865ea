//go:build unix

package git

import (
	"io/fs"
	"syscall"
)

// openFlags keep open from waiting for the other end of a pipe.
const openFlags = syscall.O_NONBLOCK

// sameDevice reports whether two files lie on one file system.
func sameDevice(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, also := b.Sys().(*syscall.Stat_t)
	return !ok || !also || x.Dev == y.Dev
}
