package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

var _ store.Directories = (*Store)(nil)

// directories is each for queries of directories.
func (s *Store) directories(ctx context.Context, visit func(*store.DirRecord), query string, args ...any) error {
	return s.each(ctx, func(r store.Record) { visit(r.Directory) }, query, args...)
}

// addNewest adds a record to those of a key, unless there is one of the same kind: an outline, or another record.
func addNewest[K comparable](found map[K][]*store.DirRecord, key K, r *store.DirRecord) {
	sameKind := func(other *store.DirRecord) bool { return other.IsOutline() == r.IsOutline() }
	if !slices.ContainsFunc(found[key], sameKind) {
		found[key] = append(found[key], r)
	}
}

// isLatest selects the latest outline and the latest other record of each directory.
const isLatest = `
	r.basis_id IS NOT NULL AND r.at <= now() + interval '1 day' AND NOT EXISTS (
		SELECT FROM ken.record newer
		WHERE newer.repository = r.repository AND newer.path = r.path AND newer.outlined = r.outlined
			AND newer.basis_id IS NOT NULL AND newer.at <= now() + interval '1 day' AND (newer.at, newer.id) > (r.at, r.id)
	)`

// newestFirst is the order of records.
const newestFirst = ` ORDER BY r.at DESC, r.id DESC, r.path DESC`

// Latest implements [store.Directories].
func (s *Store) Latest(ctx context.Context) (map[repo.Path][]*store.DirRecord, error) {
	found := make(map[repo.Path][]*store.DirRecord)
	err := s.directories(ctx, func(r *store.DirRecord) { addNewest(found, r.Path, r) }, `
		SELECT `+columns+` FROM ken.record r
		WHERE r.repository = $1 AND `+isLatest+newestFirst)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// withBasis calls visit with the records that were written from one of the bases, newest first.
func (s *Store) withBasis(ctx context.Context, bases []fresh.Digest, visit func(*store.DirRecord)) error {
	return s.directories(ctx, visit, `
		SELECT `+columns+` FROM ken.record r
		WHERE r.repository = $1 AND r.basis_id = ANY ($2::bytea[])`+newestFirst, digestBytes(bases))
}

// DirRecordsByBasis implements [store.Directories]. Of the records from one basis, it returns the newest
// outline and the newest of any other recipe.
func (s *Store) DirRecordsByBasis(ctx context.Context, bases []fresh.Digest) (map[fresh.Digest][]*store.DirRecord, error) {
	found := make(map[fresh.Digest][]*store.DirRecord)
	err := s.withBasis(ctx, bases, func(r *store.DirRecord) { addNewest(found, r.Basis.Digest(), r) })
	if err != nil {
		return nil, err
	}
	return found, nil
}

// DirRecordsByVersion implements [store.Directories]. Of the records in one place, it returns the newest
// outline and the newest of any other recipe.
func (s *Store) DirRecordsByVersion(ctx context.Context, places []store.DirVersion) (map[store.DirVersion][]*store.DirRecord, error) {
	wanted := make(map[store.DirVersion]bool, len(places))
	bases := make([]fresh.Digest, len(places))
	for i, p := range places {
		wanted[p] = true
		bases[i] = p.Basis
	}
	found := make(map[store.DirVersion][]*store.DirRecord)
	err := s.withBasis(ctx, bases, func(r *store.DirRecord) {
		if at := (store.DirVersion{Path: r.Path, Basis: r.Basis.Digest()}); wanted[at] {
			addNewest(found, at, r)
		}
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// PastDirRecords implements [store.Directories].
func (s *Store) PastDirRecords(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error) {
	paths := make([][]byte, len(dirs))
	for i, p := range dirs {
		paths[i] = []byte(p)
	}
	found := make(map[repo.Path][]*store.DirRecord)
	err := s.directories(ctx, func(r *store.DirRecord) { found[r.Path] = append(found[r.Path], r) }, `
		SELECT `+columns+`
		FROM (SELECT DISTINCT unnest($2::bytea[]) AS path) want
		CROSS JOIN LATERAL (
			SELECT * FROM ken.record
			WHERE repository = $1 AND path = want.path AND basis_id IS NOT NULL AND NOT outlined AND at <= $4
			ORDER BY at DESC, id DESC LIMIT $3
		) r`+newestFirst, paths, store.MaxPastRecords, s.latest())
	if err != nil {
		return nil, err
	}
	return found, nil
}

// DirRecord implements [store.Directories].
func (s *Store) DirRecord(ctx context.Context, id fresh.Digest) (*store.DirRecord, error) {
	found, err := s.DirRecordsByID(ctx, []fresh.Digest{id})
	return found[id], err
}

// DirRecordsByID returns the records with some ids, those that exist.
func (s *Store) DirRecordsByID(ctx context.Context, ids []fresh.Digest) (map[fresh.Digest]*store.DirRecord, error) {
	if len(ids) == 0 {
		return nil, ctx.Err()
	}
	found := make(map[fresh.Digest]*store.DirRecord, len(ids))
	err := s.directories(ctx, func(r *store.DirRecord) {
		if id := r.ID(); found[id] == nil {
			found[id] = r
		}
	}, `
		SELECT `+columns+` FROM ken.record r
		WHERE r.repository = $1 AND r.id = ANY ($2::bytea[]) AND r.basis_id IS NOT NULL ORDER BY r.seq`, digestBytes(ids))
	if err != nil {
		return nil, err
	}
	return found, nil
}

func digestBytes(digests []fresh.Digest) [][]byte {
	out := make([][]byte, len(digests))
	for i := range digests {
		out[i] = digests[i][:]
	}
	return out
}

// SaveDirRecords implements [store.Directories].
func (s *Store) SaveDirRecords(ctx context.Context, records []*store.DirRecord) error {
	if len(records) == 0 {
		return ctx.Err()
	}
	return s.write(ctx, "write", func(tx pgx.Tx) error { return s.SaveRecordsTx(ctx, tx, records, nil) })
}

// Failures implements [store.Directories].
func (s *Store) Failures(ctx context.Context) (map[repo.Path]store.DirFailure, error) {
	failed := make(map[repo.Path]store.DirFailure)
	err := s.read(ctx, "read", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT path, basis_id, reason, at FROM ken.directory_failure WHERE repository = $1`, s.repository)
		var path, basis, reason []byte
		var at pgtype.Timestamptz
		return scanAll(rows, err, func() error {
			if !isDate(at) {
				return nil
			}
			f := store.DirFailure{Path: repo.Path(path), Reason: string(reason), At: at.Time.UTC()}
			copy(f.Basis[:], basis)
			failed[f.Path] = f
			return nil
		}, &path, &basis, &reason, &at)
	})
	if err != nil {
		return nil, err
	}
	return failed, nil
}

// SaveFailure implements [store.Directories]. Of two failures at the same time, the later call wins.
func (s *Store) SaveFailure(ctx context.Context, f store.DirFailure) error {
	return s.write(ctx, "write", func(tx pgx.Tx) error { return s.SaveFailureTx(ctx, tx, f) })
}

// SaveFailureTx is SaveFailure in a transaction of the caller. It does not commit.
func (s *Store) SaveFailureTx(ctx context.Context, tx pgx.Tx, f store.DirFailure) error {
	if _, err := s.Pool(ctx); err != nil {
		return err
	}
	// Lock the repository: records and failures are written one after the other.
	if err := s.lock(ctx, tx); err != nil {
		return err
	}
	var basis []byte
	if !f.Basis.IsZero() {
		basis = f.Basis[:]
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO ken.directory_failure AS f (repository, path, basis_id, reason, at)
		SELECT $1, $2, $3, $4, $5
		WHERE NOT EXISTS (
			SELECT FROM ken.record
			WHERE repository = $1 AND path = $2 AND basis_id IS NOT NULL AND at > $5 AND at <= now() + interval '1 day')
		ON CONFLICT (repository, path) DO UPDATE SET basis_id = excluded.basis_id, reason = excluded.reason, at = excluded.at
		WHERE f.at <= excluded.at`,
		s.repository, []byte(f.Path), basis, []byte(f.Reason), f.At)
	return err
}
