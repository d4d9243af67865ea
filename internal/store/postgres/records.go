package postgres

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// reserve reserves n sequence numbers, and returns the one before the first. It locks the repository until the
// transaction ends.
func (s *Store) reserve(ctx context.Context, tx pgx.Tx, n int) (before int64, err error) {
	err = tx.QueryRow(ctx, `UPDATE ken.repository SET seq = seq + $2 WHERE id = $1 RETURNING seq - $2`, s.repository, n).Scan(&before)
	return before, err
}

// batch limits the records of one statement, and so the memory that client and server need for it.
const batch = 5000

// addRecords adds the records that do not exist yet.
func (s *Store) addRecords(ctx context.Context, tx pgx.Tx, list []fresh.Record) error {
	if len(list) == 0 {
		return nil
	}
	seq, err := s.reserve(ctx, tx, len(list))
	if err != nil {
		return err
	}
	return s.insertRecords(ctx, tx, list, func() int64 { seq++; return seq })
}

// insertRecords is addRecords with sequence numbers from next.
func (s *Store) insertRecords(ctx context.Context, tx pgx.Tx, list []fresh.Record, next func() int64) error {
	for len(list) > 0 {
		part := list[:min(batch, len(list))]
		list = list[len(part):]
		n := len(part)
		var (
			ids, contents, md5s, paths, authors, recipes, confirmers, texts = columns(n), columns(n), columns(n), columns(n), columns(n), columns(n), columns(n), columns(n)
			seqs                                                            = make([]int64, n)
			ats                                                             = make([]time.Time, n)
			assumed                                                         = make([]bool, n)
		)
		for i, r := range part {
			id := r.ID()
			ids[i], seqs[i] = id[:], next()
			contents[i], md5s[i] = idBytes(r.Basis.Content.ID), md5Bytes(r.Basis.Content.MD5)
			ats[i], assumed[i], paths[i] = r.At, r.Assumed, []byte(r.Path)
			authors[i], recipes[i], confirmers[i], texts[i] = []byte(r.Author), []byte(r.Recipe), []byte(r.Confirmer), []byte(r.Text)
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO ken.record (repository, id, seq, content_id, content_md5, at, assumed, path, author, recipe, confirmer, text)
			SELECT $1, new.* FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[], $6::timestamptz[], $7::boolean[],
				$8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[], $12::bytea[]) AS new
			ON CONFLICT (repository, id) DO NOTHING`,
			s.repository, ids, seqs, contents, md5s, ats, assumed, paths, authors, recipes, confirmers, texts)
		if err != nil {
			return err
		}
	}
	return nil
}

// columns returns a slice for n values of a bytea column.
func columns(n int) [][]byte { return make([][]byte, n) }

// NewestBases implements [store.Files].
func (s *Store) NewestBases(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Basis, error) {
	known := make(map[repo.Content]fresh.Basis)
	err := s.newest(ctx, "read", contents, func(c repo.Content, r fresh.Record) { known[c] = r.Basis.Key() })
	if err != nil {
		return nil, err
	}
	return known, nil
}

// Newest implements [store.Files].
func (s *Store) Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error) {
	found := make(map[repo.Content]fresh.Record)
	err := s.newest(ctx, "read", contents, func(c repo.Content, r fresh.Record) { found[c] = r })
	if err != nil {
		return nil, err
	}
	return found, nil
}

// newest calls visit with the newest record of each content that has one.
func (s *Store) newest(ctx context.Context, what string, contents []repo.Content, visit func(repo.Content, fresh.Record)) error {
	if len(contents) == 0 {
		return ctx.Err()
	}
	ids, md5s := columns(len(contents)), columns(len(contents))
	for i, c := range contents {
		ids[i], md5s[i] = idBytes(c.ID), md5Bytes(c.MD5)
	}
	return s.read(ctx, what, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT want.n, newest.*
			FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY AS want (id, md5, n)
			CROSS JOIN LATERAL (
				SELECT content_id, content_md5, text, author, recipe, at, assumed, confirmer, path, id FROM (
					(SELECT * FROM ken.record r
					WHERE r.repository = $1 AND r.content_id = want.id AND r.content_id IS NOT NULL AND r.at <= $4
					ORDER BY r.at DESC, r.id DESC LIMIT 1)
					UNION ALL
					(SELECT * FROM ken.record r
					WHERE r.repository = $1 AND r.content_md5 = want.md5 AND r.content_id IS NULL AND r.content_md5 IS NOT NULL AND r.at <= $4
					ORDER BY r.at DESC, r.id DESC LIMIT 1)
				) either
				ORDER BY at DESC, id DESC LIMIT 1
			) newest`, s.repository, ids, md5s, latest())
		var n int64
		var r recordRow
		var lost []repo.Content
		err = scanAll(rows, err, func() error {
			if rec, ok := r.record(); ok && rec.Basis.Matches(contents[n-1]) {
				visit(contents[n-1], rec)
			} else {
				lost = append(lost, contents[n-1])
			}
			return nil
		}, append([]any{&n}, r.columns()...)...)
		for _, c := range lost {
			if err != nil {
				break
			}
			err = s.newestUsable(ctx, tx, c, visit)
		}
		return err
	})
}

// newestUsable reads all records of a content, and calls visit with the newest that can be used, if there is one.
func (s *Store) newestUsable(ctx context.Context, tx pgx.Tx, c repo.Content, visit func(repo.Content, fresh.Record)) error {
	rows, err := tx.Query(ctx, `
		SELECT content_id, content_md5, text, author, recipe, at, assumed, confirmer, path, id FROM ken.record
		WHERE repository = $1 AND (content_id = $2 OR content_id IS NULL AND content_md5 = $3)`, s.repository, idBytes(c.ID), md5Bytes(c.MD5))
	var r recordRow
	var best fresh.Record
	found := false
	err = scanAll(rows, err, func() error {
		if rec, ok := r.record(); ok && rec.Basis.Matches(c) && (!found || rec.Compare(best) > 0) {
			best, found = rec, true
		}
		return nil
	}, r.columns()...)
	if err == nil && found {
		visit(c, best)
	}
	return err
}

// latest returns the limit for the times of records. Later records are not used.
func latest() time.Time { return fresh.LatestTime(time.Now()) }

// Record implements [store.Files].
func (s *Store) Record(ctx context.Context, id fresh.Digest) (fresh.Record, bool, error) {
	return s.oneRecord(ctx, `
		SELECT content_id, content_md5, text, author, recipe, at, assumed, confirmer, path, id
		FROM ken.record WHERE repository = $1 AND id = $2`, id[:])
}

// NewestAt implements [store.Files].
func (s *Store) NewestAt(ctx context.Context, path repo.Path) (fresh.Record, bool, error) {
	return s.oneRecord(ctx, `
		SELECT content_id, content_md5, text, author, recipe, at, assumed, confirmer, path, id
		FROM ken.record WHERE repository = $1 AND path = $2 ORDER BY at DESC, id DESC`, []byte(path))
}

// oneRecord returns the first usable record of a query.
func (s *Store) oneRecord(ctx context.Context, query string, key []byte) (out fresh.Record, ok bool, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, query, s.repository, key)
		var r recordRow
		return scanAll(rows, err, func() error {
			if !ok {
				out, ok = r.record()
			}
			return nil
		}, r.columns()...)
	})
	if err != nil || !ok {
		return fresh.Record{}, false, err
	}
	return out, true, nil
}

// HeadersAt implements [store.Files].
func (s *Store) HeadersAt(ctx context.Context, paths []repo.Path) (map[repo.Path][]store.RecordHeader, error) {
	found := make(map[repo.Path][]store.RecordHeader)
	if len(paths) == 0 {
		return found, ctx.Err()
	}
	err := s.read(ctx, "read", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT path, content_id, content_md5, at, id FROM ken.record
			WHERE repository = $1 AND path = ANY ($2::bytea[]) AND at <= $3
			ORDER BY path, at DESC, id DESC`, s.repository, pathBytes(paths), latest())
		var path, content, md5, id []byte
		var at time.Time
		return scanAll(rows, err, func() error {
			p := repo.Path(path)
			basis := fresh.Basis{Content: repo.Content{ID: repo.IDFromBytes(content), MD5: md5Of(md5)}}
			found[p] = append(found[p], store.RecordHeader{Basis: basis, At: at.UTC(), ID: fresh.Digest(id)})
			return nil
		}, &path, &content, &md5, &at, &id)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// PathsSince implements [store.Files]. The mark is a sequence number.
func (s *Store) PathsSince(ctx context.Context, mark int64) (paths []repo.Path, now int64, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT coalesce(max(seq), 0) FROM ken.record WHERE repository = $1`, s.repository).Scan(&now)
		if err != nil || now == mark {
			return err
		}
		rows, err := tx.Query(ctx, `
			SELECT DISTINCT path FROM ken.record WHERE repository = $1 AND seq > $2 ORDER BY path`, s.repository, mark)
		var path []byte
		return scanAll(rows, err, func() error {
			paths = append(paths, repo.Path(path))
			return nil
		}, &path)
	})
	if err != nil {
		return nil, 0, err
	}
	return paths, now, nil
}

// A recordRow has the columns of a file record.
type recordRow struct {
	contentID, contentMD5                 []byte
	text, author, recipe, confirmer, path []byte
	id                                    []byte
	at                                    time.Time
	assumed                               bool
}

// columns returns the destinations of the columns content_id, content_md5, text, author, recipe, at, assumed,
// confirmer, path and id.
func (r *recordRow) columns() []any {
	return []any{&r.contentID, &r.contentMD5, &r.text, &r.author, &r.recipe, &r.at, &r.assumed, &r.confirmer, &r.path, &r.id}
}

// record returns the record, and whether it can be used: its content matches its id, and its time is not in the
// future.
func (r *recordRow) record() (fresh.Record, bool) {
	rec := fresh.Record{
		Basis:     fresh.Basis{Content: repo.Content{ID: repo.IDFromBytes(r.contentID), MD5: md5Of(r.contentMD5)}},
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

// idBytes, md5Bytes and basisBytes return nil, which is NULL, for a zero value.
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

// basisBytes encodes a basis: the id of its content or, if it has none, the md5. They differ in length.
func basisBytes(b fresh.Basis) []byte {
	if b.Content.ID.IsZero() {
		return md5Bytes(b.Content.MD5)
	}
	return b.Content.ID.Bytes()
}

func md5Of(b []byte) (m repo.MD5) {
	copy(m[:], b)
	return m
}

// basisOf decodes the result of basisBytes.
func basisOf(b []byte) (out fresh.Basis) {
	if len(b) == len(out.Content.MD5) {
		out.Content.MD5 = repo.MD5(b)
	} else {
		out.Content.ID = repo.IDFromBytes(b)
	}
	return out
}

func pathBytes(paths []repo.Path) [][]byte {
	out := columns(len(paths))
	for i, p := range paths {
		out[i] = []byte(p)
	}
	return out
}
