package sqlite

import (
	"ken/internal/repo"
	"ken/internal/store"
)

// count adds n rows like r to the counts of a work tree.
func (tx *transaction) count(worktree int64, r store.FileRow, n int) {
	t, ok := tx.tallies[worktree]
	if !ok {
		t = new(store.FileCounts)
		tx.tallies[worktree] = t
	}
	if t == nil {
		return
	}
	t.Add(r, n)
}

// lookupCost is the measured cost of looking up one row, in rows that can be counted in the same time. Tests
// change it.
var lookupCost = 16

// files returns the number of rows that a work tree had before this transaction.
func (tx *transaction) files(worktree int64) (int, error) {
	stmt, err := tx.conn.Prepare(`SELECT files FROM worktree WHERE id = ?1`)
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, worktree)
	if _, err := stmt.Step(); err != nil {
		return 0, err
	}
	return stmt.ColumnInt(0), nil
}

// ascending reports whether rows are sorted by path without duplicates.
func ascending(rows []store.FileRow) bool {
	for i := 1; i < len(rows); i++ {
		if rows[i-1].Path >= rows[i].Path {
			return false
		}
	}
	return true
}

// put inserts rows, or replaces the rows with the same paths.
func (tx *transaction) put(name string, rows []store.FileRow) error {
	if len(rows) == 0 {
		return nil
	}
	worktree, err := tx.worktree(name)
	if err != nil {
		return err
	}
	files, err := tx.files(worktree)
	if err != nil {
		return err
	}
	// Sorted rows in an empty work tree replace nothing. For many other rows, counting all rows again is cheaper
	// than looking up each replaced row.
	first := files == 0 && ascending(rows)
	recount := !first && len(rows)*lookupCost > files
	if recount {
		tx.tallies[worktree] = nil
	}
	look, err := tx.store.newLookup(tx.conn, len(rows))
	if err != nil {
		return err
	}
	stmt, err := tx.conn.Prepare(`
		INSERT INTO file (worktree, path, kind, mode, content_id, content_md5,
			size, mtime, ctime, inode, marks, excluded, about)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
		ON CONFLICT (worktree, path) DO UPDATE SET
			kind = ?3, mode = ?4, content_id = ?5, content_md5 = ?6,
			size = ?7, mtime = ?8, ctime = ?9, inode = ?10, marks = ?11, excluded = ?12, about = ?13`)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, worktree)
	var path []byte
	for _, r := range rows {
		hit, err := look.find(r.Content)
		if err != nil {
			return err
		}
		if hit.seq != 0 {
			r.About = hit.basis(r.Content)
		}
		if !recount && !first {
			old, ok, err := tx.row(worktree, r.Path)
			if err != nil {
				return err
			}
			if ok {
				tx.count(worktree, old, -1)
			}
		}
		if !recount {
			tx.count(worktree, r, +1)
		}
		path = append(path[:0], r.Path...)
		stmt.BindBytes(2, path)
		stmt.BindText(3, r.Kind.String())
		stmt.BindInt64(4, int64(r.Mode))
		bindID(stmt, 5, r.Content.ID)
		bindMD5(stmt, 6, r.Content.MD5)
		stmt.BindInt64(7, r.Stat.Size)
		stmt.BindInt64(8, r.Stat.Mtime)
		stmt.BindInt64(9, r.Stat.Ctime)
		stmt.BindInt64(10, int64(r.Stat.Inode))
		stmt.BindInt64(11, int64(r.Marks))
		stmt.BindText(12, r.Excluded)
		bindBasis(stmt, 13, r.About)
		if _, err := stmt.Step(); err != nil {
			return err
		}
		if err := stmt.Reset(); err != nil {
			return err
		}
	}
	return nil
}

// row reads the columns of a row that count needs.
func (tx *transaction) row(worktree int64, path repo.Path) (r store.FileRow, ok bool, err error) {
	stmt, err := tx.conn.Prepare(`
		SELECT content_id, content_md5, about, excluded, marks FROM file WHERE worktree = ?1 AND path = ?2`)
	if err != nil {
		return r, false, err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, worktree)
	stmt.BindBytes(2, []byte(path))
	if ok, err := stmt.Step(); !ok || err != nil {
		return r, false, err
	}
	return store.FileRow{
		Content:  repo.Content{ID: columnID(stmt, 0), MD5: columnMD5(stmt, 1)},
		About:    columnBasis(stmt, 2),
		Excluded: stmt.ColumnText(3),
		Marks:    store.FileMarks(stmt.ColumnInt64(4)),
	}, true, nil
}

// remove deletes the rows with some paths.
func (tx *transaction) remove(name string, paths []repo.Path) error {
	if len(paths) == 0 {
		return nil
	}
	worktree, err := tx.worktree(name)
	if err != nil {
		return err
	}
	stmt, err := tx.conn.Prepare(`DELETE FROM file WHERE worktree = ?1 AND path = ?2`)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, worktree)
	for _, p := range paths {
		old, ok, err := tx.row(worktree, p)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		tx.count(worktree, old, -1)
		stmt.BindBytes(2, []byte(p))
		if _, err := stmt.Step(); err != nil {
			return err
		}
		if err := stmt.Reset(); err != nil {
			return err
		}
	}
	return nil
}

// tally writes the changed counts.
func (tx *transaction) tally() error {
	for worktree, t := range tx.tallies {
		if t == nil {
			if err := tx.recount(worktree); err != nil {
				return err
			}
			continue
		}
		stmt, err := tx.conn.Prepare(`
			UPDATE worktree SET files = files + ?2, fresh = fresh + ?3, stale = stale + ?4,
				none = none + ?5, excluded = excluded + ?6
			WHERE id = ?1`)
		if err != nil {
			return err
		}
		stmt.BindInt64(1, worktree)
		stmt.BindInt64(2, int64(t.Files))
		stmt.BindInt64(3, int64(t.Fresh))
		stmt.BindInt64(4, int64(t.Stale))
		stmt.BindInt64(5, int64(t.None))
		stmt.BindInt64(6, int64(t.Excluded))
		if _, err := stmt.Step(); err != nil {
			return err
		}
	}
	return nil
}

func (tx *transaction) recount(worktree int64) error {
	stmt, err := tx.conn.Prepare(`
		UPDATE worktree SET (files, fresh, stale, none, excluded) = (
			SELECT count(*), total(state = 'fresh' OR state = 'stale' AND marks & 64), total(state = 'stale' AND NOT marks & 64),
				total(state = 'none'), total(state = 'excluded')
			FROM file WHERE worktree = ?1)
		WHERE id = ?1`)
	if err != nil {
		return err
	}
	stmt.BindInt64(1, worktree)
	_, err = stmt.Step()
	return err
}
