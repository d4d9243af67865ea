package board

import (
	"context"

	"ken/internal/docs"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/share"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/workflow"
)

// A Source is one worktree and the functions that read it.
type Source struct {
	Name   string
	Here   bool
	Branch string // "" when detached
	Head   repo.ID
	Err    error // why the worktree cannot be opened; the other fields below are nil then

	// Files returns the verdicts of the tracked files, at least of those that need attention. With sizes,
	// the files with a size are on the map.
	Files func(context.Context) (*registry.Report, map[repo.Path]int64, error)
	// Directories returns the counts of directories. The listed ones are on the map.
	Directories func(context.Context) (*survey.DirListing, error)
	// Specs lists the specs.
	Specs func(context.Context) (*spec.Listing, error)
	// Gate is the drift from which the gate blocks a commit, 0 for the default.
	Gate int
	// Ignored returns the shared records that this clone does not use. It may be nil.
	Ignored func(context.Context) ([]share.Ignored, error)
	// RenamedFrom returns the earlier paths of files that were renamed since their summary was
	// written. It may be nil.
	RenamedFrom func(context.Context, []repo.Path) (map[repo.Path]repo.Path, error)
	// Changes returns the newest changes of files and directories, where they are known. It may be
	// nil.
	Changes func(context.Context, []repo.Path) (map[repo.Path]Change, error)
	// Documents returns the newest report on documents, nil if there is none. The function may be
	// nil.
	Documents func(context.Context) (*docs.Report, error)
	// Overlays returns the changes of all worktrees to the specs of the main branch.
	Overlays func(context.Context) ([]spec.WorktreeChanges, error)
	// Runs returns the surveys that workers run, nil without a team's store. The function may be nil.
	Runs func(context.Context) *Part[Runs]
	// State opens the state directory.
	State func(context.Context) (StateDir, error)
	// Archive says that the face shows the archive of the state directory and the plan of a cleanup.
	Archive bool
}

// A StateDir is an open state directory. Both [workflow.Manager] and a fake in tests
// implement it.
type StateDir interface {
	Close() error
	Audit(ctx context.Context) (*workflow.Audit, error)
	Archive(ctx context.Context) (*workflow.ArchiveList, error)
	Cleanup(ctx context.Context, opts workflow.CleanupOptions) (*workflow.Sweep, error)
	Get(ctx context.Context) (*workflow.Document, error)
}
