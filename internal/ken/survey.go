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
func (w *Repository) Surveys() *survey.Factory {
	c := w.Config.Survey
	return &survey.Factory{Sources: w.TreeSources(), Exclude: c.Exclude, Ranks: c.Ranks, StaleMentions: docs.StaleMentions(w.Workspace)}
}

// Survey returns the survey of the work tree.
func (w *Repository) Survey(ranks map[repo.Path]survey.Rank) *survey.Survey {
	return w.Surveys().WorkTree(ranks)
}

// Dispatcher returns the dispatcher that leases directories of the work tree.
func (w *Repository) Dispatcher() *survey.Dispatcher {
	d := survey.NewDispatcher(w.Survey(nil), w.Store, w.Git.Worktree(), rand.Text)
	d.Ticks = Ticks
	d.Registry = w.Registry
	return d
}

// Ticks is a [survey.TickerFunc] that uses a real ticker.
func Ticks(pause time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(pause)
	return t.C, t.Stop
}

// Next leases a directory to the agent or person who asks.
func (w *Repository) Next(ctx context.Context, opts survey.NextOptions) (*survey.NextItem, error) {
	if opts.Holder == "" {
		opts.Holder = w.Author(ctx)
	}
	return w.Dispatcher().Next(ctx, opts)
}

// Submit stores the summaries that an agent wrote.
func (w *Repository) Submit(ctx context.Context, sub survey.Submission) (*survey.Submitted, error) {
	if sub.Author == "" {
		sub.Author = w.Author(ctx)
	}
	return w.Dispatcher().Submit(ctx, sub)
}
