package sqlite

import (
	"bytes"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A lookup finds the newest record for a content: of the records whose basis is the content and whose time is not
// in the future, the one with the highest time and then the highest id. It is valid for one transaction.
type lookup struct {
	store  *Store
	conn   *sqlite.Conn
	latest int64 // the limit for the times of records
	last   int64 // the highest sequence number, about the number of records; 0 if there are none
	md5s   bool  // some records have a basis with only an md5

	// Set if load has read all keys.
	byID  map[repo.ID]hit
	byMD5 map[repo.MD5]hit
}

// A hit identifies a record. The zero value means none.
type hit struct {
	seq, at int64
	id      fresh.Digest
	md5     bool // found by md5
}

// basis returns the basis of the record that was found for c, as rows store it.
func (h hit) basis(c repo.Content) fresh.Basis {
	if h.md5 {
		return fresh.Basis{Content: repo.Content{MD5: c.MD5}}
	}
	return fresh.Basis{Content: repo.Content{ID: c.ID}}
}

func (h hit) newer(than hit) bool {
	return h.at > than.at || h.at == than.at && bytes.Compare(h.id[:], than.id[:]) > 0
}

// newLookup returns a lookup for about n contents.
func (s *Store) newLookup(conn *sqlite.Conn, n int) (*lookup, error) {
	l := &lookup{store: s, conn: conn, latest: s.latest()}
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

// scanPays reports whether reading the keys of all records is cheaper than n queries. A query costs as much as
// reading ten keys.
func scanPays(n int, all int64) bool { return n > 64 && int64(n)*10 > all }

// load reads all keys. The queries use only the indexes.
func (l *lookup) load() error {
	l.byID = make(map[repo.ID]hit, l.last)
	// The newest record of each content comes last.
	err := each(l.conn, `
		SELECT content_id, at, seq, id FROM record
		WHERE content_id IS NOT NULL AND at <= ?1 ORDER BY content_id, at, id`,
		func(stmt *sqlite.Stmt) error {
			l.byID[columnID(stmt, 0)] = columnHit(stmt)
			return nil
		}, l.latest)
	if err != nil || !l.md5s {
		return err
	}
	l.byMD5 = make(map[repo.MD5]hit)
	return each(l.conn, `
		SELECT content_md5, at, seq, id FROM record
		WHERE content_id IS NULL AND content_md5 IS NOT NULL AND at <= ?1 ORDER BY content_md5, at, id`,
		func(stmt *sqlite.Stmt) error {
			h := columnHit(stmt)
			h.md5 = true
			l.byMD5[columnMD5(stmt, 0)] = h
			return nil
		}, l.latest)
}

// find returns the newest record for a content, the zero hit if there is none.
func (l *lookup) find(c repo.Content) (best hit, err error) {
	if l.last == 0 {
		return hit{}, nil
	}
	if !c.ID.IsZero() {
		if l.byID != nil {
			best = l.byID[c.ID]
		} else if best, err = l.ask(`
			SELECT content_id, at, seq, id FROM record
			WHERE content_id IS NOT NULL AND content_id = ?1 AND at <= ?2 ORDER BY at DESC, id DESC LIMIT 1`,
			c.ID.Bytes()); err != nil {
			return hit{}, err
		}
	}
	if l.md5s && !c.MD5.IsZero() {
		var h hit
		if l.byID != nil {
			h = l.byMD5[c.MD5]
		} else if h, err = l.ask(`
			SELECT content_md5, at, seq, id FROM record
			WHERE content_id IS NULL AND content_md5 IS NOT NULL AND content_md5 = ?1 AND at <= ?2
			ORDER BY at DESC, id DESC LIMIT 1`,
			c.MD5[:]); err != nil {
			return hit{}, err
		}
		if h.seq != 0 && (best.seq == 0 || h.newer(best)) {
			h.md5 = true
			best = h
		}
	}
	return best, nil
}

func (l *lookup) ask(query string, key []byte) (h hit, err error) {
	err = each(l.conn, query, func(stmt *sqlite.Stmt) error {
		h = columnHit(stmt)
		return nil
	}, key, l.latest)
	return h, err
}

// columnHit reads the columns at, seq and id, which start at index 1.
func columnHit(stmt *sqlite.Stmt) hit {
	h := hit{at: stmt.ColumnInt64(1), seq: stmt.ColumnInt64(2)}
	stmt.ColumnBytes(3, h.id[:])
	return h
}

// usable returns the newest usable record for a content. It is for contents whose hit from find is damaged.
func (l *lookup) usable(c repo.Content) (best fresh.Record, ok bool, err error) {
	for where, key := range map[string][]byte{
		`WHERE content_id IS NOT NULL AND content_id = ?1`:                          c.ID.Bytes(),
		`WHERE content_id IS NULL AND content_md5 IS NOT NULL AND content_md5 = ?1`: c.MD5[:],
	} {
		err := each(l.conn, selectRecords+where, func(stmt *sqlite.Stmt) error {
			if r, good := l.store.columnRecord(stmt); good && r.Basis.Matches(c) && (!ok || r.Compare(best) > 0) {
				best, ok = r, true
			}
			return nil
		}, key)
		if err != nil {
			return best, false, err
		}
	}
	return best, ok, nil
}
