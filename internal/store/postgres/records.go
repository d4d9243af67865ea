package postgres

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// reserve reserves n sequence numbers, and returns the one before the first. It locks the repository until the
// transaction ends: no other transaction adds records meanwhile.
func (s *Store) reserve(ctx context.Context, tx pgx.Tx, n int) (before int64, err error) {
	const query = `UPDATE ken.repository SET seq = seq + $2 WHERE id = $1 RETURNING seq - $2`
	err = tx.QueryRow(ctx, query, s.repository, n).Scan(&before)
	return before, err
}

// batch limits the records of one statement, and so the memory that client and server need for it.
const batch = 5000

// SaveRecordsTx adds records of directories and files in a transaction of the caller. It does not commit.
func (s *Store) SaveRecordsTx(ctx context.Context, tx pgx.Tx, directories []*store.DirRecord, files []fresh.Record) error {
	if _, err := s.Pool(ctx); err != nil {
		return err
	}
	return s.add(ctx, tx, files, directories)
}

// add adds the records that do not exist yet.
func (s *Store) add(ctx context.Context, tx pgx.Tx, files []fresh.Record, directories []*store.DirRecord) error {
	seq, err := s.reserve(ctx, tx, len(files)+len(directories))
	if err != nil {
		return err
	}
	for part := range slices.Chunk(files, batch) {
		if err := s.insertFiles(ctx, tx, seq, part); err != nil {
			return err
		}
		seq += int64(len(part))
	}
	for part := range slices.Chunk(directories, batch) {
		if err := s.insertDirectories(ctx, tx, seq, part); err != nil {
			return err
		}
		seq += int64(len(part))
	}
	return nil
}

// insertFiles adds records of files, with the sequence numbers after seq.
func (s *Store) insertFiles(ctx context.Context, tx pgx.Tx, seq int64, list []fresh.Record) error {
	var (
		ids, contents, md5s                       [][]byte
		paths, authors, recipes, confirmers, text [][]byte
		ats                                       []time.Time
		assumed                                   []bool
	)
	for _, r := range list {
		id := r.ID()
		ids = append(ids, id[:])
		contents = append(contents, idBytes(r.Basis.Content.ID))
		md5s = append(md5s, md5Bytes(r.Basis.Content.MD5))
		ats = append(ats, r.At)
		assumed = append(assumed, r.Assumed)
		paths = append(paths, []byte(r.Path))
		authors = append(authors, []byte(r.Author))
		recipes = append(recipes, []byte(r.Recipe))
		confirmers = append(confirmers, []byte(r.Confirmer))
		text = append(text, []byte(r.Text))
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO ken.record (repository, seq, id, content_id, content_md5, at, assumed, path, author, recipe, confirmer, text)
		SELECT $1, $2::bigint + n.number, n.id, n.content_id, n.content_md5, n.at, n.assumed, n.path, n.author, n.recipe, n.confirmer, n.text
		FROM unnest($3::bytea[], $4::bytea[], $5::bytea[], $6::timestamptz[], $7::boolean[],
			$8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[], $12::bytea[]) WITH ORDINALITY
			AS n (id, content_id, content_md5, at, assumed, path, author, recipe, confirmer, text, number)
		ON CONFLICT (repository, id) DO NOTHING`,
		s.repository, seq, ids, contents, md5s, ats, assumed, paths, authors, recipes, confirmers, text)
	return err
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
	err := s.read(ctx, "read", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT `+fileColumns+` FROM ken.record
			WHERE repository = $1 AND content_id = ANY ($2::bytea[])
			UNION ALL
			SELECT `+fileColumns+` FROM ken.record
			WHERE repository = $1 AND content_id IS NULL AND content_md5 = ANY ($3::bytea[])`,
			s.repository, ids, md5s)
		var r fileRow
		return scanAll(rows, err, func() error {
			rec, ok := r.record()
			if !ok {
				return nil
			}
			key := rec.Basis.Key()
			if old, known := newest[key]; !known || rec.Compare(old) > 0 {
				newest[key] = rec
			}
			return nil
		}, r.columns()...)
	})
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

// latest returns the limit for the times of records. Later records are not used.
func latest() time.Time { return fresh.LatestTime(time.Now()) }

// fileColumns are the columns of a fileRow.
const fileColumns = `content_id, content_md5, text, author, recipe, at, assumed, confirmer, path, id`

// A fileRow has the columns of a file record.
type fileRow struct {
	contentID, contentMD5                 []byte
	text, author, recipe, confirmer, path []byte
	id                                    []byte
	at                                    time.Time
	assumed                               bool
}

// columns returns the destinations of fileColumns.
func (r *fileRow) columns() []any {
	return []any{
		&r.contentID, &r.contentMD5, &r.text, &r.author, &r.recipe, &r.at, &r.assumed, &r.confirmer, &r.path, &r.id,
	}
}

// record returns the record, and whether it can be used: its content matches its id, and its time is not in the
// future.
func (r *fileRow) record() (fresh.Record, bool) {
	var md5 repo.MD5
	copy(md5[:], r.contentMD5)
	rec := fresh.Record{
		Basis:     fresh.Basis{Content: repo.Content{ID: repo.IDFromBytes(r.contentID), MD5: md5}},
		Text:      string(r.text),
		Author:    string(r.author),
		Recipe:    string(r.recipe),
		At:        r.at.UTC(),
		Assumed:   r.assumed,
		Confirmer: string(r.confirmer),
		Path:      repo.Path(r.path),
	}
	id := rec.ID()
	return rec, bytes.Equal(id[:], r.id) && !rec.At.After(latest())
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
