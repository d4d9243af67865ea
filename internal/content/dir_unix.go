//go:build linux || darwin

package content

import (
	"errors"

	"golang.org/x/sys/unix"

	"ken/internal/repo"
)

// A dir is an open directory. Names are looked up relative to it.
type dir struct{ fd int }

// openRoot opens the root directory, which may be a link.
func openRoot(path string) (dir, error) {
	fd, err := openat(unix.AT_FDCWD, path, dirFlags)
	if err != nil {
		return dir{}, &pathError{"open", repo.Path(path), err}
	}
	return dir{fd}, nil
}

// sub opens a directory in d. A link is an error.
func (d dir) sub(name string) (dir, error) {
	fd, err := openat(d.fd, name, dirFlags|unix.O_NOFOLLOW)
	return dir{fd}, err
}

func (d dir) close() { _ = unix.Close(d.fd) }

// lstat sets f from the stat of name in d.
func (d dir) lstat(name string, f *repo.FileStat) error {
	var st unix.Stat_t
	for {
		err := fstatat(d.fd, name, &st)
		if err == nil {
			fill(f, &st)
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// open opens name in d for reading, without waiting for the other end of a pipe. A link is errLink.
func (d dir) open(name string) (file, error) {
	fd, err := openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC)
	switch {
	case err == nil:
		return file{fd}, nil
	case errors.Is(err, unix.ELOOP):
		return file{}, errLink
	case errors.Is(err, unix.ENXIO): // a socket, or a device without a driver
		return file{}, errSpecial
	}
	return file{}, err
}

// readlink reads the target of the link name into buf and returns its length.
func (d dir) readlink(name string, buf []byte) (int, error) {
	for {
		n, err := unix.Readlinkat(d.fd, name, buf)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// A file is open for reading. It is a plain descriptor, because an os.File costs an allocation, a finalizer
// and a poller registration for every file.
type file struct{ fd int }

func (f file) close() { _ = unix.Close(f.fd) }

func (f file) stat(found *repo.FileStat) error {
	var st unix.Stat_t
	for {
		err := unix.Fstat(f.fd, &st)
		if err == nil {
			fill(found, &st)
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// readAt reads once, at most len(b) bytes. It returns 0 at the end of the file.
func (f file) readAt(b []byte, off int64) (int, error) {
	for {
		n, err := unix.Pread(f.fd, b, off)
		if err == nil {
			return n, nil
		}
		if !errors.Is(err, unix.EINTR) {
			return 0, err
		}
	}
}

func openat(fd int, name string, flags int) (int, error) {
	for {
		got, err := unix.Openat(fd, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return got, err
		}
	}
}

func fill(f *repo.FileStat, st *unix.Stat_t) {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		f.Presence = repo.RegularFile
		f.Executable = st.Mode&unix.S_IXUSR != 0 // git uses this bit
	case unix.S_IFLNK:
		f.Presence = repo.Link
	case unix.S_IFDIR:
		f.Presence = repo.Directory
	default:
		f.Presence = repo.Special
	}
	f.Stat = repo.Stat{Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), Inode: st.Ino}
}

// absent reports whether err means that the path does not exist. If a parent is a link or a file, the error
// is ENOTDIR or ELOOP, depending on the system.
func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// validName always returns true: a name may contain any byte.
func validName(string) bool { return true }
