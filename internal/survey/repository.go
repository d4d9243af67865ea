package survey

import (
	"context"
	"maps"

	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/tree"
	"ken/internal/workspace"
)

// A Maker makes the surveys of the trees of one repository.
type Maker struct {
	Sources tree.Sources // its policy also says which changes count

	// For the other fields, see [Options].
	Exclude       []string
	Ranks         map[repo.Path]Rank
	StaleMentions map[repo.Path][]string // of the work tree
}

// Work returns the survey of the work tree. Ranks are added to those of the repository.
func (r *Maker) Work(ranks map[repo.Path]Rank) *Survey {
	return r.ForTree(tree.NewWork(r.Sources), ranks)
}

// ForTree returns the survey of a tree.
func (r *Maker) ForTree(files workspace.Tree, ranks map[repo.Path]Rank) *Survey {
	all := make(map[repo.Path]Rank)
	maps.Copy(all, r.Ranks)
	maps.Copy(all, ranks)
	opts := Options{Exclude: r.Exclude, Ranks: all, Counts: r.Sources.Policy.Counts}
	switch files := files.(type) {
	case *tree.Work:
		opts.StaleMentions = r.StaleMentions
		opts.KeepOutlines = files.Recorded()
		opts.Cache = &Cache{Answers: files.Workspace.Cache, Inputs: files.SurveyKey, ReadOnly: !files.Recorded()}
	case *tree.Commit:
		opts.Past = true
	}
	return New(files, r.Sources.Store, opts)
}

// DirCounts counts the summaries of directories by state. It returns nil if there is no summary yet and no attempt failed.
// rep is the report on the files; recorded says that the registry recorded it.
//
// If rep is recorded or found no change, DirCounts can use cached answers. Otherwise, or if within names paths, it reads
// the files again and writes nothing.
func (r *Maker) DirCounts(ctx context.Context, rep *registry.Report, recorded bool, within []repo.Path) (*DirCounts, error) {
	described, err := r.Sources.Store.Describes(ctx)
	if err != nil {
		return nil, err
	}
	if !described {
		failed, err := r.Sources.Store.Failures(ctx)
		if err != nil || len(failed) == 0 {
			return nil, err
		}
	}
	if len(within) > 0 || !recorded && rep.State != registry.StateTrust {
		opts := r.Sources
		opts.ReadOnly = &tree.ReadOnlyCheck{Workspace: opts.Workspace, Registry: opts.Registry}
		return r.ForTree(tree.NewWork(opts), nil).DirCounts(ctx, within)
	}
	return r.ForTree(tree.NewVerified(r.Sources, rep, recorded), nil).DirCounts(ctx, nil)
}
