// Package content reads the files of a work tree: their presence and stat, their hashes, and their kind.
//
// It opens no file outside its root. Every parent directory of a path must be a real directory, a link is
// read and not followed, and path elements such as ".." are rejected. It keeps no state between calls.
// Package git knows which paths are tracked. Other packages interpret the results.
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

// Options configures a Tree. The zero value is ready to use.
type Options struct {
	Workers int               // number of concurrent workers; GOMAXPROCS if 0
	Now     func() time.Time  // the clock; time.Now if nil
	Format  repo.ObjectFormat // format of blob ids
}

// A Tree gives access to the files below a root. It is safe for concurrent use.
type Tree struct {
	root    string
	workers int
	now     func() time.Time
	format  repo.ObjectFormat
}

// Open returns the tree below root. It does not access the file system: if the root cannot be opened, the
// first method call returns the error.
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

// parallel processes the range [0, n) with several workers. It calls begin once per worker, and then work
// with subranges of length run. Neighbours are in the same subrange because they share directories. A worker
// takes the next subrange when it is free because files differ in size.
func (t *Tree) parallel(ctx context.Context, n, run int, begin func(w *walk) (work func(lo, hi int), end func())) error {
	if n == 0 {
		return nil
	}
	var next atomic.Int64
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
			hi := int(next.Add(int64(run)))
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
