package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
)

// Survey answers for the directories of the work tree.
func (w *workspace) Survey(ranks map[repo.Path]survey.Rank) *survey.Survey {
	return w.surveyOf(w.workTree(), ranks)
}

// Standings counts the summaries of directories by state. It returns nil if nobody wrote one yet
// and no attempt failed. rep is the report on the files; verified says that the registry recorded it.
//
// If rep is verified or found no change, Standings can use cached verdicts. Otherwise, or if within
// names paths, it reads the files again and writes nothing.
func (w *workspace) Standings(ctx context.Context, rep *registry.Report, verified bool, within []repo.Path) (*survey.DirCounts, error) {
	described, err := w.store.Describes(ctx)
	if err != nil {
		return nil, err
	}
	if !described {
		failed, err := w.store.Failures(ctx)
		if err != nil || len(failed) == 0 {
			return nil, err
		}
	}
	if len(within) > 0 || !verified && rep.State != registry.StateTrust {
		reader := &worktreeReader{files: w}
		s, err := reader.survey(ctx)
		if err != nil {
			return nil, err
		}
		return s.DirCounts(ctx, within)
	}
	t := &surveyTree{w: w, unsaved: !verified}
	t.looked.Do(func() { t.take(rep) })
	return w.surveyOf(t, nil).DirCounts(ctx, nil)
}

func (w *workspace) surveyOf(tree survey.Tree, ranks map[repo.Path]survey.Rank) *survey.Survey {
	all := maps.Clone(w.cfg.Survey.Ranks)
	if all == nil {
		all = make(map[repo.Path]survey.Rank)
	}
	maps.Copy(all, ranks)
	opts := survey.Options{Exclude: w.cfg.Survey.Exclude, Ranks: all, Counts: w.cfg.Registry.Counts}
	switch tree := tree.(type) {
	case *surveyTree:
		opts.StaleMentions = w.staleMentions()
		if !tree.unkept {
			opts.Memo = &surveyMemo{surveyTree: tree, ranks: ranks}
			opts.KeepOutlines = !tree.unsaved
		}
	case *commitTree:
		opts.Past = true
	}
	return survey.New(tree, w.store, opts)
}

// Dispatcher hands the directories out.
func (w *workspace) Dispatcher() *survey.Dispatcher {
	d := survey.NewDispatcher(w.Survey(nil), w.store, w.git.Worktree(), rand.Text)
	d.Ticks = ticks
	return d
}

// ticks implements [survey.Ticks].
func ticks(pause time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(pause)
	return t.C, t.Stop
}

// Next leases a directory to the agent or person who asks.
func (w *workspace) Next(ctx context.Context, opts survey.NextOptions) (*survey.NextItem, error) {
	if opts.Holder == "" {
		opts.Holder = author(ctx, w.git, w.author)
	}
	return w.Dispatcher().Next(ctx, opts)
}

// Submit takes in what an agent wrote. What it says of files is kept for the contents
// that the work item held.
func (w *workspace) Submit(ctx context.Context, sub survey.Submission) (*survey.Submitted, error) {
	if sub.Author == "" {
		sub.Author = author(ctx, w.git, w.author)
	}
	done, err := w.Dispatcher().Submit(ctx, sub)
	if err != nil || done.Result == survey.SubmitFenced || done.Result == survey.SubmitRejected {
		return done, err
	}
	refused, err := w.keepFiles(ctx, sub.Author, sub.Path, done.Basis, sub.Files)
	if len(refused) > 0 {
		refused = slices.Sorted(slices.Values(refused))
		if done.Reason != "" {
			done.Reason += "; "
		}
		done.Reason += "not kept: " + strings.Join(refused, ", ")
	}
	return done, err
}

// keepFiles keeps what was said of a directory's files. What it does not keep, it names
// with the reason.
func (w *workspace) keepFiles(ctx context.Context, author string, dir repo.Path, basis store.DirBasis, texts map[repo.Path]string) (refused []string, err error) {
	var updates []registry.Update
	texts = maps.Clone(texts)
	for _, f := range basis.Files {
		path := repo.Path(f.Name)
		if dir != "" {
			path = dir + "/" + path
		}
		if text, ok := texts[path]; ok {
			updates = append(updates, registry.Update{Path: path, Text: text, Read: f.ID.String(), Author: author})
			delete(texts, path)
		}
	}
	for path := range texts {
		refused = append(refused, fmt.Sprintf("%s (not one of its files)", path))
	}
	if len(updates) == 0 {
		return refused, nil
	}
	written, err := w.registry.Write(ctx, updates)
	for i, u := range written {
		if u.Result == registry.Rejected {
			refused = append(refused, fmt.Sprintf("%s (%s)", updates[i].Path, u.Reason))
		}
	}
	return refused, err
}
