package app

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"ken/internal/board"
	"ken/internal/docs"
	"ken/internal/git"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/statedir"
	"ken/internal/survey"
	"ken/internal/tree"
)

// board builds the board of a worktree. onPart gets the unfinished board.
func (w webSource) board(ctx context.Context, name string, onPart func(*board.Board)) (*board.Board, error) {
	g, all, err := w.checkouts(ctx)
	if err != nil {
		return nil, err
	}
	c, err := named(all, name)
	if err != nil {
		return nil, err
	}
	server, err := ken.Open(ctx, ken.Options{Dir: g.Root()})
	if err != nil {
		return nil, err
	}
	server.LoadedSpecs = w.specs
	source := board.Source{}
	r, err := openWorktree(ctx, c)
	if err == nil {
		defer r.Close()
		source = w.source(c, r)
	}
	source.Err = err
	source.Name = c.Name
	source.Here = c.Here
	source.Branch = strings.TrimPrefix(c.Head.Branch, "refs/heads/")
	source.Head = c.Head.Commit
	source.Overlays = server.Spec().Overlays
	source.Runs = func(ctx context.Context) *board.Part[board.Runs] { return w.runs.part(ctx, runsFullWait) }
	b := board.Make(ctx, repositoryName(g, all), source, onPart)
	return b, errors.Join(ctx.Err(), server.Close())
}

// openWorktree opens a worktree for reading. The repository judges files and directories by one check.
func openWorktree(ctx context.Context, c git.Checkout) (*ken.Repository, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	r, err := ken.Open(ctx, ken.Options{Dir: c.Repo.Root()})
	if err != nil {
		return nil, err
	}
	r.ReadOnly = &tree.ReadOnlyCheck{Workspace: r.Workspace, Registry: r.Registry}
	return r, nil
}

// source returns how a board of the dashboard reads an open worktree.
func (w webSource) source(c git.Checkout, r *ken.Repository) board.Source {
	s := r.BoardSource()
	s.Files = r.ReadOnly.Report
	s.Directories = func(ctx context.Context) (*survey.DirListing, error) { return r.Survey(nil).Show(ctx, "") }
	s.Documents = func(ctx context.Context) (*docs.Report, error) {
		return w.documents.Report(ctx, c.Repo.Root(), w.prints.FilesKey(c.Name))
	}
	s.Changes = func(ctx context.Context, paths []repo.Path) (map[repo.Path]board.Change, error) {
		rep, _, err := r.ReadOnly.Report(ctx)
		if err != nil {
			return nil, err
		}
		return board.NewestChanges(ctx, r.Workspace, rep, paths)
	}
	s.State = func(ctx context.Context) (board.StateDir, error) {
		return statedir.Open(ctx, statedir.Options{From: c.Repo.Root()})
	}
	s.Archive = true
	return s
}

// repositoryName is the name of the main checkout, or the directory of a bare
// repository.
func repositoryName(g *git.Repo, all []git.Checkout) string {
	if len(all) > 0 && all[0].Err == nil && all[0].Repo != nil && all[0].Repo.GitDir() == g.CommonDir() {
		return all[0].Name
	}
	return filepath.Base(g.CommonDir())
}
