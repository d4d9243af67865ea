package workflow

import (
	"context"
	"slices"
	"time"

	"ken/internal/contract"
	"ken/internal/state"
)

// Evict moves all gate markers to the archive, and the workflow-scoped
// files and slug variants that the current session did not write. The journal says
// who wrote a file. If it has no record, a file older than the start of the session is
// not the session's. If the start is unknown, the file stays.
func (m *Manager) Evict(ctx context.Context, dry bool) (*Sweep, error) {
	return m.sweep(ctx, "evict", dry, func() ([]state.Move, error) {
		d, err := m.load()
		if err != nil {
			return nil, err
		}
		s := d.session(m.opts.Now())
		entries, err := m.dir.Entries(ctx)
		if err != nil {
			return nil, err
		}
		by, err := m.authors()
		if err != nil {
			return nil, err
		}
		return planEvict(m.c, entries, func(e state.Entry) string { return s.foreign(e, by) }), nil
	})
}

// An author returns the workflow that wrote the current content of a file; ok is false
// if that is unknown.
type author func(name string) (workflow string, ok bool)

// authors returns the authors recorded in the journal.
func (m *Manager) authors() (author, error) {
	j, err := m.journal()
	if err != nil {
		return nil, err
	}
	records := j.last()
	return func(name string) (string, bool) {
		r, ok := records[name]
		if !ok || r.WorkflowID == "" {
			return "", false
		}
		sum, err := m.dir.Digest(name)
		return r.WorkflowID, err == nil && r.wrote(sum)
	}, nil
}

// planEvict lists the files to move. foreign returns why a scoped file moves, "" if it
// stays.
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

// foreign returns why an entry is not the session's, "" if it is or if that is unknown.
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
