package app

import (
	"context"
	"strings"

	"ken/internal/board"
	"ken/internal/git"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/share"
	"ken/internal/statedir"
	"ken/internal/survey"
	"ken/internal/tree"
	"ken/internal/workflow"
)

// A worktreeReader reads one worktree for a board.
type worktreeReader struct {
	*ken.Repository

	state *workflow.Manager // opened by source
}

// openWorktree opens a worktree for reading. The repository judges files and directories by one check.
func openWorktree(ctx context.Context, c git.Checkout) (*ken.Repository, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	w, err := ken.Open(ctx, ken.Options{Dir: c.Repo.Root()})
	if err != nil {
		return nil, err
	}
	w.ReadOnly = &tree.ReadOnlyCheck{Workspace: w.Workspace, Registry: w.Registry}
	return w, nil
}

// close closes the worktree. It ignores errors, since a board writes nothing.
func (d *worktreeReader) close() {
	_ = d.Close()
	if d.state != nil {
		_ = d.state.Close()
	}
}

// source returns the worktree as a source of a board. err says why it could not be opened.
func (d *worktreeReader) source(ctx context.Context, c git.Checkout, err error) board.Source {
	s := board.Source{Name: c.Name, Here: c.Here, Branch: strings.TrimPrefix(c.Head.Branch, "refs/heads/"), Head: c.Head.Commit, Err: err}
	if err != nil {
		return s
	}
	s.Files = d.ReadOnly.Report
	s.Directories = func(ctx context.Context) (*survey.DirListing, error) { return d.Survey(nil).Show(ctx, "") }
	s.Specs = d.Spec().List
	s.Gate = d.Config.Spec.Gate.Threshold
	s.RenamedFrom = d.Registry.RenamedFrom
	s.Ignored = func(ctx context.Context) ([]share.Ignored, error) {
		sh, err := d.Share(ctx)
		if err != nil {
			return nil, err
		}
		return sh.LastIgnored(), nil
	}
	state, err := statedir.Open(ctx, statedir.Options{From: c.Repo.Root()})
	d.state = state
	s.State = func() (board.StateDir, error) { return state, err }
	return s
}

// changes returns the newest changes of files and directories.
func (d *worktreeReader) changes(ctx context.Context, paths []repo.Path) (map[repo.Path]board.Change, error) {
	rep, _, err := d.ReadOnly.Report(ctx)
	if err != nil {
		return nil, err
	}
	return board.NewestChanges(ctx, d.Workspace, rep, paths)
}
