package content

import (
	"context"

	"ken/internal/repo"
)

// Edited lists the tracked files that differ from the index or are missing. Line endings that git normalizes
// do not count. The effect of a clean filter is unknown, so a filtered file counts only if it was written
// since.
func (t *Tree) Edited(ctx context.Context, entries []repo.Entry) ([]repo.Path, error) {
	found, err := t.Stat(ctx, entries)
	if err != nil {
		return nil, err
	}
	var edited []repo.Path
	var wants []repo.ReadRequest
	var ids []repo.ID
	for i := range entries {
		e, f := &entries[i], &found[i]
		switch {
		case e.Mode == repo.Gitlink || e.Flags&(repo.SkipWorktree|repo.AssumeUnchanged) != 0:
		case e.Flags.Has(repo.Conflicted) || f.Presence != repo.RegularFile && f.Presence != repo.Link:
			edited = append(edited, e.Path)
		case e.Flags&(repo.Racy|repo.IntentToAdd) != 0 || !f.Stat.MatchesIndex(e.Stat):
			wants = append(wants, repo.ReadRequest{Path: e.Path, Convert: repo.ConvertText})
			ids = append(ids, e.ID)
		}
	}
	readings, err := t.Read(ctx, wants)
	if err != nil {
		return nil, err
	}
	for i, r := range readings {
		if r.Err != nil || r.Raw.ID != ids[i] && r.Converted != ids[i] {
			edited = append(edited, wants[i].Path)
		}
	}
	return edited, nil
}
