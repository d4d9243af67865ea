package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// Commit implements [store.Files]. An empty change does not create a
// database.
func (s *Store) Commit(ctx context.Context, worktree string, c store.FileChanges, still func() (bool, error)) error {
	nothingToPrune := c.Worktrees == nil || !s.inMemory() && !exists(s.path)
	if c.IsZero() && nothingToPrune {
		return ctx.Err()
	}
	d := relaxed
	if len(c.Records) > 0 {
		d = durable
	}
	return s.write(ctx, d, func(conn *sqlite.Conn) error {
		tx := &transaction{store: s, conn: conn, tallies: make(map[int64]*store.FileCounts)}
		if err := tx.addRecords(c.Records); err != nil {
			return err
		}
		if err := tx.put(worktree, c.Put); err != nil {
			return err
		}
		if err := tx.remove(worktree, c.Delete); err != nil {
			return err
		}
		if err := tx.tally(); err != nil {
			return err
		}
		set := false
		if c.Verification != nil {
			now, _, err := baselineOf(conn, worktree)
			if err != nil {
				return err
			}
			set = now.Generation == c.Verification.Generation
		}
		if set && still != nil {
			var err error
			if set, err = still(); err != nil {
				return &callbackError{err}
			}
		}
		var err error
		switch {
		case set:
			err = tx.setBaseline(worktree, *c.Verification)
		case len(c.Put)+len(c.Delete) > 0:
			err = tx.clearClean(worktree)
		}
		if err != nil {
			return err
		}
		if set || len(c.Put)+len(c.Delete) > 0 {
			if err := tx.advance(worktree); err != nil {
				return err
			}
		}
		if c.Worktrees != nil {
			return tx.prune(c.Worktrees)
		}
		return nil
	})
}

// A transaction is a writing transaction that keeps the counts of rows up to date.
type transaction struct {
	store *Store
	conn  *sqlite.Conn
	// tallies has the changes of the row counts by work tree. A nil value means that the rows must be counted again.
	tallies map[int64]*store.FileCounts
}

// addRecords adds records that do not exist yet, and updates the rows with their content. It replaces damaged records.
func (tx *transaction) addRecords(rs []fresh.Record) error {
	if len(rs) == 0 {
		return nil
	}
	last, err := lastRecord(tx.conn)
	if err != nil {
		return err
	}
	stmt, err := tx.conn.Prepare(`
		INSERT INTO record (id, content_id, content_md5, text, text_id,
			author, recipe, at, assumed, confirmer, path)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
		ON CONFLICT (id) DO NOTHING`)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	var added, md5s bool
	for _, r := range rs {
		id, textID := r.ID(), r.TextID()
		stmt.BindBytes(1, id[:])
		bindID(stmt, 2, r.Basis.Content.ID)
		bindMD5(stmt, 3, r.Basis.Content.MD5)
		stmt.BindText(4, r.Text)
		stmt.BindBytes(5, textID[:])
		stmt.BindText(6, r.Author)
		stmt.BindText(7, r.Recipe)
		stmt.BindInt64(8, r.At.UnixMicro())
		stmt.BindBool(9, r.Assumed)
		stmt.BindText(10, r.Confirmer)
		stmt.BindBytes(11, []byte(r.Path))
		if err := run(stmt); err != nil {
			return err
		}
		if tx.conn.Changes() == 0 {
			gone, err := tx.removeDamaged(id)
			if err != nil {
				return err
			}
			if !gone {
				continue
			}
			if err := run(stmt); err != nil {
				return err
			}
		}
		added = true
		md5s = md5s || r.Basis.Content.ID.IsZero()
	}
	if !added {
		return nil
	}
	return tx.updateRows(last, md5s)
}

// removeDamaged removes the record with an id if it is damaged, and reports whether it did.
func (tx *transaction) removeDamaged(id fresh.Digest) (bool, error) {
	stmt, err := tx.conn.Prepare(selectRecords + `WHERE id = ?1`)
	if err != nil {
		return false, err
	}
	defer stmt.Reset()
	stmt.BindBytes(1, id[:])
	if more, err := stmt.Step(); !more || err != nil {
		return false, err
	}
	if _, ok := tx.store.columnRecord(stmt); ok {
		return false, nil
	}
	seq := stmt.ColumnInt64(0)
	tx.store.unused.remove(false, seq)
	if err := execute(tx.conn, `DELETE FROM record WHERE seq = ?1`, seq); err != nil {
		return false, err
	}
	// The next record may get this number, so baselines must not count it as known.
	return true, execute(tx.conn, `UPDATE worktree SET records = 0`)
}

// updateRows finds the rows whose content is the basis of a record after last, and sets their basis to that of the
// newest record for the content.
func (tx *transaction) updateRows(last int64, md5s bool) error {
	query := `
		SELECT worktree, path, content_id, content_md5, about, excluded <> '', marks FROM file
		WHERE content_id IN (SELECT content_id FROM record WHERE seq > ?1 AND content_id IS NOT NULL)`
	if md5s {
		query = `
		SELECT worktree, path, content_id, content_md5, about, excluded <> '', marks FROM file
		WHERE content_id IN (SELECT content_id FROM record WHERE seq > ?1 AND content_id IS NOT NULL)
		OR content_md5 IN (SELECT content_md5 FROM record WHERE seq > ?1 AND content_id IS NULL)`
	}
	type found struct {
		worktree int64
		row      store.FileRow
	}
	var rows []found
	var scan scanner
	err := each(tx.conn, query, func(stmt *sqlite.Stmt) error {
		f := found{worktree: stmt.ColumnInt64(0), row: store.FileRow{
			Path:         scan.path(stmt, 1),
			Content:      repo.Content{ID: columnID(stmt, 2), MD5: columnMD5(stmt, 3)},
			SummaryBasis: columnBasis(stmt, 4),
			Marks:        store.FileMarks(stmt.ColumnInt64(6)),
		}}
		if stmt.ColumnBool(5) {
			f.row.Excluded = "yes"
		}
		rows = append(rows, f)
		return nil
	}, last)
	if err != nil || len(rows) == 0 {
		return err
	}
	look, err := tx.store.newLookup(tx.conn, len(rows))
	if err != nil {
		return err
	}
	for _, f := range rows {
		hit, err := look.find(f.row.Content)
		if err != nil {
			return err
		}
		about := hit.basis(f.row.Content)
		if about == f.row.SummaryBasis {
			continue
		}
		err = execute(tx.conn, `UPDATE file SET about = ?3 WHERE worktree = ?1 AND path = ?2`, f.worktree, f.row.Path, about)
		if err != nil {
			return err
		}
		tx.count(f.worktree, f.row, -1)
		f.row.SummaryBasis = about
		tx.count(f.worktree, f.row, +1)
	}
	return nil
}
