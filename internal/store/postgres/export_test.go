package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// LockBase is the advisory lock of the repository with the id 0.
const LockBase = lockBase

// Write calls fn in a writing transaction of the store.
func (s *Store) Write(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return s.write(ctx, "write", fn)
}
