package state

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// viewTries is how often View reads without the lock.
const viewTries = 3

// View calls read, which must only read, and calls it again if a change of several
// files happened meanwhile: the last call saw the directory before a change or after
// it. View takes the lock if changes do not end, or if a killed process left one
// unfinished.
func (d *Dir) View(ctx context.Context, command string, read func() error) error {
	readLocked := func() error {
		l, err := d.Lock(ctx, command)
		if err != nil {
			return err
		}
		return errors.Join(read(), l.Unlock())
	}
	return view(d.archiveMark, read, readLocked)
}

func view(look func() (archiveMark, error), read, readLocked func() error) error {
	for range viewTries {
		before, err := look()
		if err != nil {
			return err
		}
		if before.unfinished {
			break
		}
		readErr := read()
		after, err := look()
		if err != nil {
			return errors.Join(readErr, err)
		}
		if after == before {
			return readErr
		}
	}
	return readLocked()
}

// An archiveMark tells whether a change happened. Two equal marks, both of a finished
// change, mean that none happened in between: every change of several files makes and
// renames folders in the archive, which changes its time.
type archiveMark struct {
	unfinished bool // a change has begun and not ended
	mark       string
}

func (d *Dir) archiveMark() (archiveMark, error) {
	root, err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return archiveMark{}, nil
	}
	if err != nil {
		return archiveMark{}, err
	}
	defer root.Close()
	info, err := root.Lstat(d.names.Archive)
	switch {
	// Something that is not a directory contains no change. Without permission to
	// look, the caller gets an error for each entry that it reads.
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), err == nil && !info.IsDir():
		return archiveMark{}, nil
	case err != nil:
		return archiveMark{}, d.failed("look at the archive of", err)
	}
	names, err := list(root, d.names.Archive)
	if err != nil {
		return archiveMark{}, d.failed("list the archive of", err)
	}
	slices.Sort(names)
	m := archiveMark{mark: info.ModTime().Format(time.RFC3339Nano) + " " + strings.Join(names, "/")}
	for _, name := range names {
		if isChange(name) && isFolder(root, d.names.Archive+"/"+name) {
			m.unfinished = true
		}
	}
	return m, nil
}
