package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"ken/internal/atomicfile"
	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/prove"
	"ken/internal/repo"
	"ken/internal/survey"
)

// Prove replays the history of HEAD by the repository's policy as it is now.
func (w *workspace) Prove(ctx context.Context, opts cli.ProveOptions) (*prove.Report, error) {
	if opts.Plot != "" {
		if err := checkPlot(opts.Plot); err != nil {
			return nil, err
		}
	}
	h, err := w.history(ctx, opts)
	if err != nil {
		return nil, err
	}
	a := survey.Assumptions()
	r := prove.Replay(h, prove.Options{
		Counts: w.cfg.Registry.Counts,
		Assumed: prove.Assumed{
			BytesPerToken: survey.BytesPerToken, Brief: survey.DefaultBudget,
			ReadBytes: a.ReadBytes, Text: a.Text, Apart: a.Apart, Answer: a.Answer,
		},
	})
	if opts.Plot == "" {
		return r, ctx.Err()
	}
	return r, writePlot(opts.Plot, r)
}

// history reads the newest commits of HEAD with all that a replay has to know of them.
func (w *workspace) history(ctx context.Context, opts cli.ProveOptions) (prove.History, error) {
	h := prove.History{Asked: opts.Commits}
	head, err := w.git.Head(ctx)
	if err != nil || head.Commit.IsZero() {
		return h, err
	}
	var commits []repo.Commit // the newest first
	var files []git.TreeFile  // of the newest
	both, bothCtx := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		h.Cut, err = w.git.FirstParents(bothCtx, head.Commit, opts.Commits, func(c repo.Commit) error {
			c.Trailers = nil
			commits = append(commits, c)
			return nil
		})
		return err
	})
	both.Go(func() (err error) {
		files, err = w.git.EntriesAt(bothCtx, head.Commit)
		return err
	})
	if err := both.Wait(); err != nil {
		return h, err
	}
	slices.Reverse(commits)
	h.Whole = !h.Cut && len(commits) > 0 && len(commits[0].Parents) == 0
	before, err := treeBefore(files, commits)
	if err != nil {
		return h, err
	}
	known, err := w.contents(ctx, before, commits, opts.Progress)
	if err != nil {
		return h, err
	}
	for _, p := range before {
		h.Before = append(h.Before, prove.Entry{Path: p.path, File: known.file(p)})
	}
	h.Commits = make([]prove.Commit, len(commits))
	for i, c := range commits {
		h.Commits[i] = prove.Commit{ID: c.ID, Subject: c.Subject, Merge: len(c.Parents) > 1, Changes: make([]prove.Change, len(c.Changes))}
		for k, ch := range c.Changes {
			h.Commits[i].Changes[k] = prove.Change{Path: ch.Path, Old: known.file(oldPlace(ch)), New: known.file(newPlace(ch))}
		}
	}
	return h, w.gradeAll(ctx, h.Commits, opts.Progress)
}

// A place is a content at a path of some tree. Without a content there is nothing.
type place struct {
	path repo.Path
	id   repo.ID
	mode repo.Mode
}

func oldPlace(c repo.Change) place { return place{c.Path, c.Old, c.OldMode} }
func newPlace(c repo.Change) place { return place{c.Path, c.New, c.NewMode} }

// regular reports whether it is a file with bytes of its own.
func (p place) regular() bool { return !p.id.IsZero() && p.mode.SameType(repo.Regular) }

// treeBefore returns the tree that the first of some commits was made on, by going back
// from the files of the last: one listing, however many they are.
func treeBefore(files []git.TreeFile, commits []repo.Commit) ([]place, error) {
	at := make(map[repo.Path]place, len(files))
	for _, f := range files {
		at[f.Path] = place{f.Path, f.ID, f.Mode}
	}
	for _, c := range slices.Backward(commits) {
		for _, ch := range c.Changes {
			if there := at[ch.Path]; there.id != ch.New || there.mode != ch.NewMode {
				return nil, fmt.Errorf("replay %s: it does not lead to what comes after it at %s", c.ID.Short(), ch.Path)
			}
			if p := oldPlace(ch); p.id.IsZero() {
				delete(at, ch.Path)
			} else {
				at[ch.Path] = p
			}
		}
	}
	list := make([]place, 0, len(at))
	for _, p := range at {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b place) int { return strings.Compare(string(a.path), string(b.path)) })
	return list, nil
}

// checkPlot finds out whether a plot can be written before any work is done for it.
func checkPlot(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return &fault.Error{
			Kind: fault.Usage, Hint: "name a file: ken prove --plot " + fault.Quote(filepath.Join(name, "prove.svg")),
			Err: fmt.Errorf("plot: %s is not a file", name),
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".ken-plot-*")
	if err != nil {
		why := err
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			why = e.Err
		}
		return &fault.Error{
			Hint: "name a file where you may write: ken prove --plot " + fault.Quote(filepath.Join(os.TempDir(), "prove.svg")),
			Err:  fmt.Errorf("plot: write into %s: %w", filepath.Dir(name), why),
		}
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func writePlot(name string, r *prove.Report) error {
	var plot bytes.Buffer
	err := prove.Plot(&plot, r)
	if err == nil {
		err = atomicfile.Write(name, plot.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("plot: write %s: %w", name, err)
	}
	return nil
}
