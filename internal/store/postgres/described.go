package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/store"
)

// SaveRecordsTx adds records of directories and files in a transaction of the caller. It does not commit.
func (s *Store) SaveRecordsTx(ctx context.Context, tx pgx.Tx, directories []*store.DirRecord, files []fresh.Record) error {
	if _, err := s.Pool(ctx); err != nil {
		return err
	}
	if err := s.addRecords(ctx, tx, files); err != nil {
		return err
	}
	return s.SaveDirRecordsTx(ctx, tx, directories)
}

// SaveFailureTx is SaveFailure in a transaction of the caller. It does not commit.
func (s *Store) SaveFailureTx(ctx context.Context, tx pgx.Tx, f store.DirFailure) error {
	if _, err := s.Pool(ctx); err != nil {
		return err
	}
	return s.saveFailure(ctx, tx, f)
}
