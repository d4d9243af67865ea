package survey

import (
	"context"
	"maps"

	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/tree"
	"ken/internal/workspace"
)

// A Factory makes the surveys of the trees of one repository.
type Factory struct {
	Sources tree.Sources // its policy also says which changes count

	// For the other fields, see [Options].
	Exclude       []string
	Ranks         map[repo.Path]Rank
	StaleMentions map[repo.Path][]string // of the work tree
}

// WorkTree returns the survey of the work tree. Ranks are added to those of the repository.
func (f *Factory) WorkTree(ranks map[repo.Path]Rank) *Survey {
	return f.ForTree(tree.NewWorkTree(f.Sources), ranks)
}

// ForTree returns the survey of a tree.
func (f *Factory) ForTree(files workspace.Tree, ranks map[repo.Path]Rank) *Survey {
	all := make(map[repo.Path]Rank)
	maps.Copy(all, f.Ranks)
	maps.Copy(all, ranks)
	opts := Options{Exclude: f.Exclude, Ranks: all, Counts: f.Sources.Policy.Counts}
	switch files := files.(type) {
	case *tree.WorkTree:
		opts.StaleMentions = f.StaleMentions
		opts.KeepOutlines = files.Recorded()
		opts.Cache = &Cache{Answers: files.Workspace.Cache, Inputs: files.SurveyKey, ReadOnly: !files.Recorded()}
	case *tree.CommitTree:
		opts.OfCommit = true
	}
	return New(files, f.Sources.Store, opts)
}

// DirCounts counts the summaries of directories by state. It returns nil if there is no summary yet and no attempt failed.
// rep is the report on the files; recorded says that the registry recorded it.
//
// If rep is recorded or found no change, DirCounts can use cached answers. Otherwise, or if within names paths, it reads
// the files again and writes nothing.
func (f *Factory) DirCounts(ctx context.Context, rep *registry.Report, recorded bool, within []repo.Path) (*DirCounts, error) {
	described, err := f.Sources.Store.HasDirRecords(ctx)
	if err != nil {
		return nil, err
	}
	if !described {
		failed, err := f.Sources.Store.Failures(ctx)
		if err != nil || len(failed) == 0 {
			return nil, err
		}
	}
	if len(within) > 0 || !recorded && rep.State != registry.StateTrust {
		opts := f.Sources
		opts.ReadOnly = &tree.ReadOnlyCheck{Workspace: opts.Workspace, Registry: opts.Registry}
		return f.ForTree(tree.NewWorkTree(opts), nil).DirCounts(ctx, within)
	}
	return f.ForTree(tree.NewWorkTreeFromReport(f.Sources, rep, recorded), nil).DirCounts(ctx, nil)
}
