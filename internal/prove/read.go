package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"ken/internal/git"
	"ken/internal/repo"
)

// ReadHistory reads the newest commits of HEAD with everything that a replay needs. It reports to progress.
func (w *Prover) ReadHistory(ctx context.Context, commits int, progress func(done, total int)) (History, error) {
	h := History{Asked: commits}
	head, err := w.git().Head(ctx)
	if err != nil || head.Commit.IsZero() {
		return h, err
	}
	var newest []repo.Commit // the newest first, reversed later
	var files []git.TreeFile // of the newest commit
	both, bothCtx := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		h.Cut, err = w.git().FirstParents(bothCtx, head.Commit, commits, func(c repo.Commit) error {
			c.Trailers = nil
			newest = append(newest, c)
			return nil
		})
		return err
	})
	both.Go(func() (err error) {
		files, err = w.git().EntriesAt(bothCtx, head.Commit)
		return err
	})
	if err := both.Wait(); err != nil {
		return h, err
	}
	slices.Reverse(newest)
	h.Whole = !h.Cut && len(newest) > 0 && len(newest[0].Parents) == 0
	before, err := treeBefore(files, newest)
	if err != nil {
		return h, err
	}
	known, err := w.contents(ctx, before, newest, progress)
	if err != nil {
		return h, err
	}
	for _, p := range before {
		h.Before = append(h.Before, Entry{Path: p.path, File: known.file(p)})
	}
	h.Commits = make([]Commit, len(newest))
	for i, c := range newest {
		h.Commits[i] = Commit{ID: c.ID, Subject: c.Subject, Task: c.Subject, Merge: len(c.Parents) > 1, Changes: make([]Change, len(c.Changes))}
		if len(c.Parents) > 0 {
			h.Commits[i].Parent = c.Parents[0]
		}
		for k, ch := range c.Changes {
			h.Commits[i].Changes[k] = Change{Path: ch.Path, Old: known.file(oldPlace(ch)), New: known.file(newPlace(ch))}
		}
	}
	if err := w.mergedSubjects(ctx, newest, h.Commits); err != nil {
		return h, err
	}
	from := 0
	if len(before) == 0 {
		from = len(newest) / 2
	}
	h.Followed = len(newest) - from
	if h.Mentions, err = w.mentions(ctx, before, newest, from); err != nil {
		return h, err
	}
	return h, w.gradeAll(ctx, h.Commits, progress)
}

// mergedSubjects sets the subject of each merge to that of the merged commit: its own says only that it is a
// merge.
func (w *Prover) mergedSubjects(ctx context.Context, commits []repo.Commit, list []Commit) error {
	merges := make(map[repo.ID][]int)
	var ids []repo.ID
	for i, c := range commits {
		if len(c.Parents) != 2 {
			continue
		}
		if merges[c.Parents[1]] == nil {
			ids = append(ids, c.Parents[1])
		}
		merges[c.Parents[1]] = append(merges[c.Parents[1]], i)
	}
	if len(ids) == 0 {
		return nil
	}
	return w.git().Commits(ctx, ids, func(c repo.Commit) error {
		for _, i := range merges[c.ID] {
			list[i].Task = c.Subject
		}
		return nil
	})
}

// A place is a content at a path of some tree. A zero content means no file.
type place struct {
	path repo.Path
	id   repo.ID
	mode repo.Mode
}

func oldPlace(c repo.Change) place { return place{c.Path, c.Old, c.OldMode} }
func newPlace(c repo.Change) place { return place{c.Path, c.New, c.NewMode} }

// regular reports whether the place has a regular file.
func (p place) regular() bool { return !p.id.IsZero() && p.mode.SameType(repo.Regular) }

// treeBefore returns the tree before the first of some commits, by undoing the commits from the files of the last.
// This takes one listing, for any number of commits.
func treeBefore(files []git.TreeFile, commits []repo.Commit) ([]place, error) {
	at := make(map[repo.Path]place, len(files))
	for _, f := range files {
		at[f.Path] = place{f.Path, f.ID, f.Mode}
	}
	for _, c := range slices.Backward(commits) {
		for _, ch := range c.Changes {
			if there := at[ch.Path]; there.id != ch.New || there.mode != ch.NewMode {
				return nil, fmt.Errorf("replay %s: its result at %s differs from the next commit's input", c.ID.Short(), ch.Path)
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
