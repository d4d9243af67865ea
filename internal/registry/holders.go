package registry

import (
	"context"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// holders finds which tracked path holds a content. It looks with the first question:
// hardly a write asks one.
type holders struct {
	*Registry

	snap *repo.Snapshot
	by   map[fresh.Basis]repo.Path // by the id, and by the md5 alone
}

// holding returns another path that holds c, if c is nothing that was seen at the path of
// the subject: not in its row, nor in the index, nor in HEAD.
func (h *holders) holding(ctx context.Context, c repo.Content, s *subject) (repo.Path, error) {
	about := fresh.Basis{Content: c}
	if about.Holds(s.now.Content) || about.Holds(s.before.Content) {
		return "", nil
	}
	if i, ok := find(h.snap.Index.Entries, s.path); ok && about.Holds(repo.Content{ID: h.snap.Index.Entries[i].ID}) {
		return "", nil
	}
	if h.by == nil {
		if err := h.look(ctx); err != nil {
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

// look notes what the index holds, and what rows say of the paths in it. What is held by
// several paths counts for one of them.
func (h *holders) look(ctx context.Context) error {
	h.by = map[fresh.Basis]repo.Path{}
	for i := range h.snap.Index.Entries {
		e := &h.snap.Index.Entries[i]
		h.by[fresh.Basis{Content: repo.Content{ID: e.ID}}] = e.Path
	}
	for row, err := range h.store.Rows(ctx, h.snap.Worktree) {
		if err != nil {
			return err
		}
		if _, tracked := find(h.snap.Index.Entries, row.Path); tracked {
			h.by[fresh.Basis{Content: repo.Content{ID: row.Content.ID}}] = row.Path
			h.by[fresh.Basis{Content: repo.Content{MD5: row.Content.MD5}}] = row.Path
		}
	}
	delete(h.by, fresh.Basis{})
	return nil
}
