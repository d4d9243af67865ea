package local

import (
	"context"

	"ken/internal/share"
	"ken/internal/store/sqlite"
)

var _ share.Store = (*Store)(nil)

// Since implements [share.Store]. A mark that was made while the git directory could not
// be written is worth nothing afterwards, nor the other way round.
func (s *Store) Since(ctx context.Context, mark share.Mark, most int) ([]share.Record, share.Mark, error) {
	type part struct {
		list []share.Record
		next share.Mark
	}
	p, err := use(ctx, s, false, func(db *sqlite.Store) (part, error) {
		list, next, err := db.Since(ctx, mark, most)
		return part{list, next}, err
	})
	return p.list, p.next, err
}

// Absorb implements [share.Store].
func (s *Store) Absorb(ctx context.Context, list []share.Record) error {
	if len(list) == 0 {
		return ctx.Err()
	}
	_, err := use(ctx, s, true, func(db *sqlite.Store) (struct{}, error) {
		return struct{}{}, db.Absorb(ctx, list)
	})
	return err
}
