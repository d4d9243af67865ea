package ken

import (
	"context"
	"path/filepath"

	"ken/internal/brief"
	"ken/internal/config"
	"ken/internal/docs"
	"ken/internal/find"
	"ken/internal/repo"
	"ken/internal/review"
	"ken/internal/session"
	"ken/internal/spec"
	"ken/internal/summary"
	"ken/internal/tree"
)

// Finder returns the search of the repository.
func (r *Repository) Finder() *find.Finder { return &find.Finder{Sources: r.TreeSources()} }

// Spec returns the reader of the specs in the work tree.
func (r *Repository) Spec() *spec.Reader {
	return spec.NewReader(r.Workspace, spec.Options{Main: r.Config.Spec.Main, Loaded: r.LoadedSpecs})
}

// Briefer returns the maker of briefs.
func (r *Repository) Briefer() *brief.Briefer {
	return &brief.Briefer{Sources: r.TreeSources(), Finder: r.Finder(), Spec: r.Spec(), Surveys: r.Surveys()}
}

// Reviewer returns the judge of changes.
func (r *Repository) Reviewer() *review.Reviewer {
	reviewer := &review.Reviewer{
		Sources: r.TreeSources(), Finder: r.Finder(), Spec: r.Spec(), Surveys: r.Surveys(),
		Docs: r.Config.Docs, Threshold: int(r.Config.Spec.Threshold), Main: r.Config.Spec.Main,
	}
	if r.Bare {
		reviewer.AtCommit = func(ctx context.Context, commit repo.ID) (*review.Reviewer, error) {
			if err := r.ConfigAt(ctx, commit); err != nil {
				return nil, err
			}
			configured := r.Reviewer()
			configured.AtCommit = nil
			return configured, nil
		}
	}
	return reviewer
}

// Summaries returns the summaries of files and directories together.
func (r *Repository) Summaries() *summary.Summaries {
	return &summary.Summaries{Registry: r.Registry, Sources: r.TreeSources(), Surveys: r.Surveys(), Author: r.Author}
}

// Documents returns the checker of documents.
func (r *Repository) Documents() *docs.Checker {
	return &docs.Checker{Workspace: r.Workspace, Policy: r.Config.Docs}
}

// TreeSources returns the options with which to open the work tree or a commit of the repository.
func (r *Repository) TreeSources() tree.Sources {
	return tree.Sources{Workspace: r.Workspace, Registry: r.Registry, Store: r.Store, Policy: r.Config.Registry, ReadOnly: r.ReadOnly}
}

// At returns the commit that a revision names, zero for "". In a repository without a work tree it also takes the
// configuration from that commit.
func (r *Repository) At(ctx context.Context, rev string) (repo.ID, error) {
	if rev == "" {
		return repo.ID{}, nil
	}
	commit, err := r.Commit(ctx, rev)
	if err != nil || !r.Bare {
		return commit, err
	}
	return commit, r.ConfigAt(ctx, commit)
}

// ConfigAt takes the configuration from a commit.
func (r *Repository) ConfigAt(ctx context.Context, commit repo.ID) error {
	id, ok, err := r.Git.At(ctx, commit, config.Name)
	if err != nil {
		return err
	}
	if !ok {
		r.Config = Config{}
		return nil
	}
	text, err := r.Git.Blobs(ctx, []repo.ID{id})
	if err != nil {
		return err
	}
	r.Config, err = ParseConfig(text[0])
	return err
}

// Memories returns what the client of an agent remembers about the repository outside of it; client "" means all clients.
func (r *Repository) Memories(client string) []session.Memory {
	return session.Memories(client, []string{filepath.Dir(r.Git.CommonDir()), r.Git.Root()})
}
