package app

import (
	"context"
	"sync"
	"time"

	"ken/internal/docs"
	"ken/internal/git"
)

// documentChecks checks the documents of worktrees in the background of the dashboard. A
// check of a large repository takes seconds, and no board waits for it.
type documentChecks struct {
	ctx  context.Context // ends with the dashboard
	stop context.CancelFunc

	mu      sync.Mutex
	at      map[string]*documentCheck // by root of the worktree
	count   int                       // finished checks; it is part of the fingerprint
	running sync.WaitGroup
}

// A documentCheck is the newest check of a worktree.
type documentCheck struct {
	key    string // of the files that were checked
	report *docs.Report
	err    error
	busy   chan struct{} // closed at the end of the running check; nil if none runs
}

// documentsBriefly is how long a board waits for a check. Most repositories need less.
const documentsBriefly = 300 * time.Millisecond

func newDocumentChecks(ctx context.Context) *documentChecks {
	ctx, stop := context.WithCancel(ctx)
	return &documentChecks{ctx: ctx, stop: stop, at: make(map[string]*documentCheck)}
}

// report returns the newest report of a worktree, nil if there is none yet. key changes
// with the files; if it did, report starts a check and waits for it briefly.
func (c *documentChecks) report(ctx context.Context, g *git.Repo, key string) (*docs.Report, error) {
	c.mu.Lock()
	one := c.at[g.Root()]
	if one == nil {
		one = &documentCheck{}
		c.at[g.Root()] = one
	}
	if one.busy == nil && one.key != key {
		one.busy = make(chan struct{})
		c.running.Go(func() { c.check(g.Root(), one, key) })
	}
	busy := one.busy
	c.mu.Unlock()
	if busy != nil {
		select {
		case <-busy:
		case <-time.After(documentsBriefly):
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return one.report, one.err
}

// check runs a check and stores its report.
func (c *documentChecks) check(root string, one *documentCheck, key string) {
	report, err := checkDocuments(c.ctx, root)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		one.report = report
	}
	one.err, one.key = err, key
	c.count++
	close(one.busy)
	one.busy = nil
}

func checkDocuments(ctx context.Context, root string) (*docs.Report, error) {
	w, err := open(ctx, openOptions{dir: root})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return w.Docs(ctx, docs.Options{})
}

// finished returns the number of finished checks.
func (c *documentChecks) finished() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// close stops the running checks.
func (c *documentChecks) close() {
	c.stop()
	c.running.Wait()
}
