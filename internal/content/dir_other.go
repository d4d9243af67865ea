//go:build !linux && !darwin

package content

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/repo"
)

// A dir is the path of a directory. Another process can replace it with a link between the check and the
// use. Systems with directory descriptors do not have this problem, see dir_unix.go.
type dir struct{ path string }

var errNotDir = errors.New("not a directory")

// openRoot checks the root directory, which may be a link.
func openRoot(path string) (dir, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = errNotDir
	}
	if err != nil {
		return dir{}, &pathError{"open", repo.Path(path), err}
	}
	return dir{path}, nil
}

// sub checks a directory in d. A link or junction is an error.
func (d dir) sub(name string) (dir, error) {
	path := filepath.Join(d.path, name)
	info, err := os.Lstat(path)
	if err != nil {
		return dir{}, err
	}
	if !info.IsDir() {
		return dir{}, errNotDir
	}
	return dir{path}, nil
}

func (d dir) close() {}

// lstat sets f from the stat of name in d.
func (d dir) lstat(name string, f *repo.FileStat) error {
	info, err := os.Lstat(filepath.Join(d.path, name))
	if err != nil {
		return err
	}
	fill(f, info)
	return nil
}

// open opens the regular file name in d. A link is errLink. Other file types are not opened, because opening
// them could block or have side effects.
func (d dir) open(name string) (file, error) {
	path := filepath.Join(d.path, name)
	before, err := os.Lstat(path)
	if err != nil {
		return file{}, err
	}
	switch {
	case before.Mode()&fs.ModeSymlink != 0:
		return file{}, errLink
	case before.IsDir():
		return file{}, errDirectory
	case !before.Mode().IsRegular():
		return file{}, errSpecial
	}
	f, err := os.Open(path)
	if err != nil {
		return file{}, err
	}
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) {
		_ = f.Close()
		return file{}, errors.Join(errChanged, err)
	}
	return file{f}, nil
}

// readlink reads the target of the link name into buf, with slashes as in git, and returns its length.
func (d dir) readlink(name string, buf []byte) (int, error) {
	target, err := os.Readlink(filepath.Join(d.path, name))
	return copy(buf, filepath.ToSlash(target)), err
}

// A file is open for reading.
type file struct{ f *os.File }

func (f file) close() { _ = f.f.Close() }

func (f file) stat(found *repo.FileStat) error {
	info, err := f.f.Stat()
	if err != nil {
		return err
	}
	fill(found, info)
	return nil
}

// readAt reads at most len(b) bytes. It returns 0 at the end of the file.
func (f file) readAt(b []byte, off int64) (int, error) {
	n, err := f.f.ReadAt(b, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func fill(f *repo.FileStat, info fs.FileInfo) {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		f.Presence = repo.RegularFile
		f.Executable = executable(mode)
	case mode&fs.ModeSymlink != 0:
		f.Presence = repo.Link
	case mode.IsDir():
		f.Presence = repo.Directory
	default:
		f.Presence = repo.Special
	}
	f.Stat = repo.Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano(), Ctime: changed(info)}
}

// absent reports whether err means that the path does not exist.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) }

// validName rejects names with a special meaning on this system: devices, streams, other separators.
func validName(elem string) bool {
	return filepath.IsLocal(elem) && !strings.ContainsAny(elem, `\:`)
}
