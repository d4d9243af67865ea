//go:build !linux && !darwin

package state

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"ken/internal/contract"
)

// entriesIn lists the directory f, which is at path in root.
func entriesIn(ctx context.Context, root *os.Root, path string, f *os.File) ([]contract.Entry, error) {
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	entries := make([]contract.Entry, 0, len(names))
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := root.Lstat(path + "/" + name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			entries = append(entries, contract.Entry{Name: name, Err: cause(err)})
		default:
			entries = append(entries, contract.Entry{
				Name: name, Kind: kindOf(info.Mode()), Size: info.Size(), ModTime: info.ModTime().UTC(),
			})
		}
	}
	return entries, nil
}

// kindOf names what lstat saw.
func kindOf(mode fs.FileMode) contract.EntryKind {
	switch {
	case mode.IsRegular():
		return contract.Regular
	case mode.IsDir():
		return contract.Directory
	case mode&fs.ModeSymlink != 0:
		return contract.Symlink
	}
	return contract.Special
}
