package content

import (
	"io/fs"
	"syscall"
)

// changed returns the time of creation: the file system keeps no time of change
// within reach, and this is what git's index holds in its place.
func changed(info fs.FileInfo) int64 {
	if d, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		return d.CreationTime.Nanoseconds()
	}
	return 0
}

// executable is never true: there is no such bit.
func executable(fs.FileMode) bool { return false }
