package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"ken/internal/repo"
)

// Append adds lines to a file in one synced write, with a newline at the end. If a crash
// left a partial line, they start on a new one. A file that would grow beyond limit
// moves to the archive first; 0 is no limit.
func (l *Locked) Append(name string, lines []byte, limit int64) error {
	err := l.checkOwned(name)
	if err == nil {
		err = l.append(name, lines, limit)
	}
	if err != nil {
		return fmt.Errorf("append to %s in %s: %w", repo.Path(name), repo.Path(l.dir.path), cause(err))
	}
	return nil
}

func (l *Locked) append(name string, lines []byte, limit int64) error {
	if !bytes.HasSuffix(lines, []byte("\n")) {
		lines = append(bytes.Clone(lines), '\n')
	}
	info, err := l.root.Lstat(name)
	var mode fs.FileMode
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing:
	case err != nil:
		return err
	case limit > 0 && info.Mode().IsRegular() && info.Size() > 0 && info.Size()+int64(len(lines)) > limit:
		to, err := l.logName(name)
		if err != nil {
			return err
		}
		if err := l.rename(name, to); err != nil {
			return err
		}
		if err := errors.Join(l.syncDir(l.logs()), l.syncDir(".")); err != nil {
			return err
		}
		missing, mode = true, info.Mode().Perm()
	}
	if missing {
		return l.replace(".", name, lines, mode) // never show an empty file
	}
	f, info, err := openRegular(l.root, name, os.O_RDWR|os.O_APPEND, 0)
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
	if err := l.write(f, bytes.NewReader(lines)); err != nil {
		// Remove the partial line: the disk is full, and a shorter one may fit.
		return errors.Join(err, f.Truncate(size))
	}
	return l.sync(f)
}
