package sqlite

import (
	"context"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

// lastVerified is the key in plugin_config of the main worktree's baseline.
const lastVerified = "last_verified_sha"

// Commit implements [registry.Store]. A change that would write nothing does not
// make a database.
func (s *Store) Commit(ctx context.Context, worktree string, c registry.Change, still func() (bool, error)) error {
	if c.IsZero() && (c.Worktrees == nil || !exists(s.path)) {
		return ctx.Err()
	}
	d := forNow
	if len(c.Records) > 0 {
		d = forGood
	}
	return s.write(ctx, d, func(conn *sqlite.Conn) error {
		tx := &transaction{conn: conn, tallies: make(map[int64]*registry.Tally)}
		if err := tx.keep(c.Records); err != nil {
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
		if c.Baseline != nil {
			now, _, err := baselineOf(conn, worktree)
			if err != nil {
				return err
			}
			set = now.Generation == c.Baseline.Generation
		}
		if set && still != nil {
			var err error
			if set, err = still(); err != nil {
				return &theirs{err}
			}
		}
		var err error
		switch {
		case set:
			err = tx.setBaseline(worktree, *c.Baseline)
		case len(c.Put)+len(c.Delete) > 0:
			err = tx.unsettle(worktree)
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

// A transaction is a Commit under way.
type transaction struct {
	conn *sqlite.Conn
	// tallies holds, by worktree, by how much the counts of its rows have
	// changed; nil for a worktree whose rows are better counted again.
	tallies map[int64]*registry.Tally
}

// worktree returns the number of a worktree, which it makes if need be.
func (tx *transaction) worktree(name string) (int64, error) {
	insert, err := tx.conn.Prepare(`INSERT INTO worktree (name) VALUES (?1) ON CONFLICT DO NOTHING`)
	if err != nil {
		return 0, err
	}
	insert.BindText(1, name)
	if _, err := insert.Step(); err != nil {
		return 0, err
	}
	stmt, err := tx.conn.Prepare(`SELECT id FROM worktree WHERE name = ?1`)
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	stmt.BindText(1, name)
	if _, err := stmt.Step(); err != nil {
		return 0, err
	}
	return stmt.ColumnInt64(0), nil
}

// keep adds records, and makes the rows that hold their content be about them.
func (tx *transaction) keep(rs []fresh.Record) error {
	if len(rs) == 0 {
		return nil
	}
	last, err := tx.lastRecord()
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
		if _, err := stmt.Step(); err != nil {
			return err
		}
		if tx.conn.Changes() > 0 {
			added = true
			md5s = md5s || r.Basis.Content.ID.IsZero()
		}
		if err := stmt.Reset(); err != nil {
			return err
		}
	}
	if !added {
		return nil
	}
	return tx.tell(last, md5s)
}

func (tx *transaction) lastRecord() (int64, error) {
	stmt, err := tx.conn.Prepare(`SELECT max(seq) FROM record`)
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	if _, err := stmt.Step(); err != nil {
		return 0, err
	}
	return stmt.ColumnInt64(0), nil
}

// tell makes the rows whose content is the basis of a record after last be about
// the newest record for it.
func (tx *transaction) tell(last int64, md5s bool) error {
	query := `
		SELECT worktree, path, content_id, content_md5, about, excluded <> '' FROM file
		WHERE content_id IN (SELECT content_id FROM record WHERE seq > ?1 AND content_id IS NOT NULL)`
	if md5s {
		query = `
		SELECT worktree, path, content_id, content_md5, about, excluded <> '' FROM file
		WHERE content_id IN (SELECT content_id FROM record WHERE seq > ?1 AND content_id IS NOT NULL)
		OR content_md5 IN (SELECT content_md5 FROM record WHERE seq > ?1 AND content_id IS NULL)`
	}
	stmt, err := tx.conn.Prepare(query)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, last)
	type found struct {
		worktree int64
		row      registry.Row
	}
	var rows []found
	var scan scanner
	for {
		more, err := stmt.Step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		f := found{worktree: stmt.ColumnInt64(0), row: registry.Row{
			Path:    scan.path(stmt, 1),
			Content: repo.Content{ID: columnID(stmt, 2), MD5: columnMD5(stmt, 3)},
			About:   columnBasis(stmt, 4),
		}}
		if stmt.ColumnBool(5) {
			f.row.Excluded = "yes"
		}
		rows = append(rows, f)
	}
	if len(rows) == 0 {
		return nil
	}
	look, err := newLookup(tx.conn, len(rows))
	if err != nil {
		return err
	}
	update, err := tx.conn.Prepare(`UPDATE file SET about = ?3 WHERE worktree = ?1 AND path = ?2`)
	if err != nil {
		return err
	}
	defer update.Reset()
	for _, f := range rows {
		hit, err := look.find(f.row.Content)
		if err != nil {
			return err
		}
		about := hit.basis(f.row.Content)
		if about == f.row.About {
			continue
		}
		update.BindInt64(1, f.worktree)
		update.BindBytes(2, []byte(f.row.Path))
		bindBasis(update, 3, about)
		if _, err := update.Step(); err != nil {
			return err
		}
		if err := update.Reset(); err != nil {
			return err
		}
		tx.count(f.worktree, f.row, -1)
		f.row.About = about
		tx.count(f.worktree, f.row, +1)
	}
	return nil
}

// count adds n rows like r to a worktree's counts.
func (tx *transaction) count(worktree int64, r registry.Row, n int) {
	t, ok := tx.tallies[worktree]
	if !ok {
		t = new(registry.Tally)
		tx.tallies[worktree] = t
	}
	if t == nil {
		return
	}
	t.Add(r, n)
}

// lookCost is how many rows can be counted in the time that it takes to look one
// up; measured. Tests set it, to go both ways.
var lookCost = 16

// files returns how many rows a worktree had before this transaction.
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

// ascending reports whether rows are in the order of their paths, each once.
func ascending(rows []registry.Row) bool {
	for i := 1; i < len(rows); i++ {
		if rows[i-1].Path >= rows[i].Path {
			return false
		}
	}
	return true
}

// put inserts rows, or replaces those at the same paths.
func (tx *transaction) put(name string, rows []registry.Row) error {
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
	// Rows that nothing can be in the way of need no looking for what they
	// replace; of many others, counting them all again is cheaper.
	first := files == 0 && ascending(rows)
	recount := !first && len(rows)*lookCost > files
	if recount {
		tx.tallies[worktree] = nil
	}
	look, err := newLookup(tx.conn, len(rows))
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

// row reads as much of a row as counting it needs.
func (tx *transaction) row(worktree int64, path repo.Path) (r registry.Row, ok bool, err error) {
	stmt, err := tx.conn.Prepare(`
		SELECT content_id, content_md5, about, excluded FROM file WHERE worktree = ?1 AND path = ?2`)
	if err != nil {
		return r, false, err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, worktree)
	stmt.BindBytes(2, []byte(path))
	if ok, err := stmt.Step(); !ok || err != nil {
		return r, false, err
	}
	return registry.Row{
		Content:  repo.Content{ID: columnID(stmt, 0), MD5: columnMD5(stmt, 1)},
		About:    columnBasis(stmt, 2),
		Excluded: stmt.ColumnText(3),
	}, true, nil
}

// remove deletes the rows of paths, those that exist.
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

// tally writes the counts that have changed.
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
			SELECT count(*), total(state = 'fresh'), total(state = 'stale'),
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

// setBaseline sets a worktree's baseline, and last_verified_sha with the main one's.
func (tx *transaction) setBaseline(name string, b registry.Baseline) error {
	stmt, err := tx.conn.Prepare(`
		INSERT INTO worktree (name, head, tree, clean, policy, raw,
			upstream_ref, upstream_commit, upstream_known, upstream_ahead, upstream_behind, verified_at, index_tree, generation)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
		ON CONFLICT (name) DO UPDATE SET
			head = ?2, tree = ?3, clean = ?4, policy = ?5, raw = ?6,
			upstream_ref = ?7, upstream_commit = ?8, upstream_known = ?9,
			upstream_ahead = ?10, upstream_behind = ?11, verified_at = ?12, index_tree = ?13, generation = ?14`)
	if err != nil {
		return err
	}
	stmt.BindText(1, name)
	bindID(stmt, 2, b.Head)
	bindID(stmt, 3, b.Tree)
	stmt.BindBool(4, b.Clean)
	stmt.BindText(5, b.Policy)
	stmt.BindInt64(6, int64(b.Raw))
	stmt.BindText(7, b.Upstream.Ref)
	bindID(stmt, 8, b.Upstream.Commit)
	stmt.BindBool(9, b.Upstream.Known)
	stmt.BindInt64(10, int64(b.Upstream.Ahead))
	stmt.BindInt64(11, int64(b.Upstream.Behind))
	stmt.BindText(12, b.At.UTC().Format(time.RFC3339Nano))
	bindID(stmt, 13, b.Index)
	stmt.BindInt64(14, b.Generation)
	if _, err := stmt.Step(); err != nil {
		return err
	}
	if name != "" {
		return nil
	}
	return setConfig(tx.conn, lastVerified, b.Head.String())
}

// unsettle takes back what a worktree's baseline says beyond its commit.
func (tx *transaction) unsettle(name string) error {
	stmt, err := tx.conn.Prepare(`UPDATE worktree SET clean = 0, index_tree = NULL WHERE name = ?1`)
	if err != nil {
		return err
	}
	stmt.BindText(1, name)
	_, err = stmt.Step()
	return err
}

// advance begins the next generation of a worktree.
func (tx *transaction) advance(name string) error {
	stmt, err := tx.conn.Prepare(`UPDATE worktree SET generation = generation + 1 WHERE name = ?1`)
	if err != nil {
		return err
	}
	stmt.BindText(1, name)
	_, err = stmt.Step()
	return err
}

// setConfig sets a key in plugin_config; "" removes it.
func setConfig(conn *sqlite.Conn, key, value string) error {
	query := `INSERT INTO plugin_config (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2`
	if value == "" {
		query = `DELETE FROM plugin_config WHERE key = ?1`
	}
	stmt, err := conn.Prepare(query)
	if err != nil {
		return err
	}
	stmt.BindText(1, key)
	if value != "" {
		stmt.BindText(2, value)
	}
	_, err = stmt.Step()
	return err
}

// config reads a key of plugin_config, "" when it is not there.
func config(conn *sqlite.Conn, key string) (string, error) {
	stmt, err := conn.Prepare(`SELECT value FROM plugin_config WHERE key = ?1`)
	if err != nil {
		return "", err
	}
	defer stmt.Reset()
	stmt.BindText(1, key)
	if ok, err := stmt.Step(); !ok || err != nil {
		return "", err
	}
	return stmt.ColumnText(0), nil
}

// worktrees returns the worktrees there are, by name.
func worktrees(conn *sqlite.Conn) (map[string]int64, error) {
	stmt, err := conn.Prepare(`SELECT name, id FROM worktree`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	all := make(map[string]int64)
	for {
		more, err := stmt.Step()
		if !more || err != nil {
			return all, err
		}
		all[stmt.ColumnText(0)] = stmt.ColumnInt64(1)
	}
}

// prune forgets the worktrees that are not listed.
func (tx *transaction) prune(keep []string) error {
	all, err := worktrees(tx.conn)
	if err != nil {
		return err
	}
	for name, id := range all {
		if slices.Contains(keep, name) {
			continue
		}
		files, err := tx.conn.Prepare(`DELETE FROM file WHERE worktree = ?1`)
		if err != nil {
			return err
		}
		files.BindInt64(1, id)
		if _, err := files.Step(); err != nil {
			return err
		}
		stmt, err := tx.conn.Prepare(`DELETE FROM worktree WHERE id = ?1`)
		if err != nil {
			return err
		}
		stmt.BindInt64(1, id)
		if _, err := stmt.Step(); err != nil {
			return err
		}
		if name == "" {
			if err := setConfig(tx.conn, lastVerified, ""); err != nil {
				return err
			}
		}
	}
	return nil
}
