// Package dashboard supplies the dashboard with what it reads from disk and from the network besides boards: the
// fingerprint of a repository, the directories to watch, reports on documents, the port and the token.
//
// Package web has the pages and the rules of access, and package board what a board contains.
package dashboard

import (
	"context"
	"sync"
	"time"

	"ken/internal/docs"
)

// A DocumentChecks checks the documents of worktrees in the background of the dashboard. A
// check of a large repository takes seconds, and no board waits for it.
type DocumentChecks struct {
	ctx  context.Context // ends with the dashboard
	stop context.CancelFunc
	read func(ctx context.Context, root string) (*docs.Report, error)

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

// NewDocumentChecks returns checks that call read for each check. read reports on the documents of the worktree at
// root. The checks end with ctx.
func NewDocumentChecks(ctx context.Context, read func(ctx context.Context, root string) (*docs.Report, error)) *DocumentChecks {
	ctx, stop := context.WithCancel(ctx)
	return &DocumentChecks{ctx: ctx, stop: stop, read: read, at: make(map[string]*documentCheck)}
}

// Report returns the newest report of a worktree, nil if there is none yet. key changes
// with the files; if it did, Report starts a check and waits for it briefly.
func (c *DocumentChecks) Report(ctx context.Context, root, key string) (*docs.Report, error) {
	c.mu.Lock()
	one := c.at[root]
	if one == nil {
		one = &documentCheck{}
		c.at[root] = one
	}
	if one.busy == nil && one.key != key {
		one.busy = make(chan struct{})
		c.running.Go(func() { c.check(root, one, key) })
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
func (c *DocumentChecks) check(root string, one *documentCheck, key string) {
	report, err := c.read(c.ctx, root)
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

// Finished returns the number of finished checks.
func (c *DocumentChecks) Finished() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// Close stops the running checks.
func (c *DocumentChecks) Close() {
	c.stop()
	c.running.Wait()
}
