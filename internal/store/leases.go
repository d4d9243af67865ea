package store

import (
	"context"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// Leases stores which directories agents and workers have taken. Each worktree has its own
// leases.
type Leases interface {
	// Leases returns the leases of a worktree, expired or not, by directory.
	Leases(ctx context.Context, worktree string) (map[repo.Path]Lease, error)
	// Acquire stores a lease unless another lease of its directory is valid at now.
	Acquire(ctx context.Context, worktree string, l Lease, now time.Time) (ok bool, err error)
	// Complete stores a record and ends the lease that it was written under, both or
	// neither; ok is false when the directory's lease has another token by now.
	Complete(ctx context.Context, worktree string, l Lease, r *DirRecord) (ok bool, err error)
}

// A Lease is the time during which one agent or worker has a directory.
type Lease struct {
	Path    repo.Path
	Token   string // unique
	Expires time.Time
	Basis   DirBasis // of the directory when the lease was taken
	Recipe  string   // of the summary that will be written
	Holder  string   // name of the agent or model, on one line; "" in older leases
	// Shown is the id of the record whose text the agent was shown, zero when it was
	// shown none: the agent may keep that text.
	Shown fresh.Digest
}
