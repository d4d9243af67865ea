// Package share decides how what several clones know becomes one: which records travel,
// how a record is spelled, whose are taken over, and what is let go when there are too
// many.
//
// A [Record] is immutable and named by its content, so that joining two sets of them is
// a union, whatever the order. It knows nothing of how they travel: git's part belongs to
// internal/git, where records are kept to internal/store.
package share

import (
	"context"
	"time"
)

// Options tune a Share.
type Options struct {
	Policy Policy
	Now    func() time.Time // the clock; time.Now when nil
	// Wait is called before another attempt, with how many there were; nil does not
	// wait.
	Wait func(ctx context.Context, tries int) error
}

// A Share is what one clone shares with others.
type Share struct {
	ledger   Ledger
	store    Store
	memories Memories
	opts     Options
}

// New returns the part of a clone in what is shared.
func New(l Ledger, s Store, m Memories, opts Options) *Share {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Wait == nil {
		opts.Wait = func(ctx context.Context, _ int) error { return ctx.Err() }
	}
	return &Share{l, s, m, opts}
}
