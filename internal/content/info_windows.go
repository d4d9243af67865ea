package content

import (
	"io/fs"
	"syscall"
)

// changed returns the creation time. The time of change is not available, and git's index has the creation
// time in its place.
func changed(info fs.FileInfo) int64 {
	if d, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		return d.CreationTime.Nanoseconds()
	}
	return 0
}

// executable returns false: the system has no such bit.
func executable(fs.FileMode) bool { return false }
