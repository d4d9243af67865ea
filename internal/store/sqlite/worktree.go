package sqlite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/repo"
	"ken/internal/store"
)

// Baseline implements [store.Files].
func (s *Store) Baseline(ctx context.Context, worktree string) (b store.Verification, ok bool, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) {
		b, ok, err = baselineOf(conn, worktree)
		return err
	})
	if err != nil {
		return store.Verification{}, false, err
	}
	return b, ok, nil
}

// baselineOf reads the baseline of a work tree. If there is none, ok is false and only the generation is set.
func baselineOf(conn *sqlite.Conn, worktree string) (b store.Verification, ok bool, err error) {
	stmt, err := conn.Prepare(`
		SELECT head, tree, clean, policy, raw,
			upstream_ref, upstream_commit, upstream_known, upstream_ahead, upstream_behind, verified_at, index_tree, generation
		FROM worktree WHERE name = ?1`)
	if err != nil {
		return b, false, err
	}
	defer stmt.Reset()
	stmt.BindText(1, worktree)
	if ok, err = stmt.Step(); !ok || err != nil {
		return b, false, err
	}
	if stmt.ColumnIsNull(10) {
		return store.Verification{Generation: stmt.ColumnInt64(12)}, false, nil
	}
	b = store.Verification{
		Generation: stmt.ColumnInt64(12),

		Head:   columnID(stmt, 0),
		Tree:   columnID(stmt, 1),
		Index:  columnID(stmt, 11),
		Clean:  stmt.ColumnBool(2),
		Policy: stmt.ColumnText(3),
		Raw:    stmt.ColumnInt(4),
		Upstream: repo.Upstream{
			Ref:    stmt.ColumnText(5),
			Commit: columnID(stmt, 6),
			Known:  stmt.ColumnBool(7),
			Ahead:  stmt.ColumnInt(8),
			Behind: stmt.ColumnInt(9),
		},
	}
	if b.At, err = time.Parse(time.RFC3339Nano, stmt.ColumnText(10)); err != nil {
		return b, false, fmt.Errorf("baseline of worktree %q: %w", worktree, err)
	}
	b.Records, err = recordsChecked(conn, worktree)
	return b, err == nil, err
}

// recordsChecked returns the sequence number of the last record that the rows of a work tree were checked with. It
// returns 0 for a database of an older schema.
func recordsChecked(conn *sqlite.Conn, worktree string) (int64, error) {
	version, err := pragma(conn, `PRAGMA user_version`)
	if version < 4 || err != nil {
		return 0, err
	}
	stmt, err := conn.Prepare(`SELECT records FROM worktree WHERE name = ?1`)
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	stmt.BindText(1, worktree)
	if _, err := stmt.Step(); err != nil {
		return 0, err
	}
	return stmt.ColumnInt64(0), nil
}

// lastVerified is the key in plugin_config of the commit of the main work tree's baseline.
const lastVerified = "last_verified_sha"

// worktree returns the id of a work tree, and creates it if necessary.
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

// setBaseline sets the baseline of a work tree. For the main work tree it also sets last_verified_sha.
func (tx *transaction) setBaseline(name string, b store.Verification) error {
	stmt, err := tx.conn.Prepare(`
		INSERT INTO worktree (name, head, tree, clean, policy, raw,
			upstream_ref, upstream_commit, upstream_known, upstream_ahead, upstream_behind, verified_at, index_tree, generation, records)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
		ON CONFLICT (name) DO UPDATE SET
			head = ?2, tree = ?3, clean = ?4, policy = ?5, raw = ?6,
			upstream_ref = ?7, upstream_commit = ?8, upstream_known = ?9,
			upstream_ahead = ?10, upstream_behind = ?11, verified_at = ?12, index_tree = ?13, generation = ?14, records = ?15`)
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
	stmt.BindInt64(15, b.Records)
	if _, err := stmt.Step(); err != nil {
		return err
	}
	if name != "" {
		return nil
	}
	return setConfig(tx.conn, lastVerified, b.Head.String())
}

// clearClean removes the clean flag and the index from the baseline of a work tree. The commit stays.
func (tx *transaction) clearClean(name string) error {
	stmt, err := tx.conn.Prepare(`UPDATE worktree SET clean = 0, index_tree = NULL WHERE name = ?1`)
	if err != nil {
		return err
	}
	stmt.BindText(1, name)
	_, err = stmt.Step()
	return err
}

// advance begins the next generation of a work tree. The increment is random, so that a database that was created
// again or restored from a backup does not repeat a generation.
func (tx *transaction) advance(name string) error {
	stmt, err := tx.conn.Prepare(`UPDATE worktree SET generation = generation + 1 + (random() & 0x7fffffff) WHERE name = ?1`)
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

// config returns the value of a key in plugin_config, "" if there is none.
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

// worktrees returns the ids of all work trees by name.
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

// prune deletes the work trees that are not listed.
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
	return pruneLeases(tx.conn, keep)
}
