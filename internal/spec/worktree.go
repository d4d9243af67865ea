package spec

import (
	"context"

	"ken/internal/repo"
)

// Files are the files of one checkout.
type Files interface {
	// Specs returns the spec files that are there, tracked or not, and how they
	// looked.
	Specs(ctx context.Context) ([]repo.LoadedFile, repo.StatDigest, error)
	// Same reports whether the spec files are surely as they looked.
	Unchanged(ctx context.Context, l repo.StatDigest) bool
}

// A Worktree is a checkout of the repository.
type Worktree struct {
	Name string // one of its own among them
	Here bool   // the reader's own
	Head repo.Head
	Err  error // why it cannot be looked into; there are no files then
	Work Work
}

// Work is what lies in a checkout.
type Work interface {
	Files
	// Changed lists the paths that differ from what a commit has, committed or
	// not, untracked ones included, sorted.
	Changed(ctx context.Context, since repo.ID) ([]repo.Path, error)
}

// on reports whether the checkout is that of a branch.
func (w *Worktree) on(branch string) bool {
	return branch != "" && w.Head.Branch == "refs/heads/"+branch
}
