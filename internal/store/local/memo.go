package local

import (
	"context"

	"ken/internal/store/sqlite"
)

// Value returns the value that SetValue last stored under a key, "" if there is none.
func (s *Store) Value(ctx context.Context, key string) (string, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (string, error) { return db.Value(ctx, key) })
}

// SetValue stores a value under a key; "" removes it.
func (s *Store) SetValue(ctx context.Context, key, value string) error {
	_, err := use(ctx, s, true, func(db *sqlite.Store) (struct{}, error) {
		return struct{}{}, db.SetValue(ctx, key, value)
	})
	return err
}
