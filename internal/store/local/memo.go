package local

import (
	"context"

	"ken/internal/store/sqlite"
)

// Remembered returns what Remember was last given under a key, "" for nothing.
func (s *Store) Remembered(ctx context.Context, key string) (string, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (string, error) { return db.Remembered(ctx, key) })
}

// Remember keeps a value beside what it speaks of; "" forgets it.
func (s *Store) Remember(ctx context.Context, key, value string) error {
	_, err := use(ctx, s, true, func(db *sqlite.Store) (struct{}, error) {
		return struct{}{}, db.Remember(ctx, key, value)
	})
	return err
}
