// Package content reads facts from the files of a work tree: what stands at
// each tracked path, what its bytes hash to, and what kind of file it is.
//
// It opens nothing outside the root it was given: every parent directory of a
// path must be a real directory, a link is read rather than followed, and a name
// that could climb is refused. It keeps nothing between calls. Which paths are
// tracked belongs to internal/git; what a fact means belongs to the deciding
// packages.
package content

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ken/internal/repo"
)

// Options tunes a Tree. The zero value is ready to use.
type Options struct {
	Workers int               // files looked at or read at once; GOMAXPROCS when 0
	Now     func() time.Time  // the clock of the racy rule; time.Now when nil
	Format  repo.ObjectFormat // how blob ids are made
}

// A Tree is the files below one root. It may be used from several goroutines.
type Tree struct {
	root    string
	workers int
	now     func() time.Time
	format  repo.ObjectFormat
}

// Open returns the files below root. It touches nothing: a root that cannot be
// entered is the error of the first question asked.
func Open(root string, opts Options) *Tree {
	t := &Tree{root: root, workers: opts.Workers, now: opts.Now, format: opts.Format}
	if t.workers <= 0 {
		t.workers = runtime.GOMAXPROCS(0)
	}
	if t.now == nil {
		t.now = time.Now
	}
	return t
}

// spread covers [0, n) with calls of what begin returns, one begin per worker.
// Work is dealt in runs of neighbours, because neighbours share directories, and
// dealt as workers come free, because files differ in size.
func (t *Tree) spread(ctx context.Context, n, run int, begin func(w *walk) (work func(lo, hi int), end func())) error {
	if n == 0 {
		return nil
	}
	var dealt atomic.Int64
	worker := func() error {
		w, err := newWalk(t.root)
		if err != nil {
			return fmt.Errorf("enter work tree: %w", err)
		}
		defer w.close()
		work, end := begin(w)
		defer end()
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			hi := int(dealt.Add(int64(run)))
			if hi-run >= n {
				return nil
			}
			work(hi-run, min(hi, n))
		}
	}
	workers := min(t.workers, (n+run-1)/run)
	if workers == 1 {
		return worker()
	}
	var g errgroup.Group
	for range workers {
		g.Go(worker)
	}
	return g.Wait()
}
