package ken

import (
	"context"

	"ken/internal/brief"
	"ken/internal/config"
	"ken/internal/docs"
	"ken/internal/find"
	"ken/internal/prove"
	"ken/internal/repo"
	"ken/internal/review"
	"ken/internal/spec"
	"ken/internal/summary"
	"ken/internal/survey"
	"ken/internal/tree"
)

// Finder returns the search of the repository.
func (w *Repository) Finder() *find.Finder { return find.NewFinder(w.TreeSources()) }

// Spec returns the reader of the specs in the work tree.
func (w *Repository) Spec() *spec.Reader {
	return spec.NewReader(w.Workspace, spec.Options{Main: w.Config.Spec.Main, Loaded: w.LoadedSpecs})
}

// Briefer returns the maker of briefs.
func (w *Repository) Briefer() *brief.Briefer {
	return &brief.Briefer{Sources: w.TreeSources(), Finder: w.Finder(), Spec: w.Spec(), Surveys: w.Surveys()}
}

// Reviewer returns the judge of changes.
func (w *Repository) Reviewer() *review.Reviewer {
	r := &review.Reviewer{
		Sources: w.TreeSources(), Finder: w.Finder(), Spec: w.Spec(), Surveys: w.Surveys(),
		Docs: w.Config.Docs, Threshold: w.Config.Spec.Gate.Threshold, Main: w.Config.Spec.Main,
	}
	if w.Bare {
		r.AtCommit = func(ctx context.Context, commit repo.ID) (*review.Reviewer, error) {
			if err := w.ConfigAt(ctx, commit); err != nil {
				return nil, err
			}
			configured := w.Reviewer()
			configured.AtCommit = nil
			return configured, nil
		}
	}
	return r
}

// Prover returns the prover, which tests ken on the history of the repository.
func (w *Repository) Prover() *prove.Prover {
	return &prove.Prover{
		Sources: w.TreeSources(), Finder: w.Finder(), Briefer: w.Briefer(),
		Directories: survey.Options{Exclude: w.Config.Survey.Exclude, Ranks: w.Config.Survey.Ranks},
	}
}

// Summaries returns the summaries of files and directories together.
func (w *Repository) Summaries() *summary.Summaries {
	return &summary.Summaries{Registry: w.Registry, Sources: w.TreeSources(), Surveys: w.Surveys(), Author: w.Author}
}

// Documents returns the checker of documents.
func (w *Repository) Documents() *docs.Checker {
	return &docs.Checker{Workspace: w.Workspace, Policy: w.Config.Docs}
}

// FailOn returns the kinds of lines that fail a review.
func (w *Repository) FailOn() []review.Kind {
	if w.Config.Review.FailOn == nil {
		return review.DefaultFailOn
	}
	return w.Config.Review.FailOn
}

// TreeSources returns the options with which to open the work tree or a commit of the repository.
func (w *Repository) TreeSources() tree.Sources {
	return tree.Sources{Workspace: w.Workspace, Registry: w.Registry, Store: w.Store, Policy: w.Config.Registry, ReadOnly: w.ReadOnly}
}

// At returns the commit that a revision names, zero for "". In a repository without a work tree it also takes the
// configuration from that commit.
func (w *Repository) At(ctx context.Context, rev string) (repo.ID, error) {
	if rev == "" {
		return repo.ID{}, nil
	}
	commit, err := w.Commit(ctx, rev)
	if err != nil || !w.Bare {
		return commit, err
	}
	return commit, w.ConfigAt(ctx, commit)
}

// ConfigAt takes the configuration from a commit.
func (w *Repository) ConfigAt(ctx context.Context, commit repo.ID) error {
	id, ok, err := w.Git.At(ctx, commit, config.Name)
	if err != nil {
		return err
	}
	if !ok {
		w.Config = config.Config{}
		return nil
	}
	text, err := w.Git.Blobs(ctx, []repo.ID{id})
	if err != nil {
		return err
	}
	w.Config, err = config.Parse(text[0])
	return err
}
