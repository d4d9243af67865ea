package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/store"
)

// KeepDescribed adds records of directories and files in a transaction of the caller. It does not commit.
func (s *Store) KeepDescribed(ctx context.Context, tx pgx.Tx, directories []*store.DirRecord, files []fresh.Record) error {
	if _, err := s.Pool(ctx); err != nil {
		return err
	}
	if err := s.keepRecords(ctx, tx, files); err != nil {
		return err
	}
	return s.KeepIn(ctx, tx, directories)
}

// KeepFailed is KeepFailure in a transaction of the caller. It does not commit.
func (s *Store) KeepFailed(ctx context.Context, tx pgx.Tx, f store.DirFailure) error {
	if _, err := s.Pool(ctx); err != nil {
		return err
	}
	return s.keepFailure(ctx, tx, f)
}
