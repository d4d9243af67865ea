package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/repo"
	"ken/internal/store"
)

// worktree returns the id of a work tree of this machine. ok is false if it does not exist.
func (s *Store) worktree(ctx context.Context, tx pgx.Tx, name string) (id int64, ok bool, err error) {
	err = tx.QueryRow(ctx, `SELECT id FROM ken.worktree WHERE repository = $1 AND machine = $2 AND name = $3`,
		s.repository, s.machine(), []byte(name)).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, err
}

// lockWorktree returns the id of a work tree, and creates it if necessary. It locks the work tree until the
// transaction ends.
func (s *Store) lockWorktree(ctx context.Context, tx pgx.Tx, name string) (id int64, err error) {
	_, err = tx.Exec(ctx, `
		INSERT INTO ken.worktree (repository, machine, name, host) VALUES ($1, $2, $3, $4)
		ON CONFLICT (repository, machine, name) DO NOTHING`,
		s.repository, s.machine(), []byte(name), []byte(s.opts.Host))
	if err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, `SELECT id FROM ken.worktree WHERE repository = $1 AND machine = $2 AND name = $3 FOR UPDATE`,
		s.repository, s.machine(), []byte(name)).Scan(&id)
	return id, err
}

// LastVerification implements [store.Files].
func (s *Store) LastVerification(ctx context.Context, worktree string) (b store.Verification, ok bool, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) (err error) {
		b, ok, err = s.baseline(ctx, tx, worktree)
		return err
	})
	if err != nil {
		return store.Verification{}, false, err
	}
	return b, ok, nil
}

// baseline reads the baseline of a work tree. If there is none, ok is false and only the generation is set.
func (s *Store) baseline(ctx context.Context, tx pgx.Tx, worktree string) (b store.Verification, ok bool, err error) {
	var head, tree, index, policy, ref, commit []byte
	var at *string
	err = tx.QueryRow(ctx, `
		SELECT generation, head, tree, index_tree, clean, policy, raw,
			upstream_ref, upstream_commit, upstream_known, upstream_ahead, upstream_behind, verified_at
		FROM ken.worktree WHERE repository = $1 AND machine = $2 AND name = $3`,
		s.repository, s.machine(), []byte(worktree)).Scan(
		&b.Generation, &head, &tree, &index, &b.Clean, &policy, &b.Raw,
		&ref, &commit, &b.Upstream.Known, &b.Upstream.Ahead, &b.Upstream.Behind, &at)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return store.Verification{}, false, nil
	case err != nil:
		return store.Verification{}, false, err
	case at == nil:
		return store.Verification{Generation: b.Generation}, false, nil
	}
	b.Head, b.Tree, b.Index = repo.IDFromBytes(head), repo.IDFromBytes(tree), repo.IDFromBytes(index)
	b.Policy, b.Upstream.Ref, b.Upstream.Commit = string(policy), string(ref), repo.IDFromBytes(commit)
	if b.At, err = time.Parse(time.RFC3339Nano, *at); err != nil {
		return b, false, fmt.Errorf("baseline of work tree %q: %w", worktree, err)
	}
	return b, true, nil
}

// setBaseline sets the baseline of a locked work tree.
func (s *Store) setBaseline(ctx context.Context, tx pgx.Tx, worktree int64, b store.Verification) error {
	_, err := tx.Exec(ctx, `
		UPDATE ken.worktree SET
			head = $3, tree = $4, index_tree = $5, clean = $6, policy = $7, raw = $8,
			upstream_ref = $9, upstream_commit = $10, upstream_known = $11, upstream_ahead = $12, upstream_behind = $13,
			verified_at = $14
		WHERE repository = $1 AND id = $2`,
		s.repository, worktree, idBytes(b.Head), idBytes(b.Tree), idBytes(b.Index), b.Clean, []byte(b.Policy), b.Raw,
		[]byte(b.Upstream.Ref), idBytes(b.Upstream.Commit), b.Upstream.Known, b.Upstream.Ahead, b.Upstream.Behind,
		b.At.UTC().Format(time.RFC3339Nano))
	return err
}

// clearClean removes the clean flag and the index from the baseline of a work tree. The commit stays.
func (s *Store) clearClean(ctx context.Context, tx pgx.Tx, worktree int64) error {
	_, err := tx.Exec(ctx, `UPDATE ken.worktree SET clean = false, index_tree = NULL WHERE repository = $1 AND id = $2`, s.repository, worktree)
	return err
}

// advance begins the next generation of a work tree. The increment is random, so that a database that was created
// again or restored from a backup does not repeat a generation.
func (s *Store) advance(ctx context.Context, tx pgx.Tx, worktree int64) error {
	_, err := tx.Exec(ctx, `UPDATE ken.worktree SET generation = generation + $3 WHERE repository = $1 AND id = $2`,
		s.repository, worktree, 1+rand.Int64N(1<<31))
	return err
}

// prune deletes the work trees of this machine that are not listed.
func (s *Store) prune(ctx context.Context, tx pgx.Tx, keep []string) error {
	names := columns(len(keep))
	for i, name := range keep {
		names[i] = []byte(name)
	}
	for _, query := range []string{
		`DELETE FROM ken.file f USING ken.worktree w
		WHERE w.repository = $1 AND w.machine = $2 AND w.name <> ALL ($3::bytea[]) AND f.repository = w.repository AND f.worktree = w.id`,
		`DELETE FROM ken.worktree WHERE repository = $1 AND machine = $2 AND name <> ALL ($3::bytea[])`,
		`DELETE FROM ken.lease WHERE repository = $1 AND machine = $2 AND worktree <> ALL ($3::bytea[])`,
	} {
		if _, err := tx.Exec(ctx, query, s.repository, s.machine(), names); err != nil {
			return err
		}
	}
	return nil
}

// Machines returns the work trees of all machines, sorted by host, machine and name.
func (s *Store) Machines(ctx context.Context) (list []store.Machine, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT machine, host, name, head, verified_at, told_at, files, fresh, stale, none
			FROM ken.worktree WHERE repository = $1 ORDER BY host, machine, name`, s.repository)
		var machine, host, name, head []byte
		var verified *string
		var told *time.Time
		var t store.FileCounts
		return scanAll(rows, err, func() error {
			m := store.Machine{
				ID: string(machine), Host: string(host), Worktree: string(name), Head: repo.IDFromBytes(head),
				Files: t.Files, Fresh: t.Fresh, Stale: t.Stale, None: t.None,
			}
			if verified != nil {
				if m.Verified, err = time.Parse(time.RFC3339Nano, *verified); err != nil {
					return err
				}
			}
			if told != nil {
				m.ReportedAt = told.UTC()
			}
			list = append(list, m)
			return nil
		}, &machine, &host, &name, &head, &verified, &told, &t.Files, &t.Fresh, &t.Stale, &t.None)
	})
	return list, err
}

// SaveWorktree writes the baseline and the counts of a work tree of this machine. b is nil if the work tree was never
// verified. The rows may follow later, and begin the next generation then.
func (s *Store) SaveWorktree(ctx context.Context, worktree string, b *store.Verification, t store.FileCounts) error {
	pool, err := s.Pool(ctx)
	if err != nil {
		return err
	}
	// Use one statement, because the server may be distant.
	if b == nil {
		_, err = pool.Exec(ctx, `
			INSERT INTO ken.worktree (repository, machine, name, host, told_at, files, fresh, stale, none, excluded)
			VALUES ($1, $2, $3, $4, now(), $5, $6, $7, $8, $9)
			ON CONFLICT (repository, machine, name) DO UPDATE SET
				host = excluded.host, told_at = excluded.told_at,
				files = excluded.files, fresh = excluded.fresh, stale = excluded.stale, none = excluded.none, excluded = excluded.excluded`,
			s.repository, s.machine(), []byte(worktree), []byte(s.opts.Host), t.Files, t.Fresh, t.Stale, t.None, t.Excluded)
		return s.explain("write", err)
	}
	_, err = pool.Exec(ctx, `
		INSERT INTO ken.worktree (repository, machine, name, host, told_at, files, fresh, stale, none, excluded,
			head, tree, index_tree, clean, policy, raw,
			upstream_ref, upstream_commit, upstream_known, upstream_ahead, upstream_behind, verified_at)
		VALUES ($1, $2, $3, $4, now(), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
		ON CONFLICT (repository, machine, name) DO UPDATE SET
			host = excluded.host, told_at = excluded.told_at,
			files = excluded.files, fresh = excluded.fresh, stale = excluded.stale, none = excluded.none, excluded = excluded.excluded,
			head = excluded.head, tree = excluded.tree, index_tree = excluded.index_tree, clean = excluded.clean,
			policy = excluded.policy, raw = excluded.raw,
			upstream_ref = excluded.upstream_ref, upstream_commit = excluded.upstream_commit, upstream_known = excluded.upstream_known,
			upstream_ahead = excluded.upstream_ahead, upstream_behind = excluded.upstream_behind, verified_at = excluded.verified_at`,
		s.repository, s.machine(), []byte(worktree), []byte(s.opts.Host), t.Files, t.Fresh, t.Stale, t.None, t.Excluded,
		idBytes(b.Head), idBytes(b.Tree), idBytes(b.Index), b.Clean, []byte(b.Policy), b.Raw,
		[]byte(b.Upstream.Ref), idBytes(b.Upstream.Commit), b.Upstream.Known, b.Upstream.Ahead, b.Upstream.Behind,
		b.At.UTC().Format(time.RFC3339Nano))
	return s.explain("write", err)
}
