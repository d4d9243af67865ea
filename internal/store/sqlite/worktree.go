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

// LastVerification implements [store.Files].
func (s *Store) LastVerification(ctx context.Context, worktree string) (b store.Verification, ok bool, err error) {
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

// recordsChecked returns the sequence number of the last record that the rows of a work tree were checked with.
func recordsChecked(conn *sqlite.Conn, worktree string) (int64, error) {
	return number(conn, `SELECT records FROM worktree WHERE name = ?1`, worktree)
}

// lastVerified is the key in plugin_config of the commit of the main work tree's baseline.
const lastVerified = "last_verified_sha"

// worktree returns the id of a work tree, and creates it if necessary.
func (tx *transaction) worktree(name string) (int64, error) {
	if err := execute(tx.conn, `INSERT INTO worktree (name) VALUES (?1) ON CONFLICT DO NOTHING`, name); err != nil {
		return 0, err
	}
	return number(tx.conn, `SELECT id FROM worktree WHERE name = ?1`, name)
}

// setBaseline sets the baseline of a work tree. For the main work tree it also sets last_verified_sha.
func (tx *transaction) setBaseline(name string, b store.Verification) error {
	err := execute(tx.conn, `
		INSERT INTO worktree (name, head, tree, clean, policy, raw,
			upstream_ref, upstream_commit, upstream_known, upstream_ahead, upstream_behind, verified_at, index_tree, generation, records)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
		ON CONFLICT (name) DO UPDATE SET
			head = ?2, tree = ?3, clean = ?4, policy = ?5, raw = ?6,
			upstream_ref = ?7, upstream_commit = ?8, upstream_known = ?9,
			upstream_ahead = ?10, upstream_behind = ?11, verified_at = ?12, index_tree = ?13, generation = ?14, records = ?15`,
		name, b.Head, b.Tree, b.Clean, b.Policy, b.Raw,
		b.Upstream.Ref, b.Upstream.Commit, b.Upstream.Known, b.Upstream.Ahead, b.Upstream.Behind,
		b.At.UTC().Format(time.RFC3339Nano), b.Index, b.Generation, b.Records)
	if err != nil || name != "" {
		return err
	}
	return setConfig(tx.conn, lastVerified, b.Head.String())
}

// clearClean removes the clean flag and the index from the baseline of a work tree. The commit stays.
func (tx *transaction) clearClean(name string) error {
	return execute(tx.conn, `UPDATE worktree SET clean = 0, index_tree = NULL WHERE name = ?1`, name)
}

// advance begins the next generation of a work tree. The increment is random, so that a database that was created
// again or restored from a backup does not repeat a generation.
func (tx *transaction) advance(name string) error {
	return execute(tx.conn, `UPDATE worktree SET generation = generation + 1 + (random() & 0x7fffffff) WHERE name = ?1`, name)
}

// worktrees returns the ids of all work trees by name.
func worktrees(conn *sqlite.Conn) (map[string]int64, error) {
	all := make(map[string]int64)
	err := each(conn, `SELECT name, id FROM worktree`, func(stmt *sqlite.Stmt) error {
		all[stmt.ColumnText(0)] = stmt.ColumnInt64(1)
		return nil
	})
	return all, err
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
		if err := execute(tx.conn, `DELETE FROM file WHERE worktree = ?1`, id); err != nil {
			return err
		}
		if err := execute(tx.conn, `DELETE FROM worktree WHERE id = ?1`, id); err != nil {
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
