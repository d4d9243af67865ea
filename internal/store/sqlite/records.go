package sqlite

import (
	"context"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// NewestBases implements [store.Files].
func (s *Store) NewestBases(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Basis, error) {
	known := make(map[repo.Content]fresh.Basis)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(known)
		look, err := s.newLookup(conn, len(contents))
		if err != nil {
			return err
		}
		for _, c := range contents {
			hit, err := look.find(c)
			if err != nil {
				return err
			}
			if hit.seq != 0 {
				known[c] = hit.basis(c)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return known, nil
}

// Newest implements [store.Files].
func (s *Store) Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error) {
	newest := make(map[repo.Content]fresh.Record)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(newest)
		look, err := s.newLookup(conn, len(contents))
		if err != nil {
			return err
		}
		wanted := make(map[int64][]repo.Content)
		for _, c := range contents {
			hit, err := look.find(c)
			if err != nil {
				return err
			}
			if hit.seq != 0 {
				wanted[hit.seq] = append(wanted[hit.seq], c)
			}
		}
		records := make(map[int64]fresh.Record, len(wanted)) // the usable ones
		if scanPays(len(wanted), look.last) {
			err = s.eachRecord(conn, func(seq int64, r func() (fresh.Record, bool)) {
				if len(wanted[seq]) == 0 {
					return
				}
				if rec, ok := r(); ok {
					records[seq] = rec
				}
			})
		} else {
			err = s.recordsAt(conn, wanted, records)
		}
		if err != nil {
			return err
		}
		for seq, cs := range wanted {
			rec, ok := records[seq]
			for _, c := range cs {
				if !ok || !rec.Basis.Matches(c) {
					older, found, err := look.usable(c)
					if err != nil {
						return err
					}
					if found {
						newest[c] = older
					}
					continue
				}
				newest[c] = rec
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return newest, nil
}

// recordsAt reads the usable records with some sequence numbers.
func (s *Store) recordsAt(conn *sqlite.Conn, wanted map[int64][]repo.Content, into map[int64]fresh.Record) error {
	for seq := range wanted {
		rec, ok, err := s.firstRecord(conn, `WHERE seq = ?1`, seq)
		if err != nil {
			return err
		}
		if ok {
			into[seq] = rec
		}
	}
	return nil
}

// Record implements [store.Files].
func (s *Store) Record(ctx context.Context, id fresh.Digest) (r fresh.Record, ok bool, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) {
		r, ok, err = s.firstRecord(conn, `WHERE id = ?1`, id[:])
		return err
	})
	return r, ok, err
}

// NewestAt implements [store.Files].
func (s *Store) NewestAt(ctx context.Context, path repo.Path) (r fresh.Record, ok bool, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) {
		r, ok, err = s.firstRecord(conn, `WHERE path = ?1 AND at <= ?2 ORDER BY at DESC, id DESC`, path, s.latest())
		return err
	})
	return r, ok, err
}

// HeadersAt implements [store.Files].
func (s *Store) HeadersAt(ctx context.Context, paths []repo.Path) (map[repo.Path][]store.RecordHeader, error) {
	found := make(map[repo.Path][]store.RecordHeader)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		// A first scan asks for all paths of a work tree, but there may be few records: then read all of them.
		if len(paths) > 1000 {
			return writtenAnywhere(conn, paths, s.latest(), found)
		}
		stmt, err := conn.Prepare(`
			SELECT content_id, content_md5, at, id FROM record WHERE path = ?1 AND at <= ?2 ORDER BY at DESC, id DESC`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		stmt.BindInt64(2, s.latest())
		for _, p := range paths {
			stmt.BindBytes(1, []byte(p))
			found[p] = nil // paths may contain p twice
			err := eachRow(stmt, func(stmt *sqlite.Stmt) error {
				found[p] = append(found[p], columnHeader(stmt, 0))
				return nil
			})
			if err != nil {
				return err
			}
			if len(found[p]) == 0 {
				delete(found, p)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// writtenAnywhere is HeadersAt with a scan of all records.
func writtenAnywhere(conn *sqlite.Conn, paths []repo.Path, latest int64, found map[repo.Path][]store.RecordHeader) error {
	all := make(map[repo.Path][]store.RecordHeader)
	var scan scanner
	err := each(conn, `SELECT path, content_id, content_md5, at, id FROM record WHERE at <= ?1 ORDER BY path, at DESC, id DESC`,
		func(stmt *sqlite.Stmt) error {
			path := scan.path(stmt, 0)
			all[path] = append(all[path], columnHeader(stmt, 1))
			return nil
		}, latest)
	if err != nil {
		return err
	}
	for _, p := range paths {
		if list, ok := all[p]; ok {
			found[p] = list
		}
	}
	return nil
}

// columnHeader reads the columns content_id, content_md5, at and id, from col on.
func columnHeader(stmt *sqlite.Stmt, col int) store.RecordHeader {
	c := store.RecordHeader{
		Basis: fresh.Basis{Content: repo.Content{ID: columnID(stmt, col), MD5: columnMD5(stmt, col+1)}},
		At:    time.UnixMicro(stmt.ColumnInt64(col + 2)).UTC(),
	}
	stmt.ColumnBytes(col+3, c.ID[:])
	return c
}

// PathsSince implements [store.Files]. The mark is a sequence number.
func (s *Store) PathsSince(ctx context.Context, mark int64) (paths []repo.Path, now int64, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) {
		paths = nil
		if now, err = lastRecord(conn); err != nil || now == mark {
			return err
		}
		query := `SELECT DISTINCT path FROM record WHERE seq > ?1 ORDER BY path`
		if mark == 0 {
			query = `SELECT DISTINCT path FROM record WHERE ?1 = 0 ORDER BY path` // from the index alone
		}
		var scan scanner
		return each(conn, query, func(stmt *sqlite.Stmt) error {
			paths = append(paths, scan.path(stmt, 0))
			return nil
		}, mark)
	})
	if err != nil {
		return nil, 0, err
	}
	return paths, now, nil
}

// lastRecord returns the highest sequence number, 0 if there are no records.
func lastRecord(conn *sqlite.Conn) (int64, error) { return number(conn, `SELECT max(seq) FROM record`) }

// records returns all usable records in the order of insertion.
func (s *Store) records(conn *sqlite.Conn) (all []fresh.Record, err error) {
	err = s.eachRecord(conn, func(_ int64, r func() (fresh.Record, bool)) {
		if rec, ok := r(); ok {
			all = append(all, rec)
		}
	})
	return all, err
}

// eachRecord calls visit for each record in the order of insertion. r reads the record and reports whether it is
// usable.
func (s *Store) eachRecord(conn *sqlite.Conn, visit func(seq int64, r func() (fresh.Record, bool))) error {
	return each(conn, selectRecords+`ORDER BY seq`, func(stmt *sqlite.Stmt) error {
		visit(stmt.ColumnInt64(0), func() (fresh.Record, bool) { return s.columnRecord(stmt) })
		return nil
	})
}

// firstRecord returns the first usable record of a query. where is the end of the query.
func (s *Store) firstRecord(conn *sqlite.Conn, where string, args ...any) (r fresh.Record, ok bool, err error) {
	stmt, err := prepare(conn, selectRecords+where, args...)
	if err != nil {
		return r, false, err
	}
	defer stmt.Reset()
	for {
		more, err := stmt.Step()
		if !more || err != nil {
			return fresh.Record{}, false, err
		}
		if r, ok = s.columnRecord(stmt); ok {
			return r, true, nil
		}
	}
}

// selectRecords begins the queries that return the columns that columnRecord reads.
const selectRecords = `SELECT seq, content_id, content_md5, text, author, recipe, at, assumed, confirmer, path, id FROM record `

// columnRecord reads the columns of selectRecords. It reports whether the record is usable: its content matches its
// id, and its time is not in the future.
func (s *Store) columnRecord(stmt *sqlite.Stmt) (fresh.Record, bool) {
	path := make([]byte, stmt.ColumnLen(9))
	stmt.ColumnBytes(9, path)
	r := fresh.Record{
		Basis:     fresh.Basis{Content: repo.Content{ID: columnID(stmt, 1), MD5: columnMD5(stmt, 2)}},
		Text:      stmt.ColumnText(3),
		Author:    stmt.ColumnText(4),
		Recipe:    stmt.ColumnText(5),
		At:        time.UnixMicro(stmt.ColumnInt64(6)).UTC(),
		Assumed:   stmt.ColumnBool(7),
		Confirmer: stmt.ColumnText(8),
		Path:      repo.Path(path),
	}
	var id fresh.Digest
	stmt.ColumnBytes(10, id[:])
	why := s.unusable(r.ID() == id, r.At)
	if why != nil {
		s.unused.add(fresh.UnusedRecord{Path: r.Path, Why: why}, stmt.ColumnInt64(0))
	}
	return r, why == nil
}
