package git

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	"ken/internal/git/history"
	"ken/internal/repo"
)

// An earlyWalk is a walk that has begun before it is known who takes its commits.
type earlyWalk struct {
	heads, known []repo.ID
	taker        chan func(repo.Commit) error
	done         chan error
	stop         context.CancelFunc
}

// walkEarly begins to walk what a glimpse does not show, nil if that is nothing, or
// everything.
func (r *Repo) walkEarly(ctx context.Context, key history.Key, heads []repo.ID) *earlyWalk {
	var files []io.ReaderAt
	for _, name := range []string{baseFile, tailFile} {
		f, err := os.OpenFile(filepath.Join(r.historyDir(), name), os.O_RDONLY|openFlags, 0)
		if err != nil {
			break
		}
		defer f.Close()
		files = append(files, f)
	}
	p := history.OpenPartial(key, r.format, files...)
	if p.Empty() {
		return nil
	}
	w := &earlyWalk{
		heads: slices.DeleteFunc(slices.Clone(heads), p.Has),
		taker: make(chan func(repo.Commit) error, 1), done: make(chan error, 1),
	}
	if w.known = knownOf(p.Tips()); len(w.heads) == 0 || len(w.known) == 0 {
		return nil
	}
	ctx, w.stop = context.WithCancel(ctx)
	go func() {
		var take func(repo.Commit) error
		w.done <- r.Walk(ctx, w.heads, w.known, r.historyTrailers(), func(c repo.Commit) error {
			if take == nil {
				select {
				case take = <-w.taker:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return take(c)
		})
	}()
	return w
}

// fits reports whether it is this walk that is needed.
func (w *earlyWalk) fits(heads, known []repo.ID) bool {
	return w != nil && slices.Equal(w.heads, heads) && slices.Equal(w.known, known)
}

// take ends the walk, with f taking its commits.
func (w *earlyWalk) take(f func(repo.Commit) error) error {
	defer w.stop()
	w.taker <- f
	return <-w.done
}

// drop ends a walk that nobody needs.
func (w *earlyWalk) drop() {
	if w != nil {
		w.stop()
		<-w.done
	}
}
