// Package atomicfile replaces files whole. A reader meets the old content or the
// new one, never a part of either.
//
// Every function writes to a new file beside the old one and renames it. The
// new file's name begins with a dot and ends in [Suffix].
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Suffix ends the names of files that are being written. A process that dies
// leaves such a file behind; [WriteIn] deletes it when it writes the same file again.
const Suffix = ".tmp"

// Write replaces the file name with content. The content is on disk before the
// name points to it. The directory must exist.
func Write(name string, content []byte, mode fs.FileMode) error {
	return write(name, content, mode, true)
}

// WriteCache is Write for a file that can be made again: it does not wait for
// the disk, so a crash of the machine may leave a damaged file.
func WriteCache(name string, content []byte) error {
	return write(name, content, 0o644, false)
}

// WriteIn is Write for a name inside of root. It first removes what dead processes left of the same file: the work
// tree of a user may have it.
func WriteIn(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	dir, base := path.Split(filepath.ToSlash(name))
	removeLeft(root, path.Clean(dir), base)
	temp := path.Join(dir, tempName(base))
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if err := fill(f, content, mode, true); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	if err := root.Rename(temp, name); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// ReadIn reads a regular file of at most limit bytes inside of root.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s holds more than %d bytes", name, limit)
	}
	return text, info, err
}

func write(name string, content []byte, mode fs.FileMode, sync bool) error {
	temp := filepath.Join(filepath.Dir(name), tempName(filepath.Base(name)))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if err := fill(f, content, mode, sync); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, name); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// RemoveAbandoned removes files of a directory that a process began to write more than
// an hour ago. Such a process has died.
func RemoveAbandoned(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), Suffix) && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next caller tries again
		}
	}
}

// fill writes a new file and closes it.
func fill(f *os.File, content []byte, mode fs.FileMode, sync bool) error {
	_, err := f.Write(content)
	if err == nil && sync {
		// The umask applies to a new file, and mode may be that of an old one.
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	return errors.Join(err, f.Close())
}

// tempName returns a unique name for the next version of a file. It has the id of the process.
func tempName(name string) string {
	return tempStart(name) + strconv.Itoa(os.Getpid()) + "." + strings.ToLower(rand.Text()[:12]) + Suffix
}

// tempStart returns how the temporary names of a file begin.
func tempStart(name string) string {
	const longest = 255 - len(".4294967295.abcdefghijkl"+Suffix) // file systems take names of 255 bytes
	return "." + name[:min(len(name), longest-1)] + "."
}

// removeLeft removes the temporary files of a file whose processes have died.
func removeLeft(root *os.Root, dir, name string) {
	d, err := root.Open(dir)
	if err != nil {
		return // the write reports it
	}
	names, _ := d.Readdirnames(-1)
	_ = d.Close()
	for _, n := range names {
		rest, hasStart := strings.CutPrefix(n, tempStart(name))
		process, _, _ := strings.Cut(rest, ".")
		pid, err := strconv.Atoi(process)
		isOurs := hasStart && strings.HasSuffix(n, Suffix) && err == nil
		if isOurs && !isRunning(pid) {
			_ = root.Remove(path.Join(dir, n)) // the next write tries again
		}
	}
}

// isRunning reports whether there may be a process with an id.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
