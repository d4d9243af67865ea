package board

import (
	"context"

	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/workflow"
)

// A Source is one worktree, and who answers for it.
type Source struct {
	Name   string
	Here   bool
	Branch string // "" when detached
	Head   repo.ID
	Err    error // why it cannot be looked into; nobody answers then

	Registry Registry
	Sizes    Sizes
	Survey   Directories
	State    Keeper
	Spec     Specs
}

// A Registry answers for files; a [registry.Registry] does.
type Registry interface {
	Status(ctx context.Context, opts registry.VerifyOptions) (*registry.Report, error)
}

// Sizes says how large tracked files are.
type Sizes interface {
	// Sizes returns the size of every tracked file whose size is known.
	Sizes(ctx context.Context) (map[repo.Path]int64, error)
}

// Directories answers for directories; a [survey.Survey] does.
type Directories interface {
	Show(ctx context.Context, within repo.Path) (*survey.Shown, error)
}

// A Keeper answers for the state directory; a [workflow.Keeper] does.
type Keeper interface {
	Audit(ctx context.Context) (*workflow.Audit, error)
	Archive(ctx context.Context) (*workflow.ArchiveList, error)
	Cleanup(ctx context.Context, opts workflow.CleanupOptions) (*workflow.Sweep, error)
	Get(ctx context.Context) (*workflow.Document, error)
}

// Specs answers for the specs of a worktree; a [spec.Reader] does.
type Specs interface {
	List(ctx context.Context) (*spec.Listing, error)
}

// Overlays says what all worktrees propose; a [spec.Reader] does.
type Overlays interface {
	Overlays(ctx context.Context) ([]spec.Overlaid, error)
}
