package app

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"ken/internal/board"
	"ken/internal/brief"
	"ken/internal/cli"
	"ken/internal/docs"
	"ken/internal/find"
	"ken/internal/fresh"
	"ken/internal/git"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/review"
	"ken/internal/share"
	"ken/internal/spec"
	"ken/internal/survey"
)

// A worktreeReader reads one worktree for the board and the dashboard. Files and
// directories are judged from one snapshot; specs and the state directory have their
// own.
type worktreeReader struct {
	files, specs *workspace
	state        *stateSpace
	stateErr     error

	once   sync.Once
	report *registry.Report
	sizes  map[repo.Path]int64
	err    error
}

func openWorktree(ctx context.Context, c git.Checkout) (*worktreeReader, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	files, err := open(ctx, openOptions{dir: c.Repo.Root()})
	if err != nil {
		return nil, err
	}
	specs, err := open(ctx, openOptions{dir: c.Repo.Root()})
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	d := &worktreeReader{files: files, specs: specs}
	files.look = d
	d.state, d.stateErr = openState(ctx, stateOptions{from: c.Repo.Root()})
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
	s.Files = d.read
	s.Directories = func(ctx context.Context) (*survey.Shown, error) { return d.Show(ctx, "") }
	s.Specs = d.specs.Spec().List
	s.Gate = d.specs.GatePolicy().Threshold
	s.RenamedFrom = d.files.registry.RenamedFrom
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
		return d.state.keeper, nil
	}
	return s
}

// read judges all tracked files on the first call, and writes nothing. It returns the
// verdicts and the sizes of the files.
func (d *worktreeReader) read(ctx context.Context) (*registry.Report, map[repo.Path]int64, error) {
	d.once.Do(func() {
		d.report, d.err = d.files.registry.Status(ctx, registry.VerifyOptions{All: true})
		if d.err != nil {
			return
		}
		var snap *repo.Snapshot
		if snap, d.err = d.files.git.Snapshot(ctx); d.err != nil {
			return
		}
		d.err = d.weigh(ctx, snap.Index.Entries)
	})
	return d.report, d.sizes, d.err
}

// weigh reads the sizes of files from the disk, because those in the index may be old.
// It takes the size of a file outside the sparse checkout from the index. A directory,
// such as a submodule, has size 0.
func (d *worktreeReader) weigh(ctx context.Context, index []repo.Entry) error {
	found, err := d.files.files.Stat(ctx, index)
	if err != nil {
		return err
	}
	d.sizes = make(map[repo.Path]int64, len(index))
	for i := range index {
		size := found[i].Stat.Size
		switch {
		case found[i].Presence == repo.Directory:
			size = 0
		case found[i].Presence == repo.Absent && index[i].Flags.Has(repo.SkipWorktree):
			size = index[i].Stat.Size
		}
		d.sizes[index[i].Path] = size
	}
	return nil
}

// Show returns the verdicts and texts of the directories below within.
func (d *worktreeReader) Show(ctx context.Context, within repo.Path) (*survey.Shown, error) {
	s, err := d.survey(ctx)
	if err != nil {
		return nil, err
	}
	return s.Show(ctx, within)
}

// survey returns the survey of the files that read found.
func (d *worktreeReader) survey(ctx context.Context) (*survey.Survey, error) {
	if _, _, err := d.read(ctx); err != nil {
		return nil, err
	}
	t := d.files.workTree()
	t.commit, t.state = d.report.Head, d.report.State
	t.once.Do(func() { t.files = d.tracked() })
	return d.files.surveyOf(t, nil), nil
}

// tracked lists the files of the report for the survey.
func (d *worktreeReader) tracked() []survey.File {
	var files []survey.File
	for i := range d.report.Verdicts {
		v := &d.report.Verdicts[i]
		size, tracked := d.sizes[v.RawPath()]
		if !tracked || v.Verdict == registry.FoundMissing {
			continue
		}
		f := survey.File{Path: v.RawPath(), ID: v.ID, Size: size, Kind: v.Kind}
		if v.Summary == fresh.Excluded {
			f.Excluded = cmp.Or(v.Reason, "policy")
		}
		if v.Verdict == registry.FoundUnknown || v.Verdict == registry.FoundConflicted {
			f.ID, f.Problem = repo.ID{}, v.Verdict.String()
			if v.Reason != "" {
				f.Problem = v.Reason
			}
		}
		files = append(files, f)
	}
	return files
}

// Spec returns the reader of specs.
func (d *worktreeReader) Spec() *spec.Reader { return d.specs.Spec() }

// Brief returns what to know first about a path.
func (d *worktreeReader) Brief(ctx context.Context, path repo.Path) (*brief.Brief, error) {
	return d.files.Brief(ctx, cli.BriefOptions{Path: path, Budget: pageBudget})
}

// pageBudget is the length of a brief on a page, in tokens. A page has more room than a terminal.
const pageBudget = 8 * brief.DefaultBudget

// Diff returns what changed in a file or directory since its summary was written.
func (d *worktreeReader) Diff(ctx context.Context, path repo.Path) (*review.Diff, error) {
	return d.files.Diff(ctx, path)
}

// Find lists the places that matter for some words.
func (d *worktreeReader) Find(ctx context.Context, q find.Query) (*find.Answer, error) {
	return d.files.Find(ctx, q, "")
}

// Review judges the change of the worktree since the main branch.
func (d *worktreeReader) Review(ctx context.Context) (*review.Review, error) {
	return d.files.Review(ctx, cli.ReviewOptions{All: true})
}

// Docs judges the mentions in documents.
func (d *worktreeReader) Docs(ctx context.Context) (*docs.Report, error) {
	return d.specs.Docs(ctx, docs.Options{})
}

// FixDocs corrects the mentions that moved.
func (d *worktreeReader) FixDocs(ctx context.Context, rep *docs.Report) (docs.Fixed, error) {
	return d.specs.FixDocs(ctx, rep, false)
}

// Read calls see with the content of each file.
func (d *worktreeReader) Read(ctx context.Context, paths []repo.Path, see func(i int, content []byte, err error)) error {
	return d.files.files.Bytes(ctx, paths, find.MaxBytes, see)
}

// Confirm records that a summary holds for the content that read names.
func (d *worktreeReader) Confirm(ctx context.Context, path repo.Path, read string) (registry.Written, error) {
	d.files.look = nil // writing is a check
	done, err := d.files.Confirm(ctx, []repo.Path{path}, read)
	if err != nil {
		return registry.Written{}, err
	}
	return done[0].Written, nil
}

// Write stores the summary of a file.
func (d *worktreeReader) Write(ctx context.Context, update registry.Update) (registry.Written, error) {
	done, err := d.files.registry.Write(ctx, []registry.Update{update})
	if err != nil {
		return registry.Written{}, err
	}
	return done[0], nil
}

// Summaries returns the summaries of files.
func (d *worktreeReader) Summaries(ctx context.Context, paths []repo.Path) ([]registry.Knowledge, error) {
	return d.files.registry.Show(ctx, paths)
}
