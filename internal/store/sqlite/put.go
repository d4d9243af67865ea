package sqlite

import (
	"zombiezen.com/go/sqlite"

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
	files, err := number(tx.conn, `SELECT files FROM worktree WHERE id = ?1`, worktree) // before this transaction
	if err != nil {
		return err
	}
	// Sorted rows in an empty work tree replace nothing. For many other rows, counting all rows again is cheaper
	// than looking up each replaced row.
	first := files == 0 && ascending(rows)
	recount := !first && len(rows)*lookupCost > int(files)
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
			r.SummaryBasis = hit.basis(r.Content)
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
		bindBasis(stmt, 13, r.SummaryBasis)
		if err := run(stmt); err != nil {
			return err
		}
	}
	return nil
}

// row reads the columns of a row that count needs.
func (tx *transaction) row(worktree int64, path repo.Path) (r store.FileRow, ok bool, err error) {
	err = each(tx.conn, `
		SELECT content_id, content_md5, about, excluded, marks FROM file WHERE worktree = ?1 AND path = ?2`,
		func(stmt *sqlite.Stmt) error {
			ok = true
			r = store.FileRow{
				Content:      repo.Content{ID: columnID(stmt, 0), MD5: columnMD5(stmt, 1)},
				SummaryBasis: columnBasis(stmt, 2),
				Excluded:     stmt.ColumnText(3),
				Marks:        store.FileMarks(stmt.ColumnInt64(4)),
			}
			return nil
		}, worktree, path)
	return r, ok, err
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
		if err := run(stmt); err != nil {
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
		err := execute(tx.conn, `
			UPDATE worktree SET files = files + ?2, fresh = fresh + ?3, stale = stale + ?4,
				none = none + ?5, excluded = excluded + ?6
			WHERE id = ?1`, worktree, t.Files, t.Fresh, t.Stale, t.None, t.Excluded)
		if err != nil {
			return err
		}
	}
	return nil
}

func (tx *transaction) recount(worktree int64) error {
	return execute(tx.conn, `
		UPDATE worktree SET (files, fresh, stale, none, excluded) = (
			SELECT count(*), total(state = 'fresh' OR state = 'stale' AND marks & 64), total(state = 'stale' AND NOT marks & 64),
				total(state = 'none'), total(state = 'excluded')
			FROM file WHERE worktree = ?1)
		WHERE id = ?1`, worktree)
}
