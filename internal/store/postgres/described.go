package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/survey"
)

// KeepDescribed keeps what was written about directories and files in a transaction of the
// caller's, which it does not end.
func (s *Store) KeepDescribed(ctx context.Context, tx pgx.Tx, directories []*survey.Record, files []fresh.Record) error {
	if _, err := s.Pool(ctx); err != nil {
		return err
	}
	if err := s.keepRecords(ctx, tx, files); err != nil {
		return err
	}
	return s.KeepIn(ctx, tx, directories)
}

// KeptAll is Kept for many records: those that are there, by their names.
func (s *Store) KeptAll(ctx context.Context, ids []fresh.Digest) (map[fresh.Digest]*survey.Record, error) {
	if len(ids) == 0 {
		return nil, ctx.Err()
	}
	keys := columns(len(ids))
	for i := range ids {
		keys[i] = ids[i][:]
	}
	found, err := directories(ctx, s, `
		SELECT r.id, r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.basis, r.text
		FROM ken.directory_record r WHERE r.repository = $1 AND r.id = ANY ($2::bytea[]) ORDER BY r.seq`,
		func(_, key []byte) fresh.Digest { return fresh.Digest(key) }, keys)
	if err != nil {
		return nil, err
	}
	kept := make(map[fresh.Digest]*survey.Record, len(found))
	for id, list := range found {
		kept[id] = list[0]
	}
	return kept, nil
}
