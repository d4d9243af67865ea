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

// An earlyWalk is a walk that starts while ken still reads the index.
type earlyWalk struct {
	heads, known []repo.ID
	consumer     chan func(repo.Commit) error
	done         chan error
	stop         context.CancelFunc
}

// startEarlyWalk starts to walk the new commits. It reads only a few bytes of the cached index to find
// them. It returns nil if the cache is empty or has all heads.
func (r *Repo) startEarlyWalk(ctx context.Context, key history.Key, heads []repo.ID) *earlyWalk {
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
		heads:    slices.DeleteFunc(slices.Clone(heads), p.Has),
		consumer: make(chan func(repo.Commit) error, 1), done: make(chan error, 1),
	}
	if w.known = walkBoundary(p.Tips()); len(w.heads) == 0 || len(w.known) == 0 {
		return nil
	}
	ctx, w.stop = context.WithCancel(ctx)
	go func() {
		var consume func(repo.Commit) error
		w.done <- r.Walk(ctx, w.heads, w.known, r.historyTrailers(), func(c repo.Commit) error {
			if consume == nil {
				select {
				case consume = <-w.consumer:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return consume(c)
		})
	}()
	return w
}

// fits reports whether the walk has these heads and this boundary.
func (w *earlyWalk) fits(heads, known []repo.ID) bool {
	return w != nil && slices.Equal(w.heads, heads) && slices.Equal(w.known, known)
}

// take calls f with the commits of the walk and waits for its end.
func (w *earlyWalk) take(f func(repo.Commit) error) error {
	defer w.stop()
	w.consumer <- f
	return <-w.done
}

// drop stops the walk.
func (w *earlyWalk) drop() {
	if w != nil {
		w.stop()
		<-w.done
	}
}
