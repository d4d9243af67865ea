package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// lockBase is the advisory lock of the repository with the id 0: "ken_rec" as a number. Each repository has its own.
const lockBase = 0x6b656e5f726563

// lock locks the repository until the transaction ends: no other transaction adds records meanwhile.
func (s *Store) lock(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockBase+s.repository)
	return err
}

// batch limits the records of one statement, and so the memory that client and server need for it.
const batch = 5000

// SaveRecordsTx adds records of directories and files in a transaction of the caller. It does not commit.
func (s *Store) SaveRecordsTx(ctx context.Context, tx pgx.Tx, directories []*store.DirRecord, files []fresh.Record) error {
	if _, err := s.Pool(ctx); err != nil {
		return err
	}
	var list []store.Record
	for i := range files {
		list = append(list, store.Record{File: &files[i]})
	}
	for _, r := range directories {
		list = append(list, store.Record{Directory: r})
	}
	return s.add(ctx, tx, list)
}

// add adds the records that do not exist yet.
func (s *Store) add(ctx context.Context, tx pgx.Tx, list []store.Record) error {
	if err := s.lock(ctx, tx); err != nil {
		return err
	}
	for part := range slices.Chunk(list, batch) {
		if err := s.insert(ctx, tx, part); err != nil {
			return err
		}
	}
	return nil
}

// insert adds records. It deletes the older failures of directories.
func (s *Store) insert(ctx context.Context, tx pgx.Tx, list []store.Record) error {
	var (
		ids, paths, authors, recipes, confirmers, texts [][]byte
		ats                                             []time.Time

		contents, md5s [][]byte // of files
		assumed        []bool

		bases, flags      []*string // of directories
		basisIDs          [][]byte
		outlined, partial []bool
	)
	for _, rec := range list {
		id := rec.ID()
		ids = append(ids, id[:])
		paths = append(paths, []byte(rec.Path()))
		ats = append(ats, rec.At())
		authors = append(authors, []byte(rec.Author()))
		f, d := rec.File, rec.Directory
		if f == nil {
			f = &fresh.Record{Text: d.Text, Recipe: d.Recipe, Confirmer: d.Confirmer}
		}
		recipes = append(recipes, []byte(f.Recipe))
		confirmers = append(confirmers, []byte(f.Confirmer))
		texts = append(texts, []byte(f.Text))
		contents = append(contents, idBytes(f.Basis.Content.ID))
		md5s = append(md5s, md5Bytes(f.Basis.Content.MD5))
		assumed = append(assumed, f.Assumed)

		e, err := encodeDirectory(d)
		if err != nil {
			return fmt.Errorf("keep the text about %s: %w", repo.DirLabel(rec.Path()), err)
		}
		bases = append(bases, e.basis)
		flags = append(flags, e.flags)
		basisIDs = append(basisIDs, e.basisID)
		outlined = append(outlined, d != nil && d.IsOutline())
		partial = append(partial, d != nil && d.Partial)
	}
	_, err := tx.Exec(ctx, `
		WITH added AS (
			INSERT INTO ken.record (repository, id, path, at, author, recipe, confirmer, text,
				content_id, content_md5, assumed, basis, basis_id, flags, outlined, partial)
			SELECT $1, n.id, n.path, n.at, n.author, n.recipe, n.confirmer, n.text,
				n.content_id, n.content_md5, n.assumed, n.basis::json, n.basis_id, n.flags::json, n.outlined, n.partial
			FROM unnest($2::bytea[], $3::bytea[], $4::timestamptz[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bytea[],
				$9::bytea[], $10::bytea[], $11::boolean[],
				$12::text[], $13::bytea[], $14::text[], $15::boolean[], $16::boolean[]) WITH ORDINALITY
				AS n (id, path, at, author, recipe, confirmer, text,
					content_id, content_md5, assumed, basis, basis_id, flags, outlined, partial, number)
			ORDER BY n.number
			ON CONFLICT DO NOTHING
			RETURNING path, at, basis_id
		)
		DELETE FROM ken.directory_failure f USING added a
		WHERE f.repository = $1 AND f.path = a.path AND f.at <= a.at AND a.basis_id IS NOT NULL`,
		s.repository, ids, paths, ats, authors, recipes, confirmers, texts,
		contents, md5s, assumed, bases, basisIDs, flags, outlined, partial)
	return err
}

// An encodedDirectory has columns of the record of a directory. All are NULL for a file.
type encodedDirectory struct {
	basis, flags *string
	basisID      []byte
}

func encodeDirectory(r *store.DirRecord) (e encodedDirectory, err error) {
	if r == nil {
		return e, nil
	}
	basis, basisErr := json.Marshal(r.Basis)
	flags, flagsErr := store.EncodeFlags(r.Flags)
	if err := errors.Join(basisErr, flagsErr); err != nil {
		return e, err
	}
	digest := r.Basis.Digest()
	e.basisID = digest[:]
	e.basis = new(string(basis))
	if flags != nil {
		e.flags = new(string(flags))
	}
	return e, nil
}

// columns are the columns of a row.
const columns = `
	r.seq, r.id, r.path, r.at, r.author, r.recipe, r.confirmer, r.text,
	r.content_id, r.content_md5, r.assumed, r.basis, r.flags, r.partial`

// A row has the columns of a record.
type row struct {
	seq                                       int64
	id, path, author, recipe, confirmer, text []byte
	at                                        pgtype.Timestamptz

	contentID, contentMD5 []byte // of a file
	assumed               bool

	basis, flags []byte // of a directory
	partial      bool
}

// into returns the destinations of columns.
func (r *row) into() []any {
	return []any{
		&r.seq, &r.id, &r.path, &r.at, &r.author, &r.recipe, &r.confirmer, &r.text,
		&r.contentID, &r.contentMD5, &r.assumed, &r.basis, &r.flags, &r.partial,
	}
}

// errDate means that a record has a date that ken never writes.
var errDate = errors.New("its date is not valid")

// isDate reports whether ken can have written a date: it is finite and its year has four digits.
func isDate(at pgtype.Timestamptz) bool {
	year := at.Time.UTC().Year()
	return at.InfinityModifier == pgtype.Finite && year >= 0 && year <= 9999
}

// record returns the record, or an error if it cannot be used: it has no valid date, does not match its id, or is
// dated after latest.
func (r *row) record(latest time.Time) (out store.Record, err error) {
	if !isDate(r.at) {
		return out, errDate
	}
	if r.basis == nil {
		out.File = r.file()
	} else if out.Directory, err = r.directory(); err != nil {
		return out, err
	}
	switch id := out.ID(); {
	case out.At().After(latest):
		return out, fresh.ErrFutureDate
	case !slices.Equal(id[:], r.id):
		return out, fresh.ErrDamaged
	}
	return out, nil
}

func (r *row) file() *fresh.Record {
	out := &fresh.Record{
		Path: repo.Path(r.path), At: r.at.Time.UTC(), Assumed: r.assumed,
		Author: string(r.author), Recipe: string(r.recipe), Confirmer: string(r.confirmer), Text: string(r.text),
	}
	out.Basis.Content.ID = repo.IDFromBytes(r.contentID)
	copy(out.Basis.Content.MD5[:], r.contentMD5)
	return out
}

func (r *row) directory() (*store.DirRecord, error) {
	out := &store.DirRecord{
		Path: repo.Path(r.path), At: r.at.Time.UTC(), Partial: r.partial,
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

// latest returns the limit for the times of records. Later records are not used.
func (s *Store) latest() time.Time { return fresh.LatestTime(s.opts.Now()) }

// each calls visit with the records of a query that can be used. The query selects columns of ken.record r, and its
// first argument is the repository.
func (s *Store) each(ctx context.Context, visit func(store.Record), query string, args ...any) error {
	return s.read(ctx, "read", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, query, append([]any{s.repository}, args...)...)
		var r row
		return scanAll(rows, err, func() error {
			if rec, err := r.record(s.latest()); err == nil {
				visit(rec)
			}
			return nil
		}, r.into()...)
	})
}

// Newest returns, for each content that some record was written from, the newest such record. Of records of the same
// time, the one with the higher id is the newest. Records that cannot be used count as missing.
func (s *Store) Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error) {
	found := make(map[repo.Content]fresh.Record)
	if len(contents) == 0 {
		return found, ctx.Err()
	}
	var ids, md5s [][]byte
	for _, c := range contents {
		ids = append(ids, idBytes(c.ID))
		md5s = append(md5s, md5Bytes(c.MD5))
	}
	newest := make(map[fresh.Basis]fresh.Record) // by the key of the basis
	err := s.each(ctx, func(r store.Record) {
		key := r.File.Basis.Key()
		if old, known := newest[key]; !known || r.File.Compare(old) > 0 {
			newest[key] = *r.File
		}
	}, `
		SELECT `+columns+` FROM ken.record r
		WHERE r.repository = $1 AND r.content_id = ANY ($2::bytea[])
		UNION ALL
		SELECT `+columns+` FROM ken.record r
		WHERE r.repository = $1 AND r.content_id IS NULL AND r.content_md5 = ANY ($3::bytea[])`, ids, md5s)
	if err != nil {
		return nil, err
	}
	for _, c := range contents {
		byID, hasID := newest[fresh.Basis{Content: repo.Content{ID: c.ID}}]
		byMD5, hasMD5 := newest[fresh.Basis{Content: repo.Content{MD5: c.MD5}}]
		switch {
		case hasID && hasMD5 && byMD5.Compare(byID) > 0:
			found[c] = byMD5
		case hasID:
			found[c] = byID
		case hasMD5:
			found[c] = byMD5
		}
	}
	return found, nil
}

// idBytes and md5Bytes return nil, which is NULL, for a zero value.
func idBytes(id repo.ID) []byte {
	if id.IsZero() {
		return nil
	}
	return id.Bytes()
}

func md5Bytes(m repo.MD5) []byte {
	if m.IsZero() {
		return nil
	}
	return m[:]
}
