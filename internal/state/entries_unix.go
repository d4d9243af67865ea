//go:build linux || darwin

package state

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// entriesPerWorker is the number of entries that a worker takes at a time.
const entriesPerWorker = 1024

// entriesIn lists the directory f, which is at path in root.
func entriesIn(ctx context.Context, _ *os.Root, _ string, f *os.File) ([]Entry, error) {
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	entries := make([]Entry, len(names))
	fd := int(f.Fd())
	var next, gone atomic.Int64
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
					if !statEntry(fd, names[i], &entries[i]) {
						gone.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if gone.Load() > 0 {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.Name == "" })
	}
	return entries, nil
}

// statEntry fills in the entry name of the directory fd; false if it no longer exists.
func statEntry(fd int, name string, e *Entry) bool {
	var st unix.Stat_t
	err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	for errors.Is(err, unix.EINTR) {
		err = unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		return false
	case err != nil:
		*e = Entry{Name: name, Err: err}
		return true
	}
	e.Name, e.Size = name, st.Size
	e.ModTime = time.Unix(st.Mtim.Unix()).UTC()
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		e.Kind = Regular
	case unix.S_IFDIR:
		e.Kind = Directory
	case unix.S_IFLNK:
		e.Kind = Symlink
	default:
		e.Kind = Special
	}
	return true
}
