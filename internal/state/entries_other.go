//go:build !linux && !darwin

package state

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
)

// entriesIn lists the directory f, which is at path in root.
func entriesIn(ctx context.Context, root *os.Root, path string, f *os.File) ([]Entry, error) {
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	entries := make([]Entry, 0, len(names))
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := root.Lstat(path + "/" + name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			entries = append(entries, Entry{Name: name, Err: cause(err)})
		default:
			entries = append(entries, Entry{
				Name: name, Kind: kindOf(info.Mode()), Size: info.Size(), ModTime: info.ModTime().UTC(),
			})
		}
	}
	return entries, nil
}

// kindOf returns the kind of a mode.
func kindOf(mode fs.FileMode) EntryKind {
	switch {
	case mode.IsRegular():
		return Regular
	case mode.IsDir():
		return Directory
	case mode&fs.ModeSymlink != 0:
		return Symlink
	}
	return Special
}
