package content

import (
	"context"
	"fmt"

	"ken/internal/repo"
)

// statRun returns the number of entries in a worker's subrange. It is large enough that opening the
// directories again does not matter, and small enough to keep all workers busy in a small tree.
func (t *Tree) statRun(n int) int { return min(max(n/(2*t.workers), 64), 512) }

// Stat stats every entry and returns the results in the same order. Entries in byte order of their paths are
// fastest.
//
// A path is Absent if it does not exist, or if a parent is missing or not a directory. It is Unreadable,
// with the reason, if the file system returned another error or the path could lead out of the root. Stat
// itself returns an error only if the root cannot be opened or ctx ended.
func (t *Tree) Stat(ctx context.Context, entries []repo.Entry) ([]repo.FileStat, error) {
	found := make([]repo.FileStat, len(entries))
	err := t.parallel(ctx, len(entries), t.statRun(len(entries)), func(w *walk) (func(lo, hi int), func()) {
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				w.lstat(entries[i].Path, &found[i])
			}
		}, func() {}
	})
	if err != nil {
		return nil, fmt.Errorf("stat files: %w", err)
	}
	return found, nil
}

// lstat stats p into f, which must be zero. It does not return a FileStat, because copying one is slow enough
// to show in a profile.
func (w *walk) lstat(p repo.Path, f *repo.FileStat) {
	d, name, err := w.enter(p)
	if err == nil {
		if err = d.lstat(name, f); err != nil {
			err = &pathError{"stat", p, err}
		}
	}
	if err != nil {
		*f = statOfError(err)
	}
}

// statOfError returns the FileStat for an error of the file system.
func statOfError(err error) repo.FileStat {
	if absent(err) {
		return repo.FileStat{Presence: repo.Absent}
	}
	return repo.FileStat{Presence: repo.Unreadable, Err: err}
}

// A pathError has an operation and a path. The path may contain any bytes and is quoted for display.
type pathError struct {
	act  string
	path repo.Path
	err  error
}

func (e *pathError) Error() string { return e.act + " " + e.path.String() + ": " + e.err.Error() }

func (e *pathError) Unwrap() error { return e.err }
