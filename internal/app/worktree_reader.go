package app

import (
	"context"
	"strings"

	"ken/internal/board"
	"ken/internal/brief"
	"ken/internal/docs"
	"ken/internal/find"
	"ken/internal/git"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/review"
	"ken/internal/share"
	"ken/internal/statedir"
	"ken/internal/survey"
	"ken/internal/tree"
	"ken/internal/workflow"
)

// A worktreeReader reads one worktree for the board and the dashboard. It judges files and
// directories by one check.
type worktreeReader struct {
	*ken.Repository

	check *tree.ReadOnlyCheck
	state *workflow.Manager // opened for a board; nil before
}

func openWorktree(ctx context.Context, c git.Checkout) (*worktreeReader, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	w, err := ken.Open(ctx, ken.Options{Dir: c.Repo.Root()})
	if err != nil {
		return nil, err
	}
	w.ReadOnly = &tree.ReadOnlyCheck{Workspace: w.Workspace, Registry: w.Registry}
	return &worktreeReader{Repository: w, check: w.ReadOnly}, nil
}

// Close closes the worktree. It ignores errors, since writes are complete before.
func (d *worktreeReader) Close() error {
	_ = d.Repository.Close()
	if d.state != nil {
		_ = d.state.Close()
	}
	return nil
}

// source returns the worktree as a source of a board. err says why it could not be opened.
func (d *worktreeReader) source(ctx context.Context, c git.Checkout, err error) board.Source {
	s := board.Source{Name: c.Name, Here: c.Here, Branch: strings.TrimPrefix(c.Head.Branch, "refs/heads/"), Head: c.Head.Commit, Err: err}
	if err != nil {
		return s
	}
	s.Files = d.check.Report
	s.Directories = func(ctx context.Context) (*survey.DirListing, error) { return d.Show(ctx, "") }
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
	rep, _, err := d.check.Report(ctx)
	if err != nil {
		return nil, err
	}
	return board.NewestChanges(ctx, d.Workspace, rep, paths)
}

// Show returns the verdicts and texts of the directories below within.
func (d *worktreeReader) Show(ctx context.Context, within repo.Path) (*survey.DirListing, error) {
	return d.Survey(nil).Show(ctx, within)
}

// Brief returns what to know first about a path.
func (d *worktreeReader) Brief(ctx context.Context, path repo.Path) (*brief.Brief, error) {
	return d.Briefer().Brief(ctx, brief.Options{Path: path, Budget: pageBudget})
}

// pageBudget is the length of a brief on a page, in tokens. A page has more room than a terminal.
const pageBudget = 8 * brief.DefaultBudget

// Diff returns what changed in a file or directory since its summary was written.
func (d *worktreeReader) Diff(ctx context.Context, path repo.Path) (*review.Diff, error) {
	return d.Reviewer().Diff(ctx, path)
}

// Find lists the places that matter for some words.
func (d *worktreeReader) Find(ctx context.Context, q find.Query) (*find.Answer, error) {
	return d.Finder().Find(ctx, q, repo.ID{})
}

// Review judges the change of the worktree since the main branch.
func (d *worktreeReader) Review(ctx context.Context) (*review.Review, error) {
	return d.Reviewer().Review(ctx, review.Options{All: true})
}

// Docs judges the mentions in documents.
func (d *worktreeReader) Docs(ctx context.Context) (*docs.Report, error) {
	return d.Documents().Check(ctx, docs.Options{})
}

// FixDocs corrects the mentions that moved.
func (d *worktreeReader) FixDocs(ctx context.Context, rep *docs.Report) (docs.FixResult, error) {
	return d.Documents().Fix(ctx, rep, false)
}

// Read calls see with the content of each file.
func (d *worktreeReader) Read(ctx context.Context, paths []repo.Path, see func(i int, content []byte, err error)) error {
	return d.Files.Bytes(ctx, paths, find.MaxBytes, see)
}

// Confirm records that a summary holds for the content that read names.
func (d *worktreeReader) Confirm(ctx context.Context, path repo.Path, read string) (registry.WriteResult, error) {
	d.ReadOnly = nil // writing is a check
	done, err := d.Repository.Summaries().Confirm(ctx, []repo.Path{path}, read)
	if err != nil {
		return registry.WriteResult{}, err
	}
	return done[0].WriteResult, nil
}

// Write stores the summary of a file.
func (d *worktreeReader) Write(ctx context.Context, update registry.Update) (registry.WriteResult, error) {
	done, err := d.Registry.Write(ctx, []registry.Update{update})
	if err != nil {
		return registry.WriteResult{}, err
	}
	return done[0], nil
}

// Summaries returns the summaries of files.
func (d *worktreeReader) Summaries(ctx context.Context, paths []repo.Path) ([]registry.Summary, error) {
	return d.Registry.Show(ctx, paths)
}
