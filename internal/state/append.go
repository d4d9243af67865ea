package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"ken/internal/repo"
)

// Append adds lines to a file in one synced write, with a newline at the end. If a crash
// left a partial line, they start on a new one.
func (l *Locked) Append(name string, lines []byte) error {
	err := l.checkOwned(name)
	if err == nil {
		err = l.append(name, lines)
	}
	if err != nil {
		return fmt.Errorf("append to %s in %s: %w", repo.Path(name), repo.Path(l.dir.path), cause(err))
	}
	return nil
}

func (l *Locked) append(name string, lines []byte) error {
	if !bytes.HasSuffix(lines, []byte("\n")) {
		lines = append(bytes.Clone(lines), '\n')
	}
	f, info, err := openRegular(l.root, name, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return l.replace(".", name, lines, 0) // never show an empty file
	}
	if err != nil {
		return err
	}
	if shared(info) {
		return errors.Join(l.appendToCopy(f, name, info, lines), f.Close())
	}
	return errors.Join(l.appendTo(f, info.Size(), lines), f.Close())
}

// appendToCopy replaces a file that has other hard links, as in a backup, so that they
// keep the old content.
func (l *Locked) appendToCopy(f *os.File, name string, info fs.FileInfo, lines []byte) error {
	old, err := readAll(f, info, maxRead)
	if err != nil {
		return err
	}
	if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
		old = append(old, '\n')
	}
	return l.replace(".", name, append(old, lines...), info.Mode().Perm())
}

func (l *Locked) appendTo(f *os.File, size int64, lines []byte) error {
	if size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			lines = append([]byte("\n"), lines...)
		}
	}
	if err := l.write(f, lines); err != nil {
		// Remove the partial line: the disk is full, and a shorter one may fit.
		return errors.Join(err, f.Truncate(size))
	}
	return nil
}

// SetAside keeps a file in the folder for logs of the archive, before a new version replaces it.
func (l *Locked) SetAside(name string) error {
	err := l.checkOwned(name)
	if err == nil {
		err = readFile(l.root, name, func(*os.File, fs.FileInfo) error { return nil })
	}
	if err == nil {
		err = l.needArchive()
	}
	logs := l.dir.names.Archive + "/.logs"
	if err == nil {
		err = l.mkdirIf(l.dir.names.Archive, logs)
	}
	to := ""
	at := l.dir.now()
	for taken := true; err == nil && taken; at = at.Add(time.Nanosecond) {
		to = stamp(at) + "-" + name
		to = logs + "/" + to[:min(len(to), maxName)]
		taken, err = l.exists(to)
	}
	if err == nil {
		err = l.keep(name, to)
	}
	if err == nil {
		err = l.syncDir(logs)
	}
	if err != nil {
		return fmt.Errorf("set aside %s in %s: %w", repo.Path(name), repo.Path(l.dir.path), cause(err))
	}
	return nil
}
