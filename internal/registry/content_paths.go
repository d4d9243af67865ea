package registry

import (
	"context"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// contentPaths finds the tracked path that has a content. It loads the paths at the first call, since hardly any write
// needs them.
type contentPaths struct {
	*Registry

	snap *repo.Snapshot
	by   map[fresh.Basis]repo.Path // by the id, and by the md5 alone
}

// otherPathWith returns another path that has content c, if neither the row, nor the index, nor HEAD has c at the path of
// the subject.
func (h *contentPaths) otherPathWith(ctx context.Context, c repo.Content, s *subject) (repo.Path, error) {
	about := fresh.Basis{Content: c}
	if about.Matches(s.now.Content) || about.Matches(s.before.Content) {
		return "", nil
	}
	if i, ok := repo.FindEntry(h.snap.Index.Entries, s.path); ok && about.Matches(repo.Content{ID: h.snap.Index.Entries[i].ID}) {
		return "", nil
	}
	if h.by == nil {
		if err := h.load(ctx); err != nil {
			return "", err
		}
	}
	other := h.by[about.Key()]
	if other == "" || h.snap.Head.Commit.IsZero() {
		return other, nil
	}
	id, ok, err := h.git.At(ctx, h.snap.Head.Commit, s.path)
	if err != nil || ok && id == c.ID {
		return "", err
	}
	return other, nil
}

// load loads the contents of the index and of its rows. If several paths have a content, one of them counts.
func (h *contentPaths) load(ctx context.Context) error {
	h.by = map[fresh.Basis]repo.Path{}
	for i := range h.snap.Index.Entries {
		e := &h.snap.Index.Entries[i]
		h.by[fresh.Basis{Content: repo.Content{ID: e.ID}}] = e.Path
	}
	for row, err := range h.store.Rows(ctx, h.snap.Worktree) {
		if err != nil {
			return err
		}
		if _, tracked := repo.FindEntry(h.snap.Index.Entries, row.Path); tracked {
			h.by[fresh.Basis{Content: repo.Content{ID: row.Content.ID}}] = row.Path
			h.by[fresh.Basis{Content: repo.Content{MD5: row.Content.MD5}}] = row.Path
		}
	}
	delete(h.by, fresh.Basis{})
	return nil
}
