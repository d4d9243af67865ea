package ken

import (
	"context"
	"crypto/rand"
	"time"

	"ken/internal/docs"
	"ken/internal/repo"
	"ken/internal/survey"
)

// Surveys returns the factory of the surveys of all trees.
func (r *Repository) Surveys() *survey.Factory {
	c := r.Config.Survey
	stale, _ := docs.StaleMentions(r.Workspace)
	return &survey.Factory{Sources: r.TreeSources(), Exclude: c.Exclude, Ranks: c.Ranks, StaleMentions: stale}
}

// Survey returns the survey of the work tree.
func (r *Repository) Survey(ranks map[repo.Path]survey.Rank) *survey.Survey {
	return r.Surveys().WorkTree(ranks)
}

// Dispatcher returns the dispatcher that leases directories of the work tree.
func (r *Repository) Dispatcher() *survey.Dispatcher {
	d := survey.NewDispatcher(r.Survey(nil), r.Store, r.Git.Worktree(), rand.Text)
	d.Ticks = Ticks
	d.Registry = r.Registry
	return d
}

// Ticks is a [survey.TickerFunc] that uses a real ticker.
func Ticks(pause time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(pause)
	return t.C, t.Stop
}

// Next leases a directory to the agent or person who asks.
func (r *Repository) Next(ctx context.Context, opts survey.NextOptions) (*survey.NextItem, error) {
	if opts.Holder == "" {
		opts.Holder = r.Author(ctx)
	}
	return r.Dispatcher().Next(ctx, opts)
}

// Submit stores the summaries that an agent wrote.
func (r *Repository) Submit(ctx context.Context, sub survey.Submission) (*survey.Submitted, error) {
	if sub.Author == "" {
		sub.Author = r.Author(ctx)
	}
	return r.Dispatcher().Submit(ctx, sub)
}
