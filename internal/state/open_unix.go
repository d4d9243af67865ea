//go:build linux || darwin

package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonblock is the flag of a file that is opened without waiting for another process.
const nonblock = syscall.O_NONBLOCK

// shared reports whether a file has other hard links, which would see every write.
func shared(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}

// identity returns the device and inode of a directory.
func identity(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// syncFolder syncs the names in an open directory. Some file systems do not support that.
func syncFolder(f *os.File) error {
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// validName allows every name: Unix allows any byte.
func validName(string) bool { return true }
