package workflow

import (
	"context"

	"ken/internal/contract"
	"ken/internal/state"
)

// Reset moves all entries that are not exempt to one snapshot.
func (m *Manager) Reset(ctx context.Context, dry bool) (*Sweep, error) {
	return m.sweep(ctx, "reset", dry, func() ([]state.Move, error) {
		entries, err := m.dir.Entries(ctx)
		return planReset(m.c, entries), err
	})
}

func planReset(c *contract.Contract, entries []state.Entry) []state.Move {
	var moves []state.Move
	for _, e := range entries {
		bucket := classify(c, e)
		if exempt(c, e, bucket) || isOwn(c, e.Name) {
			continue
		}
		moves = append(moves, newMove(c, e, "not exempt from reset"))
	}
	return moves
}

// exempt reports whether an entry survives a reset. An entry that could not be
// inspected is judged by its name, so that ken's own files stay. So do the sessions of devt.
func exempt(c *contract.Contract, e state.Entry, b contract.Bucket) bool {
	f, known := c.File(e.Name)
	stays := known && f.Exempt || c.IsInstance(e.Name)
	return stays && (b == contract.Canonical || b == contract.Unknown)
}
