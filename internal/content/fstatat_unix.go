//go:build darwin || (linux && !amd64 && !arm64)

package content

import "golang.org/x/sys/unix"

// fstatat stats name in the directory fd without following a link.
func fstatat(fd int, name string, st *unix.Stat_t) error {
	return unix.Fstatat(fd, name, st, unix.AT_SYMLINK_NOFOLLOW)
}
