package brief

import (
	"context"

	"ken/internal/find"
	"ken/internal/repo"
)

// maxTogether is the size of a commit that counts as one change.
const maxTogether = 30

func (r *collector) history(ctx context.Context) (h History, err error) {
	h.Cut, h.Behind = r.cut, r.t.IndexBusy
	if h.Searched, h.Since, err = r.x.History(ctx); err != nil {
		return h, err
	}
	h.LargeFiles = find.MaxTouched
	h.Large, err = r.x.CommitsLargerThan(ctx, find.MaxTouched)
	return h, err
}

const (
	lastCommits    = 3
	companionLimit = 60
)

func (r *collector) fileHistory(ctx context.Context, p repo.Path) (History, error) {
	h, err := r.history(ctx)
	if err != nil {
		return h, err
	}
	if h.Last, err = r.x.LastCommits(ctx, p, lastCommits); err != nil {
		return h, err
	}
	number, ok, err := r.x.FileNumber(ctx, p)
	if err != nil || !ok {
		return h, err
	}
	list, commits, err := r.x.Companions(ctx, number, maxTogether, companionLimit)
	if err != nil {
		return h, err
	}
	h.Commits = commits
	for _, c := range list {
		other, err := r.x.FileAt(ctx, c.File)
		if err != nil {
			return h, err
		}
		if c.Together > 1 && IsCompanion(other.Path, other.Kind) {
			h.Companions = append(h.Companions, Companion{Path: other.Path, Together: c.Together})
		}
	}
	return h, nil
}

func (r *collector) dirHistory(ctx context.Context, dir repo.Path) (History, error) {
	h, err := r.history(ctx)
	if err != nil {
		return h, err
	}
	if h.Last, err = r.x.LastCommitsBelow(ctx, dir, lastCommits); err != nil || dir == "" {
		return h, err
	}
	list, commits, err := r.x.Neighbours(ctx, dir, maxTogether, companionLimit)
	h.Commits = commits
	for _, c := range list {
		if c.Together > 1 && IsCompanion(c.Path, c.Kind) {
			h.Companions = append(h.Companions, Companion{Path: c.Path, Together: c.Together})
		}
	}
	return h, err
}
