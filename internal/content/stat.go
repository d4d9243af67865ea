package content

import (
	"context"
	"fmt"

	"ken/internal/repo"
)

// statRun is how many entries a worker takes at a time: enough that entering
// their directories again is lost in the looking, and few enough that a small
// tree keeps every worker busy.
func (t *Tree) statRun(n int) int { return min(max(n/(2*t.workers), 64), 512) }

// Stat looks at every entry once and answers in their order. Entries in byte
// order of their paths are looked at fastest.
//
// A path is Absent when nothing stands there, or when one of its parents is
// missing or is anything but a directory. It is Unreadable, with the reason, when
// the file system refused to say or the path could lead out of the root. The
// error is about the whole question: the root cannot be entered, or ctx ended.
func (t *Tree) Stat(ctx context.Context, entries []repo.Entry) ([]repo.Found, error) {
	found := make([]repo.Found, len(entries))
	err := t.spread(ctx, len(entries), t.statRun(len(entries)), func(w *walk) (func(lo, hi int), func()) {
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				w.look(entries[i].Path, &found[i])
			}
		}, func() {}
	})
	if err != nil {
		return nil, fmt.Errorf("stat files: %w", err)
	}
	return found, nil
}

// look answers one lstat into f, which must be zero: a Found is large enough
// that returning it shows in a profile.
func (w *walk) look(p repo.Path, f *repo.Found) {
	d, name, err := w.enter(p)
	if err == nil {
		if err = d.lstat(name, f); err != nil {
			err = &pathError{"stat", p, err}
		}
	}
	if err != nil {
		*f = refused(err)
	}
}

// refused is what was found where err is all the file system said.
func refused(err error) repo.Found {
	if absent(err) {
		return repo.Found{Presence: repo.Absent}
	}
	return repo.Found{Presence: repo.Unreadable, Err: err}
}

// A pathError names the act and the path, which may hold anything and is
// therefore printed as a person should read it.
type pathError struct {
	act  string
	path repo.Path
	err  error
}

func (e *pathError) Error() string { return e.act + " " + e.path.String() + ": " + e.err.Error() }

func (e *pathError) Unwrap() error { return e.err }
