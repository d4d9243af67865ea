package workflow

import (
	"context"
	"slices"
	"time"

	"ken/internal/contract"
	"ken/internal/state"
)

// Evict moves what must not outlive its workflow into the archive: the markers
// that satisfy gates, whoever wrote them, and the workflow-scoped files and slug
// variants that the session at hand did not write. Who wrote a file is the
// journal's to say; where it is silent, a file older than the session's start
// is not the session's. Without a start, those stay.
func (k *Keeper) Evict(ctx context.Context, dry bool) (*Sweep, error) {
	return k.sweep(ctx, "evict", dry, func() ([]state.Move, error) {
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
		return planEvict(k.c, entries, func(e state.Entry) string { return s.foreign(e, by) }), nil
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
func planEvict(c *contract.Contract, entries []state.Entry, foreign func(state.Entry) string) []state.Move {
	var moves []state.Move
	for _, e := range entries {
		bucket := classify(c, e)
		if bucket != contract.Canonical && bucket != contract.PatternAllowed {
			continue
		}
		reason := ""
		switch c.Evicts(e.Name) {
		case contract.Always:
			reason = "allowlist"
		case contract.Scoped:
			if why := foreign(e); why != "" {
				reason = scope(bucket) + ": " + why
			}
		case contract.Stays:
		}
		if reason != "" {
			moves = append(moves, newMove(c, e, reason))
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
func (s session) foreign(e state.Entry, by author) string {
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
