package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Write calls fn in a writing transaction of the store.
func (s *Store) Write(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return s.write(ctx, "write", fn)
}
