package sqlite

import (
	"context"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

// Known implements [registry.Store].
func (s *Store) Known(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Basis, error) {
	known := make(map[repo.Content]fresh.Basis)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(known)
		look, err := newLookup(conn, len(contents))
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

// Newest implements [registry.Store].
func (s *Store) Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error) {
	newest := make(map[repo.Content]fresh.Record)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(newest)
		look, err := newLookup(conn, len(contents))
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
		if scanPays(len(wanted), look.last) {
			return eachRecord(conn, func(seq int64, r func() fresh.Record) {
				if cs := wanted[seq]; len(cs) > 0 {
					rec := r()
					for _, c := range cs {
						newest[c] = rec
					}
				}
			})
		}
		stmt, err := conn.Prepare(`
			SELECT seq, content_id, content_md5, text, author, recipe, at, assumed, confirmer, path
			FROM record WHERE seq = ?1`)
		if err != nil {
			return err
		}
		for seq, cs := range wanted {
			stmt.BindInt64(1, seq)
			rec, ok, err := oneRecord(stmt)
			if err != nil {
				return err
			}
			for _, c := range cs {
				if ok {
					newest[c] = rec
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return newest, nil
}

// Record implements [registry.Store].
func (s *Store) Record(ctx context.Context, id fresh.Digest) (r fresh.Record, ok bool, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		stmt, err := conn.Prepare(`
			SELECT seq, content_id, content_md5, text, author, recipe, at, assumed, confirmer, path
			FROM record WHERE id = ?1`)
		if err != nil {
			return err
		}
		stmt.BindBytes(1, id[:])
		r, ok, err = oneRecord(stmt)
		return err
	})
	return r, ok, err
}

// NewestAt implements [registry.Store].
func (s *Store) NewestAt(ctx context.Context, path repo.Path) (r fresh.Record, ok bool, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		stmt, err := conn.Prepare(`
			SELECT seq, content_id, content_md5, text, author, recipe, at, assumed, confirmer, path
			FROM record WHERE path = ?1 ORDER BY at DESC, id DESC LIMIT 1`)
		if err != nil {
			return err
		}
		stmt.BindBytes(1, []byte(path))
		r, ok, err = oneRecord(stmt)
		return err
	})
	return r, ok, err
}

// WrittenAt implements [registry.Store].
func (s *Store) WrittenAt(ctx context.Context, paths []repo.Path) (map[repo.Path][]registry.Candidate, error) {
	found := make(map[repo.Path][]registry.Candidate)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		// A first scan asks for all paths of a work tree, while the records may
		// be few or none: then it is they that are gone through.
		if len(paths) > 1000 {
			return writtenAnywhere(conn, paths, found)
		}
		stmt, err := conn.Prepare(`
			SELECT content_id, content_md5, at, id FROM record WHERE path = ?1 ORDER BY at DESC, id DESC`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		for _, p := range paths {
			stmt.BindBytes(1, []byte(p))
			var list []registry.Candidate
			for {
				more, err := stmt.Step()
				if err != nil {
					return err
				}
				if !more {
					break
				}
				list = append(list, columnCandidate(stmt, 0))
			}
			if err := stmt.Reset(); err != nil {
				return err
			}
			if len(list) > 0 {
				found[p] = list
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// writtenAnywhere is WrittenAt by way of all records.
func writtenAnywhere(conn *sqlite.Conn, paths []repo.Path, found map[repo.Path][]registry.Candidate) error {
	stmt, err := conn.Prepare(`SELECT path, content_id, content_md5, at, id FROM record ORDER BY path, at DESC, id DESC`)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	all := make(map[repo.Path][]registry.Candidate)
	var scan scanner
	for {
		more, err := stmt.Step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		path := scan.path(stmt, 0)
		all[path] = append(all[path], columnCandidate(stmt, 1))
	}
	for _, p := range paths {
		if list, ok := all[p]; ok {
			found[p] = list
		}
	}
	return nil
}

// columnCandidate reads the columns content_id, content_md5, at and id, from col on.
func columnCandidate(stmt *sqlite.Stmt, col int) registry.Candidate {
	c := registry.Candidate{
		Basis: fresh.Basis{Content: repo.Content{ID: columnID(stmt, col), MD5: columnMD5(stmt, col+1)}},
		At:    time.UnixMicro(stmt.ColumnInt64(col + 2)).UTC(),
	}
	stmt.ColumnBytes(col+3, c.ID[:])
	return c
}

// WrittenSince implements [registry.Store]. The mark is the number of a record; no
// record is ever taken out, so that numbers only grow.
func (s *Store) WrittenSince(ctx context.Context, mark int64) (paths []repo.Path, now int64, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) {
		paths = nil
		if now, err = lastRecord(conn); err != nil || now == mark {
			return err
		}
		query := `SELECT DISTINCT path FROM record WHERE seq > ?1 ORDER BY path`
		if mark == 0 {
			query = `SELECT DISTINCT path FROM record WHERE ?1 = 0 ORDER BY path` // from the index alone
		}
		stmt, err := conn.Prepare(query)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		stmt.BindInt64(1, mark)
		var scan scanner
		for {
			more, err := stmt.Step()
			if !more || err != nil {
				return err
			}
			paths = append(paths, scan.path(stmt, 0))
		}
	})
	if err != nil {
		return nil, 0, err
	}
	return paths, now, nil
}

// lastRecord returns the number of the last record that came, 0 when there is none.
func lastRecord(conn *sqlite.Conn) (int64, error) {
	stmt, err := conn.Prepare(`SELECT max(seq) FROM record`)
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	if _, err := stmt.Step(); err != nil {
		return 0, err
	}
	return stmt.ColumnInt64(0), nil
}

// records returns every record in the order they came.
func records(conn *sqlite.Conn) (all []fresh.Record, err error) {
	err = eachRecord(conn, func(_ int64, r func() fresh.Record) { all = append(all, r()) })
	return all, err
}

// eachRecord visits every record in the order they came; r reads the one visited.
func eachRecord(conn *sqlite.Conn, visit func(seq int64, r func() fresh.Record)) error {
	stmt, err := conn.Prepare(`
		SELECT seq, content_id, content_md5, text, author, recipe, at, assumed, confirmer, path
		FROM record ORDER BY seq`)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	r := func() fresh.Record { return columnRecord(stmt) }
	for {
		more, err := stmt.Step()
		if !more || err != nil {
			return err
		}
		visit(stmt.ColumnInt64(0), r)
	}
}

// oneRecord steps a statement that returns a record at most, and resets it.
func oneRecord(stmt *sqlite.Stmt) (r fresh.Record, ok bool, err error) {
	if ok, err = stmt.Step(); !ok || err != nil {
		return r, false, err
	}
	r = columnRecord(stmt)
	return r, true, stmt.Reset()
}

// columnRecord reads the columns seq, content_id, content_md5, text, author,
// recipe, at, assumed, confirmer and path.
func columnRecord(stmt *sqlite.Stmt) fresh.Record {
	path := make([]byte, stmt.ColumnLen(9))
	stmt.ColumnBytes(9, path)
	return fresh.Record{
		Basis:     fresh.Basis{Content: repo.Content{ID: columnID(stmt, 1), MD5: columnMD5(stmt, 2)}},
		Text:      stmt.ColumnText(3),
		Author:    stmt.ColumnText(4),
		Recipe:    stmt.ColumnText(5),
		At:        time.UnixMicro(stmt.ColumnInt64(6)).UTC(),
		Assumed:   stmt.ColumnBool(7),
		Confirmer: stmt.ColumnText(8),
		Path:      repo.Path(path),
	}
}

// A lookup finds the newest record for a content: the one with the highest time
// and, of those, the highest id, among the records whose basis holds for it. It is
// good for one transaction.
type lookup struct {
	conn *sqlite.Conn
	last int64 // highest sequence number, which is about how many there are; 0: none
	md5s bool  // some record names an md5 alone

	// Filled when it pays to read all keys once.
	byID  map[repo.ID]hit
	byMD5 map[repo.MD5]hit
}

// A hit names a record. Its zero value names none.
type hit struct {
	seq, at int64
	md5     bool // it was found by the md5 alone
}

// basis returns what the record that was found for c names, in the form that
// rows keep.
func (h hit) basis(c repo.Content) fresh.Basis {
	if h.md5 {
		return fresh.Basis{Content: repo.Content{MD5: c.MD5}}
	}
	return fresh.Basis{Content: repo.Content{ID: c.ID}}
}

// newLookup prepares for about n questions.
func newLookup(conn *sqlite.Conn, n int) (*lookup, error) {
	l := &lookup{conn: conn}
	stmt, err := conn.Prepare(`
		SELECT
			(SELECT max(seq) FROM record),
			EXISTS (SELECT 1 FROM record WHERE content_id IS NULL AND content_md5 IS NOT NULL)`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	if _, err := stmt.Step(); err != nil {
		return nil, err
	}
	l.last, l.md5s = stmt.ColumnInt64(0), stmt.ColumnBool(1)
	if l.last > 0 && scanPays(n, l.last) {
		return l, l.load()
	}
	return l, nil
}

// scanPays reports whether reading the keys of all records is cheaper than asking
// for n: one question costs as much as passing ten of them.
func scanPays(n int, all int64) bool { return n > 64 && int64(n)*10 > all }

// load reads all keys, from the indexes alone.
func (l *lookup) load() error {
	l.byID = make(map[repo.ID]hit, l.last)
	stmt, err := l.conn.Prepare(`
		SELECT content_id, at, seq FROM record
		WHERE content_id IS NOT NULL ORDER BY content_id, at, seq`)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	for {
		more, err := stmt.Step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		// The newest of each comes last.
		id, h := columnID(stmt, 0), hit{at: stmt.ColumnInt64(1), seq: stmt.ColumnInt64(2)}
		if l.byID[id], err = l.newer(l.byID[id], h); err != nil {
			return err
		}
	}
	if !l.md5s {
		return nil
	}
	l.byMD5 = make(map[repo.MD5]hit)
	stmt, err = l.conn.Prepare(`
		SELECT content_md5, at, seq FROM record
		WHERE content_id IS NULL AND content_md5 IS NOT NULL ORDER BY content_md5, at, seq`)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	for {
		more, err := stmt.Step()
		if !more || err != nil {
			return err
		}
		md5, h := columnMD5(stmt, 0), hit{at: stmt.ColumnInt64(1), seq: stmt.ColumnInt64(2), md5: true}
		if l.byMD5[md5], err = l.newer(l.byMD5[md5], h); err != nil {
			return err
		}
	}
}

// newer returns the newer of two records. Their ids, which the indexes do not have, are
// only read where their times are the same.
func (l *lookup) newer(a, b hit) (hit, error) {
	switch {
	case a.seq == 0 || b.at > a.at:
		return b, nil
	case b.seq == 0 || a.at > b.at:
		return a, nil
	}
	stmt, err := l.conn.Prepare(`SELECT (SELECT id FROM record WHERE seq = ?1) < (SELECT id FROM record WHERE seq = ?2)`)
	if err != nil {
		return hit{}, err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, a.seq)
	stmt.BindInt64(2, b.seq)
	if _, err := stmt.Step(); err != nil {
		return hit{}, err
	}
	if stmt.ColumnBool(0) {
		return b, nil
	}
	return a, nil
}

// find returns the newest record for a content, the zero hit when there is none.
func (l *lookup) find(c repo.Content) (best hit, err error) {
	if l.last == 0 {
		return hit{}, nil
	}
	if !c.ID.IsZero() {
		if l.byID != nil {
			best = l.byID[c.ID]
		} else if best, err = l.ask(`
			SELECT at, seq FROM record
			WHERE content_id IS NOT NULL AND content_id = ?1 ORDER BY at DESC, id DESC LIMIT 1`,
			c.ID.Bytes()); err != nil {
			return hit{}, err
		}
	}
	if l.md5s && !c.MD5.IsZero() {
		var h hit
		if l.byID != nil {
			h = l.byMD5[c.MD5]
		} else if h, err = l.ask(`
			SELECT at, seq FROM record
			WHERE content_id IS NULL AND content_md5 IS NOT NULL AND content_md5 = ?1
			ORDER BY at DESC, id DESC LIMIT 1`,
			c.MD5[:]); err != nil {
			return hit{}, err
		}
		if h.seq != 0 {
			h.md5 = true
		}
		return l.newer(best, h)
	}
	return best, nil
}

func (l *lookup) ask(query string, key []byte) (hit, error) {
	stmt, err := l.conn.Prepare(query)
	if err != nil {
		return hit{}, err
	}
	defer stmt.Reset()
	stmt.BindBytes(1, key)
	if ok, err := stmt.Step(); !ok || err != nil {
		return hit{}, err
	}
	return hit{at: stmt.ColumnInt64(0), seq: stmt.ColumnInt64(1)}, nil
}
