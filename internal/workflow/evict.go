package workflow

import (
	"context"
	"slices"
	"time"

	"ken/internal/contract"
)

// Evict moves what must not outlive its workflow into the archive: the markers
// that satisfy gates, whoever wrote them, and the workflow-scoped files and slug
// variants that the session at hand did not write. Who wrote a file is the
// journal's to say; where it is silent, a file older than the session's start
// is not the session's. Without a start, those stay.
func (k *Keeper) Evict(ctx context.Context, dry bool) (*Sweep, error) {
	return k.sweep(ctx, "evict", dry, func() ([]Move, error) {
		s, err := k.sessionNow()
		if err != nil {
			return nil, err
		}
		entries, err := k.dir.Entries(ctx)
		if err != nil {
			return nil, err
		}
		by, err := k.authors()
		if err != nil {
			return nil, err
		}
		return planEvict(k.c, entries, func(e contract.Entry) string { return s.foreign(e, by) }), nil
	})
}

// An author says which workflow wrote the present content of a file; ok is false
// when nobody knows.
type author func(name string) (workflow string, ok bool)

// authors returns what the journal knows.
func (k *Keeper) authors() (author, error) {
	j, err := k.journal()
	if err != nil {
		return nil, err
	}
	words := j.last()
	return func(name string) (string, bool) {
		r, ok := words[name]
		if !ok || r.WorkflowID == "" {
			return "", false
		}
		sum, err := k.dir.Digest(name)
		return r.WorkflowID, err == nil && r.vouches(sum)
	}, nil
}

// planEvict lists what leaves; foreign says why a scoped file does, "" if it may
// stay.
func planEvict(c *contract.Contract, entries []contract.Entry, foreign func(contract.Entry) string) []Move {
	var moves []Move
	for _, e := range entries {
		move := Move{Name: e.Name, Bucket: c.Classify(e)}
		if move.Bucket != contract.Canonical && move.Bucket != contract.PatternAllowed {
			continue
		}
		switch c.Evicts(e.Name) {
		case contract.Always:
			move.Reason = "allowlist"
		case contract.Scoped:
			if why := foreign(e); why != "" {
				move.Reason = scope(move.Bucket) + ": " + why
			}
		case contract.Stays:
		}
		if move.Reason != "" {
			moves = append(moves, move)
		}
	}
	return moves
}

func scope(b contract.Bucket) string {
	if b == contract.PatternAllowed {
		return "slug_variant"
	}
	return "workflow_scoped"
}

// wrote reports whether the session is known to have written a file.
func (s session) wrote(name string, by author) bool {
	id, ok := by(name)
	return ok && slices.Contains(s.ids, id)
}

// foreign says why an entry is not the session's, "" if it is or nobody knows.
func (s session) foreign(e contract.Entry, by author) string {
	if id, ok := by(e.Name); ok && len(s.ids) > 0 {
		if slices.Contains(s.ids, id) {
			return ""
		}
		return "written by workflow " + id
	}
	if s.start.IsZero() || !e.ModTime.Before(s.start) {
		return ""
	}
	return "older than the session, which began at " + s.start.UTC().Format(time.RFC3339Nano)
}
