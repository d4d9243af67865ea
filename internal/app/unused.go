package app

import (
	"context"
	"errors"
	"fmt"

	"ken/internal/fresh"
)

// unusedRemarks say which records ken ignores and why, one line for each reason.
func unusedRemarks(list []fresh.Unused) []string {
	var remarks []string
	for _, why := range []error{fresh.ErrDamaged, fresh.ErrAhead} {
		n, first := 0, ""
		for _, u := range list {
			if !errors.Is(u.Why, why) {
				continue
			}
			if n++; n == 1 {
				first = u.Label()
			}
		}
		switch {
		case n == 1:
			remarks = append(remarks, fmt.Sprintf("ignores a record about %s: %v; see what to do with: ken doctor", first, why))
		case n > 1:
			remarks = append(remarks, fmt.Sprintf("ignores %d records, one of them about %s: %v; see what to do with: ken doctor", n, first, why))
		}
	}
	return remarks
}

// Unused reads every record, and returns those that ken ignores.
func (w *workspace) Unused(ctx context.Context) ([]fresh.Unused, error) { return w.store.Examine(ctx) }

// RemoveUnused removes the damaged records, and returns them.
func (w *workspace) RemoveUnused(ctx context.Context) ([]fresh.Unused, error) {
	return w.store.RemoveUnused(ctx)
}
