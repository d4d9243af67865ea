package app

import (
	"context"
	"errors"
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
	"ken/internal/spec"
	"ken/internal/statedir"
	"ken/internal/survey"
	"ken/internal/tree"
	"ken/internal/workflow"
)

// A worktreeReader reads one worktree for the board and the dashboard. Files and
// directories are judged from one snapshot; specs and the state directory have their
// own.
type worktreeReader struct {
	files, specs *ken.Repository
	state        *workflow.Manager
	stateErr     error

	snapshot *tree.Snapshot
}

func openWorktree(ctx context.Context, c git.Checkout) (*worktreeReader, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	files, err := ken.Open(ctx, ken.Options{Dir: c.Repo.Root()})
	if err != nil {
		return nil, err
	}
	specs, err := ken.Open(ctx, ken.Options{Dir: c.Repo.Root()})
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	d := &worktreeReader{files: files, specs: specs, snapshot: &tree.Snapshot{Workspace: files.Workspace, Registry: files.Registry}}
	files.Snapshot = d.snapshot
	d.state, d.stateErr = statedir.Open(ctx, statedir.Options{From: c.Repo.Root()})
	return d, nil
}

// Close closes the worktree.
func (d *worktreeReader) Close() error {
	_ = d.files.Close()
	_ = d.specs.Close()
	if d.state != nil {
		_ = d.state.Close()
	}
	return nil
}

func (d *worktreeReader) source(c git.Checkout, err error) board.Source {
	s := board.Source{Name: c.Name, Here: c.Here, Branch: strings.TrimPrefix(c.Head.Branch, "refs/heads/"), Head: c.Head.Commit, Err: err}
	if err != nil {
		return s
	}
	s.Files = d.snapshot.Read
	s.Directories = func(ctx context.Context) (*survey.Shown, error) { return d.Show(ctx, "") }
	s.Specs = d.specs.Spec().List
	s.Gate = d.specs.Config.Spec.Gate.Threshold
	s.RenamedFrom = d.files.Registry.RenamedFrom
	s.Ignored = func(ctx context.Context) ([]share.Ignored, error) {
		sh, err := d.specs.Share(ctx)
		if err != nil {
			return nil, err
		}
		return sh.LastIgnored(), nil
	}
	s.State = func() (board.StateDir, error) {
		if d.stateErr != nil {
			return nil, d.stateErr
		}
		return d.state, nil
	}
	return s
}

// changes returns the newest changes of files and directories.
func (d *worktreeReader) changes(ctx context.Context, paths []repo.Path) (map[repo.Path]board.Change, error) {
	rep, _, err := d.snapshot.Read(ctx)
	if err != nil {
		return nil, err
	}
	return board.NewestChanges(ctx, d.files.Workspace, rep, paths)
}

// Show returns the verdicts and texts of the directories below within.
func (d *worktreeReader) Show(ctx context.Context, within repo.Path) (*survey.Shown, error) {
	return d.files.Survey(nil).Show(ctx, within)
}

// Spec returns the reader of specs.
func (d *worktreeReader) Spec() *spec.Reader { return d.specs.Spec() }

// Brief returns what to know first about a path.
func (d *worktreeReader) Brief(ctx context.Context, path repo.Path) (*brief.Brief, error) {
	return d.files.Briefer().Brief(ctx, brief.Options{Path: path, Budget: pageBudget})
}

// pageBudget is the length of a brief on a page, in tokens. A page has more room than a terminal.
const pageBudget = 8 * brief.DefaultBudget

// Diff returns what changed in a file or directory since its summary was written.
func (d *worktreeReader) Diff(ctx context.Context, path repo.Path) (*review.Diff, error) {
	return d.files.Reviewer().Diff(ctx, path)
}

// Find lists the places that matter for some words.
func (d *worktreeReader) Find(ctx context.Context, q find.Query) (*find.Answer, error) {
	return d.files.Finder().Find(ctx, q, repo.ID{})
}

// Review judges the change of the worktree since the main branch.
func (d *worktreeReader) Review(ctx context.Context) (*review.Review, error) {
	return d.files.Reviewer().Review(ctx, review.Options{All: true})
}

// Docs judges the mentions in documents.
func (d *worktreeReader) Docs(ctx context.Context) (*docs.Report, error) {
	return d.specs.Documents().Check(ctx, docs.Options{})
}

// FixDocs corrects the mentions that moved.
func (d *worktreeReader) FixDocs(ctx context.Context, rep *docs.Report) (docs.FixResult, error) {
	return d.specs.Documents().Fix(ctx, rep, false)
}

// Read calls see with the content of each file.
func (d *worktreeReader) Read(ctx context.Context, paths []repo.Path, see func(i int, content []byte, err error)) error {
	return d.files.Files.Bytes(ctx, paths, find.MaxBytes, see)
}

// Confirm records that a summary holds for the content that read names.
func (d *worktreeReader) Confirm(ctx context.Context, path repo.Path, read string) (registry.Written, error) {
	d.files.Snapshot = nil // writing is a check
	done, err := d.files.Summaries().Confirm(ctx, []repo.Path{path}, read)
	if err != nil {
		return registry.Written{}, err
	}
	return done[0].Written, nil
}

// Write stores the summary of a file.
func (d *worktreeReader) Write(ctx context.Context, update registry.Update) (registry.Written, error) {
	done, err := d.files.Registry.Write(ctx, []registry.Update{update})
	if err != nil {
		return registry.Written{}, err
	}
	return done[0], nil
}

// Summaries returns the summaries of files.
func (d *worktreeReader) Summaries(ctx context.Context, paths []repo.Path) ([]registry.Knowledge, error) {
	return d.files.Registry.Show(ctx, paths)
}
