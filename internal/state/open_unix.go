//go:build linux || darwin

package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openRegular opens the regular file name in root. os.Root follows links inside the
// root, so openRegular uses the descriptor of the directory. It does not block on a pipe.
func openRegular(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, fs.FileInfo, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, nil, cause(err)
	}
	defer dir.Close()
	fd, err := openat(int(dir.Fd()), name, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, uint32(perm))
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, nil, errLink
	case errors.Is(err, unix.EISDIR):
		return nil, nil, errDirectory
	case errors.Is(err, unix.ENXIO): // a socket, or a device with no driver
		return nil, nil, errSpecial
	case err != nil:
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	info, err := f.Stat()
	if err == nil {
		err = regular(info.Mode())
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, cause(err)
	}
	return f, info, nil
}

func openat(dir int, name string, flag int, perm uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flag, perm)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

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
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// validName allows every name: Unix allows any byte.
func validName(string) bool { return true }

// openDocument opens a file for reading without blocking on a pipe. It opens a link only
// if named is set.
func openDocument(path string, named bool) (*os.File, error) {
	flag := os.O_RDONLY | unix.O_NONBLOCK
	if !named {
		flag |= unix.O_NOFOLLOW
	}
	f, err := os.OpenFile(path, flag, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, errLink
	}
	return f, err
}
