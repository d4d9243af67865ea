package state

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// An Entry is something in the state directory, as lstat saw it.
type Entry struct {
	Name    string // any bytes but a slash
	Kind    EntryKind
	Size    int64
	ModTime time.Time
	Err     error // why lstat failed; the other fields but Name are zero then
}

// IsDir reports whether the entry is a directory.
func (e Entry) IsDir() bool { return e.Kind == Directory }

// An EntryKind is the type of an entry. Links are not followed.
type EntryKind int

// The kinds. The zero value is Uninspected.
const (
	Uninspected EntryKind = iota
	Regular
	Directory
	Symlink
	Special // a device, a socket, a pipe
)

// String returns the name of the kind in a manifest.
func (k EntryKind) String() string {
	switch k {
	case Regular:
		return "file"
	case Directory:
		return "dir"
	case Symlink:
		return "link"
	default:
		return "special"
	}
}

// Entries lists the directory, sorted by name. A directory that does not exist has no
// entries. Entries that disappear meanwhile are omitted; one that cannot be inspected
// has the error.
func (d *Dir) Entries(ctx context.Context) ([]Entry, error) {
	if d.guard != nil {
		if err := d.guard(ctx); err != nil {
			return nil, err
		}
	}
	root, err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := entriesOf(ctx, root, ".")
	if errors.Is(err, fs.ErrPermission) {
		entries, err = d.namesOnly(ctx, root)
	}
	switch {
	case ctx.Err() != nil:
		return nil, cancelledError(ctx, "list "+d.path)
	case err != nil:
		return nil, d.failed("list", err)
	}
	return entries, nil
}

// namesOnly lists a directory with read permission only, in which "." cannot be opened.
func (d *Dir) namesOnly(ctx context.Context, root *os.Root) ([]Entry, error) {
	open, path := os.Open, d.path
	if d.outer != nil {
		open, path = d.outer.Open, d.rel
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return entriesIn(ctx, root, ".", f)
}

// entriesOf lists the directory at path, as Entries does.
func entriesOf(ctx context.Context, root *os.Root, path string) ([]Entry, error) {
	f, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return entriesIn(ctx, root, path, f)
}

// entriesPerWorker is the number of entries that a worker takes at a time.
const entriesPerWorker = 1024

// entriesIn lists the directory f, which is at path in root.
func entriesIn(ctx context.Context, root *os.Root, path string, f *os.File) ([]Entry, error) {
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	entries := make([]Entry, len(names))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(names)+entriesPerWorker-1)/entriesPerWorker) {
		wg.Go(func() {
			for ctx.Err() == nil {
				hi := int(next.Add(entriesPerWorker))
				lo := hi - entriesPerWorker
				if lo >= len(names) {
					return
				}
				for i := lo; i < min(hi, len(names)); i++ {
					entries[i], _ = statEntry(root, path, names[i])
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(entries, func(e Entry) bool { return e.Name == "" }), nil
}

// statEntry returns the entry name; false if it no longer exists.
func statEntry(root *os.Root, path, name string) (Entry, bool) {
	info, err := root.Lstat(path + "/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, false
	}
	if err != nil {
		return Entry{Name: name, Err: cause(err)}, true
	}
	return Entry{Name: name, Kind: kindOf(info.Mode()), Size: info.Size(), ModTime: info.ModTime().UTC()}, true
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
