package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/repo"
	"ken/internal/store"
)

// Leases implements [store.Leases].
func (s *Store) Leases(ctx context.Context, worktree string) (map[repo.Path]store.Lease, error) {
	held := make(map[repo.Path]store.Lease)
	err := s.read(ctx, "read", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT path, token, expires, recipe, shown, basis FROM ken.lease
			WHERE repository = $1 AND machine = $2 AND worktree = $3`, s.repository, s.machine(), []byte(worktree))
		var path, token, recipe, shown, basis []byte
		var expires time.Time
		return scanAll(rows, err, func() error {
			// The second line of the recipe is the holder.
			word, holder, _ := strings.Cut(string(recipe), "\n")
			l := store.Lease{Path: repo.Path(path), Token: string(token), Expires: expires.UTC(), Recipe: word, Holder: holder}
			copy(l.Shown[:], shown)
			if err := json.Unmarshal(basis, &l.Basis); err != nil {
				return fmt.Errorf("lease of %s: %w", repo.DirLabel(l.Path), err)
			}
			held[l.Path] = l
			return nil
		}, &path, &token, &expires, &recipe, &shown, &basis)
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

// Acquire implements [store.Leases]. If the lease exists already, Acquire sets its expiry to that of this one.
func (s *Store) Acquire(ctx context.Context, worktree string, l store.Lease, now time.Time) (ok bool, err error) {
	basis, err := json.Marshal(l.Basis)
	if err != nil {
		return false, fmt.Errorf("lease of %s: %w", repo.DirLabel(l.Path), err)
	}
	var shown []byte
	if !l.Shown.IsZero() {
		shown = l.Shown[:]
	}
	recipe := l.Recipe
	if l.Holder != "" {
		recipe += "\n" + l.Holder
	}
	err = s.write(ctx, "write", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			INSERT INTO ken.lease AS l (repository, machine, worktree, path, token, expires, recipe, shown, basis)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (repository, machine, worktree, path) DO UPDATE SET
				token = excluded.token, expires = excluded.expires, recipe = excluded.recipe, shown = excluded.shown, basis = excluded.basis
			WHERE l.expires <= $10 OR l.token = excluded.token`,
			s.repository, s.machine(), []byte(worktree), []byte(l.Path), []byte(l.Token), l.Expires, []byte(recipe), shown, string(basis), now)
		ok = tag.RowsAffected() > 0
		return err
	})
	return ok && err == nil, err
}

// Complete implements [store.Leases].
func (s *Store) Complete(ctx context.Context, worktree string, l store.Lease, r *store.DirRecord) (ok bool, err error) {
	err = s.write(ctx, "write", func(tx pgx.Tx) error {
		// Lock the repository before the lease, as Commit does, to avoid a deadlock.
		if _, err := s.reserve(ctx, tx, 0); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			DELETE FROM ken.lease WHERE repository = $1 AND machine = $2 AND worktree = $3 AND path = $4 AND token = $5`,
			s.repository, s.machine(), []byte(worktree), []byte(l.Path), []byte(l.Token))
		if ok = tag.RowsAffected() > 0; !ok || err != nil {
			return err
		}
		return s.SaveDirRecordsTx(ctx, tx, []*store.DirRecord{r})
	})
	return ok && err == nil, err
}
