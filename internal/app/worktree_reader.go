package app

import (
	"context"
	"strings"

	"ken/internal/board"
	"ken/internal/git"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/statedir"
	"ken/internal/survey"
	"ken/internal/tree"
)

// A worktreeReader reads one worktree for a board.
type worktreeReader struct {
	*ken.Repository
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

// source returns the worktree as a source of a board. err says why it could not be opened.
func (d *worktreeReader) source(c git.Checkout, err error) board.Source {
	s := board.Source{}
	if err == nil {
		s = d.BoardSource()
		s.Files = d.ReadOnly.Report
		s.Directories = func(ctx context.Context) (*survey.DirListing, error) { return d.Survey(nil).Show(ctx, "") }
		s.State = func(ctx context.Context) (board.StateDir, error) {
			return statedir.Open(ctx, statedir.Options{From: c.Repo.Root()})
		}
		s.Archive = true
	}
	s.Name, s.Here, s.Err = c.Name, c.Here, err
	s.Branch = strings.TrimPrefix(c.Head.Branch, "refs/heads/")
	s.Head = c.Head.Commit
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
