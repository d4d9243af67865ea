//go:build linux || darwin

package state

import (
	"time"

	"golang.org/x/sys/unix"
)

// lchtimes sets the time of anything, a link itself too.
func lchtimes(path string, at time.Time) error {
	ts := unix.NsecToTimespec(at.UnixNano())
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}
