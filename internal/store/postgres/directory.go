package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

var (
	_ store.Directories = (*Store)(nil)
	_ store.Leases      = (*Store)(nil)
)

// A directoryRow has the columns of a directory record.
type directoryRow struct {
	path, author, recipe, confirmer, text []byte
	at                                    time.Time
	partial                               bool
	flags, basis, id                      []byte
}

// columns returns the destinations of the columns path, at, partial, author, recipe, confirmer, flags, basis, text
// and id.
func (r *directoryRow) columns() []any {
	return []any{&r.path, &r.at, &r.partial, &r.author, &r.recipe, &r.confirmer, &r.flags, &r.basis, &r.text, &r.id}
}

// record returns the record, or an error if it cannot be used.
func (r *directoryRow) record() (*store.DirRecord, error) {
	out, err := r.read()
	if err != nil {
		return nil, err
	}
	var id fresh.Digest
	copy(id[:], r.id)
	switch {
	case out.ID() != id:
		return nil, fresh.ErrDamaged
	case out.At.After(latest()):
		return nil, fresh.ErrFutureDate
	}
	return out, nil
}

func (r *directoryRow) read() (*store.DirRecord, error) {
	out := &store.DirRecord{
		Path: repo.Path(r.path), At: r.at.UTC(), Partial: r.partial,
		Author: string(r.author), Recipe: string(r.recipe), Confirmer: string(r.confirmer), Text: string(r.text),
	}
	if err := json.Unmarshal(r.basis, &out.Basis); err != nil {
		return nil, fmt.Errorf("basis of directory %s: %w", repo.DirLabel(out.Path), err)
	}
	var err error
	if out.Flags, err = store.DecodeFlags(r.flags); err != nil {
		return nil, fmt.Errorf("flags of directory %s: %w", repo.DirLabel(out.Path), err)
	}
	return out, nil
}

// directories runs a query and groups its records by key. The first argument of the query is the repository. Its
// columns are a key and those of a directoryRow, and it returns newer records first. directories skips rows that
// it cannot read.
func directories[K comparable](ctx context.Context, s *Store, query string, key func(path, key []byte) K, args ...any) (map[K][]*store.DirRecord, error) {
	found := make(map[K][]*store.DirRecord)
	err := s.read(ctx, "read", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, query, append([]any{s.repository}, args...)...)
		var by []byte
		var r directoryRow
		return scanAll(rows, err, func() error {
			rec, err := r.record()
			if err != nil {
				return nil //nolint:nilerr // see above
			}
			k := key(r.path, by)
			found[k] = append(found[k], rec)
			return nil
		}, append([]any{&by}, r.columns()...)...)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func byPath(path, _ []byte) repo.Path { return repo.Path(path) }

// Latest implements [store.Directories].
func (s *Store) Latest(ctx context.Context) (map[repo.Path][]*store.DirRecord, error) {
	return directories(ctx, s, `
		SELECT r.basis_id, r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.basis, r.text, r.id
		FROM ken.directory_latest l JOIN ken.directory_record r ON r.repository = l.repository AND r.seq = l.seq
		WHERE l.repository = $1
		ORDER BY r.at DESC, r.id DESC, r.path DESC`, byPath)
}

// DirRecordsByBasis implements [store.Directories]. Of the records from one basis, it returns the newest
// outline and the newest of any other recipe.
func (s *Store) DirRecordsByBasis(ctx context.Context, bases []fresh.Digest) (map[fresh.Digest][]*store.DirRecord, error) {
	keys := columns(len(bases))
	for i, b := range bases {
		keys[i] = b[:]
	}
	return directories(ctx, s, `
		SELECT want.basis, r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.basis, r.text, r.id
		FROM (SELECT DISTINCT unnest($2::bytea[]) AS basis) want
		CROSS JOIN (VALUES (true), (false)) AS kind (outlined)
		CROSS JOIN LATERAL (
			SELECT * FROM ken.directory_record
			WHERE repository = $1 AND basis_id = want.basis AND outlined = kind.outlined AND at <= $3
			ORDER BY at DESC, id DESC, path DESC LIMIT 1
		) r
		ORDER BY r.at DESC, r.id DESC, r.path DESC`,
		func(_, key []byte) fresh.Digest { return fresh.Digest(key) }, keys, latest())
}

// DirRecordsByVersion implements [store.Directories]. Of the records in one place, it returns the newest
// outline and the newest of any other recipe.
func (s *Store) DirRecordsByVersion(ctx context.Context, places []store.DirVersion) (map[store.DirVersion][]*store.DirRecord, error) {
	paths, bases := columns(len(places)), columns(len(places))
	for i, p := range places {
		paths[i], bases[i] = []byte(p.Path), p.Basis[:]
	}
	return directories(ctx, s, `
		SELECT want.basis, r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.basis, r.text, r.id
		FROM (SELECT DISTINCT * FROM unnest($2::bytea[], $3::bytea[]) AS pair (path, basis)) want
		CROSS JOIN (VALUES (true), (false)) AS kind (outlined)
		CROSS JOIN LATERAL (
			SELECT * FROM ken.directory_record
			WHERE repository = $1 AND basis_id = want.basis AND path = want.path AND outlined = kind.outlined AND at <= $4
			ORDER BY at DESC, id DESC LIMIT 1
		) r
		ORDER BY r.at DESC, r.id DESC, r.path DESC`,
		func(path, key []byte) store.DirVersion {
			return store.DirVersion{Path: repo.Path(path), Basis: fresh.Digest(key)}
		}, paths, bases, latest())
}

// PastDirRecords implements [store.Directories].
func (s *Store) PastDirRecords(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error) {
	return directories(ctx, s, `
		SELECT r.basis_id, r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.basis, r.text, r.id
		FROM (SELECT DISTINCT unnest($2::bytea[]) AS path) want
		CROSS JOIN LATERAL (
			SELECT * FROM ken.directory_record
			WHERE repository = $1 AND path = want.path AND NOT outlined AND at <= $4
			ORDER BY at DESC, id DESC LIMIT $3
		) r
		ORDER BY r.at DESC, r.id DESC, r.path DESC`, byPath, pathBytes(dirs), store.MaxPastRecords, latest())
}

// DirRecord implements [store.Directories].
func (s *Store) DirRecord(ctx context.Context, id fresh.Digest) (out *store.DirRecord, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		var r directoryRow
		err := tx.QueryRow(ctx, `
			SELECT path, at, partial, author, recipe, confirmer, flags, basis, text, id
			FROM ken.directory_record WHERE repository = $1 AND id = $2 ORDER BY seq LIMIT 1`, s.repository, id[:]).Scan(r.columns()...)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		out, _ = r.record() // nil if it cannot be read
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DirRecordsByID returns the records with some ids, those that exist.
func (s *Store) DirRecordsByID(ctx context.Context, ids []fresh.Digest) (map[fresh.Digest]*store.DirRecord, error) {
	if len(ids) == 0 {
		return nil, ctx.Err()
	}
	keys := columns(len(ids))
	for i := range ids {
		keys[i] = ids[i][:]
	}
	found, err := directories(ctx, s, `
		SELECT r.id, r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.basis, r.text, r.id
		FROM ken.directory_record r WHERE r.repository = $1 AND r.id = ANY ($2::bytea[]) ORDER BY r.seq`,
		func(_, key []byte) fresh.Digest { return fresh.Digest(key) }, keys)
	if err != nil {
		return nil, err
	}
	kept := make(map[fresh.Digest]*store.DirRecord, len(found))
	for id, list := range found {
		kept[id] = list[0]
	}
	return kept, nil
}

// SaveDirRecords implements [store.Directories].
func (s *Store) SaveDirRecords(ctx context.Context, records []*store.DirRecord) error {
	if len(records) == 0 {
		return ctx.Err()
	}
	return s.write(ctx, "write", func(tx pgx.Tx) error { return s.SaveDirRecordsTx(ctx, tx, records) })
}

// SaveDirRecordsTx is SaveDirRecords in a transaction of the caller. It does not commit.
func (s *Store) SaveDirRecordsTx(ctx context.Context, tx pgx.Tx, records []*store.DirRecord) error {
	if len(records) == 0 {
		return nil
	}
	if _, err := s.Pool(ctx); err != nil {
		return err
	}
	seq, err := s.reserve(ctx, tx, len(records))
	if err != nil {
		return err
	}
	return s.insertDirectories(ctx, tx, records, func() int64 { seq++; return seq })
}

// insertDirectories adds records that do not exist yet, with sequence numbers from next. It deletes the older
// failures of their directories.
func (s *Store) insertDirectories(ctx context.Context, tx pgx.Tx, list []*store.DirRecord, next func() int64) error {
	for len(list) > 0 {
		part := list[:min(batch, len(list))]
		list = list[len(part):]
		n := len(part)
		var (
			ids, paths, bases, authors, recipes, confirmers, texts = columns(n), columns(n), columns(n), columns(n), columns(n), columns(n), columns(n)
			seqs                                                   = make([]int64, n)
			outlined, partial                                      = make([]bool, n), make([]bool, n)
			ats                                                    = make([]time.Time, n)
			flags                                                  = make([]*string, n)
			basis                                                  = make([]string, n)
		)
		for i, r := range part {
			id, basisID := r.ID(), r.Basis.Digest()
			ids[i], paths[i], seqs[i], bases[i] = id[:], []byte(r.Path), next(), basisID[:]
			outlined[i], ats[i], partial[i] = r.IsOutline(), r.At, r.Partial
			authors[i], recipes[i], confirmers[i], texts[i] = []byte(r.Author), []byte(r.Recipe), []byte(r.Confirmer), []byte(r.Text)
			encodedFlags, flagsErr := store.EncodeFlags(r.Flags)
			if encodedFlags != nil {
				flags[i] = new(string(encodedFlags))
			}
			encodedBasis, basisErr := json.Marshal(r.Basis)
			basis[i] = string(encodedBasis)
			if err := errors.Join(flagsErr, basisErr); err != nil {
				return fmt.Errorf("keep the text about %s: %w", repo.DirLabel(r.Path), err)
			}
		}
		_, err := tx.Exec(ctx, `
			WITH added AS (
				INSERT INTO ken.directory_record (repository, id, path, seq, basis_id, outlined, at, partial, author, recipe, confirmer, flags, basis, text)
				SELECT $1, n.id, n.path, n.seq, n.basis_id, n.outlined, n.at, n.partial, n.author, n.recipe, n.confirmer, n.flags::json, n.basis::json, n.text
				FROM unnest($2::bytea[], $3::bytea[], $4::bigint[], $5::bytea[], $6::boolean[], $7::timestamptz[], $8::boolean[],
					$9::bytea[], $10::bytea[], $11::bytea[], $12::text[], $13::text[], $14::bytea[])
					AS n (id, path, seq, basis_id, outlined, at, partial, author, recipe, confirmer, flags, basis, text)
				ON CONFLICT (repository, id, path) DO NOTHING
				RETURNING path, outlined, at, seq, id
			), mended AS (
				DELETE FROM ken.directory_failure f USING added a
				WHERE f.repository = $1 AND f.path = a.path AND f.at <= a.at
			)
			INSERT INTO ken.directory_latest AS l (repository, path, outlined, at, seq)
			SELECT DISTINCT ON (path, outlined) $1::bigint, path, outlined, at, seq FROM added
			WHERE at <= now() + interval '1 day' ORDER BY path, outlined, at DESC, id DESC
			ON CONFLICT (repository, path, outlined) DO UPDATE SET at = excluded.at, seq = excluded.seq
			WHERE l.at < excluded.at OR l.at = excluded.at
			AND (SELECT id FROM ken.directory_record WHERE repository = $1 AND seq = l.seq) < (SELECT id FROM added WHERE added.seq = excluded.seq)`,
			s.repository, ids, paths, seqs, bases, outlined, ats, partial, authors, recipes, confirmers, flags, basis, texts)
		if err != nil {
			return err
		}
	}
	return nil
}

// Failures implements [store.Directories].
func (s *Store) Failures(ctx context.Context) (map[repo.Path]store.DirFailure, error) {
	failed := make(map[repo.Path]store.DirFailure)
	err := s.read(ctx, "read", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT path, basis_id, reason, at FROM ken.directory_failure WHERE repository = $1`, s.repository)
		var path, basis, reason []byte
		var at time.Time
		return scanAll(rows, err, func() error {
			f := store.DirFailure{Path: repo.Path(path), Reason: string(reason), At: at.UTC()}
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
	return s.write(ctx, "write", func(tx pgx.Tx) error { return s.saveFailure(ctx, tx, f) })
}

func (s *Store) saveFailure(ctx context.Context, tx pgx.Tx, f store.DirFailure) error {
	// Lock the repository: records and failures are written one after the other.
	if _, err := s.reserve(ctx, tx, 0); err != nil {
		return err
	}
	var basis []byte
	if !f.Basis.IsZero() {
		basis = f.Basis[:]
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO ken.directory_failure AS f (repository, path, basis_id, reason, at)
		SELECT $1, $2, $3, $4, $5
		WHERE NOT EXISTS (SELECT 1 FROM ken.directory_latest WHERE repository = $1 AND path = $2 AND at > $5)
		ON CONFLICT (repository, path) DO UPDATE SET basis_id = excluded.basis_id, reason = excluded.reason, at = excluded.at
		WHERE f.at <= excluded.at`,
		s.repository, []byte(f.Path), basis, []byte(f.Reason), f.At)
	return err
}
