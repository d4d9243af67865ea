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

// openRegular opens the regular file name directly in root. Root itself follows
// links that stay inside, whatever the flags, and so the name, which is one
// element, is looked up in its descriptor. A pipe is not waited for.
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

// shared reports whether a file has another name somewhere, which would see
// whatever is written into it.
func shared(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}

// identity tells a directory from every other on this machine.
func identity(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// syncFolder makes the names in an open directory durable. Some file systems
// cannot, and say so.
func syncFolder(f *os.File) error {
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// validName has nothing to add here: any byte may stand in a name.
func validName(string) bool { return true }

// openDocument opens any file for reading, without waiting for the other end of a
// pipe; a link, only one that was named.
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
