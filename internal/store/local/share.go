package local

import (
	"context"

	"ken/internal/store"
	"ken/internal/store/sqlite"
)

var _ store.Records = (*Store)(nil)

// Since implements [store.Records]. A mark of main is invalid in the spool, and the other way round.
func (s *Store) Since(ctx context.Context, mark store.Mark, most int) ([]store.Record, store.Mark, error) {
	type part struct {
		list []store.Record
		next store.Mark
	}
	p, err := use(ctx, s, false, func(db *sqlite.Store) (part, error) {
		list, next, err := db.Since(ctx, mark, most)
		return part{list, next}, err
	})
	return p.list, p.next, err
}

// AddRecords implements [store.Records].
func (s *Store) AddRecords(ctx context.Context, list []store.Record) error {
	if len(list) == 0 {
		return ctx.Err()
	}
	return s.change(ctx, func(db *sqlite.Store) error { return db.AddRecords(ctx, list) })
}
