package brief

import (
	"context"

	"ken/internal/find"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// addLimits adds what limits the history that the index has.
func (r *collector) addLimits(h *History) {
	h.Shallow = r.t.Shallow
	h.IndexBusy = r.t.IndexBusy
}

// indexedHistory returns the history of the whole repository.
func indexedHistory(ctx context.Context, x *searchindex.Index) (h History, err error) {
	if h.Searched, h.Since, err = x.History(ctx); err != nil {
		return h, err
	}
	h.LargeFiles = find.MaxTouched
	h.Large, err = x.CommitsLargerThan(ctx, find.MaxTouched)
	return h, err
}

const (
	lastCommits    = 3
	companionLimit = 60
)

// fileHistory returns the history of a file.
func fileHistory(ctx context.Context, x *searchindex.Index, p repo.Path) (History, error) {
	h, err := indexedHistory(ctx, x)
	if err != nil {
		return h, err
	}
	if h.Last, err = x.LastCommits(ctx, p, lastCommits); err != nil {
		return h, err
	}
	number, ok, err := x.PathNumber(ctx, p)
	if err != nil || !ok {
		return h, err
	}
	list, commits, err := x.Companions(ctx, number, find.MaxTogether, companionLimit)
	if err != nil {
		return h, err
	}
	h.addCompanions(list, commits)
	return h, nil
}

// dirHistory returns the history of a directory. That of the root has no companions.
func dirHistory(ctx context.Context, x *searchindex.Index, dir repo.Path) (History, error) {
	h, err := indexedHistory(ctx, x)
	if err != nil {
		return h, err
	}
	if h.Last, err = x.LastCommitsBelow(ctx, dir, lastCommits); err != nil || dir == "" {
		return h, err
	}
	list, commits, err := x.CompanionsOfDir(ctx, dir, find.MaxTogether, companionLimit)
	h.addCompanions(list, commits)
	return h, err
}

// addCompanions adds the files that change with a place, which a number of commits touched.
func (h *History) addCompanions(list []searchindex.Companion, commits int) {
	h.Commits = commits
	for _, c := range list {
		if c.Together > 1 && IsCompanion(c.Path, c.Kind) {
			h.Companions = append(h.Companions, Companion{Path: c.Path, Together: c.Together})
		}
	}
}
