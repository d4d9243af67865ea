package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

var _ store.Directories = (*Store)(nil)

// directoryColumns are the columns of a directoryRow.
const directoryColumns = `r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.basis, r.text, r.id`

// A directoryRow has the columns of a directory record.
type directoryRow struct {
	path, author, recipe, confirmer, text []byte
	at                                    time.Time
	partial                               bool
	flags, basis, id                      []byte
}

// columns returns the destinations of directoryColumns.
func (r *directoryRow) columns() []any {
	return []any{&r.path, &r.at, &r.partial, &r.author, &r.recipe, &r.confirmer, &r.flags, &r.basis, &r.text, &r.id}
}

// record returns the record, or an error if it cannot be used.
func (r *directoryRow) record() (*store.DirRecord, error) {
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

// directories calls visit with the records of a query that can be used. The first argument of the query is the
// repository.
func (s *Store) directories(ctx context.Context, visit func(*store.DirRecord), query string, args ...any) error {
	return s.read(ctx, "read", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, query, append([]any{s.repository}, args...)...)
		var r directoryRow
		return scanAll(rows, err, func() error {
			if rec, err := r.record(); err == nil {
				visit(rec)
			}
			return nil
		}, r.columns()...)
	})
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
	r.at <= now() + interval '1 day' AND NOT EXISTS (
		SELECT FROM ken.directory_record newer
		WHERE newer.repository = r.repository AND newer.path = r.path AND newer.outlined = r.outlined
			AND newer.at <= now() + interval '1 day' AND (newer.at, newer.id) > (r.at, r.id)
	)`

// newestFirst is the order of records.
const newestFirst = ` ORDER BY r.at DESC, r.id DESC, r.path DESC`

// Latest implements [store.Directories].
func (s *Store) Latest(ctx context.Context) (map[repo.Path][]*store.DirRecord, error) {
	found := make(map[repo.Path][]*store.DirRecord)
	err := s.directories(ctx, func(r *store.DirRecord) { addNewest(found, r.Path, r) }, `
		SELECT `+directoryColumns+` FROM ken.directory_record r
		WHERE r.repository = $1 AND `+isLatest+newestFirst)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// withBasis calls visit with the records that were written from one of the bases, newest first.
func (s *Store) withBasis(ctx context.Context, bases []fresh.Digest, visit func(*store.DirRecord)) error {
	return s.directories(ctx, visit, `
		SELECT `+directoryColumns+` FROM ken.directory_record r
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
		SELECT `+directoryColumns+`
		FROM (SELECT DISTINCT unnest($2::bytea[]) AS path) want
		CROSS JOIN LATERAL (
			SELECT * FROM ken.directory_record
			WHERE repository = $1 AND path = want.path AND NOT outlined AND at <= $4
			ORDER BY at DESC, id DESC LIMIT $3
		) r`+newestFirst, paths, store.MaxPastRecords, latest())
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
		SELECT `+directoryColumns+` FROM ken.directory_record r
		WHERE r.repository = $1 AND r.id = ANY ($2::bytea[]) ORDER BY r.seq`, digestBytes(ids))
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
	return s.write(ctx, "write", func(tx pgx.Tx) error { return s.add(ctx, tx, nil, records) })
}

// insertDirectories adds records of directories, with the sequence numbers after seq. It deletes the older failures of
// their directories.
func (s *Store) insertDirectories(ctx context.Context, tx pgx.Tx, seq int64, list []*store.DirRecord) error {
	var (
		ids, bases                                 [][]byte
		paths, authors, recipes, confirmers, texts [][]byte
		outlined, partial                          []bool
		ats                                        []time.Time
		flags                                      []*string
		encodedBases                               []string
	)
	for _, r := range list {
		id, basis := r.ID(), r.Basis.Digest()
		encodedFlags, flagsErr := store.EncodeFlags(r.Flags)
		encodedBasis, basisErr := json.Marshal(r.Basis)
		if err := errors.Join(flagsErr, basisErr); err != nil {
			return fmt.Errorf("keep the text about %s: %w", repo.DirLabel(r.Path), err)
		}
		ids = append(ids, id[:])
		bases = append(bases, basis[:])
		paths = append(paths, []byte(r.Path))
		outlined = append(outlined, r.IsOutline())
		partial = append(partial, r.Partial)
		ats = append(ats, r.At)
		authors = append(authors, []byte(r.Author))
		recipes = append(recipes, []byte(r.Recipe))
		confirmers = append(confirmers, []byte(r.Confirmer))
		texts = append(texts, []byte(r.Text))
		encodedBases = append(encodedBases, string(encodedBasis))
		var flagsOrNull *string
		if encodedFlags != nil {
			flagsOrNull = new(string(encodedFlags))
		}
		flags = append(flags, flagsOrNull)
	}
	_, err := tx.Exec(ctx, `
		WITH added AS (
			INSERT INTO ken.directory_record
				(repository, seq, id, path, basis_id, outlined, at, partial, author, recipe, confirmer, flags, basis, text)
			SELECT $1, $2::bigint + n.number, n.id, n.path, n.basis_id, n.outlined, n.at, n.partial,
				n.author, n.recipe, n.confirmer, n.flags::json, n.basis::json, n.text
			FROM unnest($3::bytea[], $4::bytea[], $5::bytea[], $6::boolean[], $7::timestamptz[], $8::boolean[],
				$9::bytea[], $10::bytea[], $11::bytea[], $12::text[], $13::text[], $14::bytea[]) WITH ORDINALITY
				AS n (id, path, basis_id, outlined, at, partial, author, recipe, confirmer, flags, basis, text, number)
			ON CONFLICT (repository, id, path) DO NOTHING
			RETURNING path, at
		)
		DELETE FROM ken.directory_failure f USING added a WHERE f.repository = $1 AND f.path = a.path AND f.at <= a.at`,
		s.repository, seq, ids, paths, bases, outlined, ats, partial, authors, recipes, confirmers, flags, encodedBases, texts)
	return err
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
	return s.write(ctx, "write", func(tx pgx.Tx) error { return s.SaveFailureTx(ctx, tx, f) })
}

// SaveFailureTx is SaveFailure in a transaction of the caller. It does not commit.
func (s *Store) SaveFailureTx(ctx context.Context, tx pgx.Tx, f store.DirFailure) error {
	if _, err := s.Pool(ctx); err != nil {
		return err
	}
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
		WHERE NOT EXISTS (
			SELECT FROM ken.directory_record
			WHERE repository = $1 AND path = $2 AND at > $5 AND at <= now() + interval '1 day')
		ON CONFLICT (repository, path) DO UPDATE SET basis_id = excluded.basis_id, reason = excluded.reason, at = excluded.at
		WHERE f.at <= excluded.at`,
		s.repository, []byte(f.Path), basis, []byte(f.Reason), f.At)
	return err
}
