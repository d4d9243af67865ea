package local

import (
	"context"

	"ken/internal/store/sqlite"
)

// Remembered returns the value that Remember last stored under a key, "" if there is none.
func (s *Store) Remembered(ctx context.Context, key string) (string, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (string, error) { return db.Remembered(ctx, key) })
}

// Remember stores a value under a key; "" removes it.
func (s *Store) Remember(ctx context.Context, key, value string) error {
	_, err := use(ctx, s, true, func(db *sqlite.Store) (struct{}, error) {
		return struct{}{}, db.Remember(ctx, key, value)
	})
	return err
}
