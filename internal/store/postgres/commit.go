package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"ken/internal/store"
)

// Commit implements [store.Files].
func (s *Store) Commit(ctx context.Context, worktree string, c store.FileChanges, still func() (bool, error)) error {
	if c.IsZero() && c.Worktrees == nil {
		return ctx.Err()
	}
	return s.write(ctx, "write", func(tx pgx.Tx) error {
		if err := s.addRecords(ctx, tx, c.Records); err != nil {
			return err
		}
		if len(c.Put)+len(c.Delete) > 0 || c.Verification != nil {
			if err := s.change(ctx, tx, worktree, c, still); err != nil {
				return err
			}
		}
		if c.Worktrees == nil {
			return nil
		}
		return s.prune(ctx, tx, c.Worktrees)
	})
}

// change writes the changes of a work tree.
func (s *Store) change(ctx context.Context, tx pgx.Tx, worktree string, c store.FileChanges, still func() (bool, error)) error {
	id, err := s.lockWorktree(ctx, tx, worktree)
	if err != nil {
		return err
	}
	if err := s.put(ctx, tx, id, c.Put); err != nil {
		return err
	}
	if err := s.remove(ctx, tx, id, c.Delete); err != nil {
		return err
	}
	set := false
	if c.Verification != nil {
		now, _, err := s.baseline(ctx, tx, worktree)
		if err != nil {
			return err
		}
		set = now.Generation == c.Verification.Generation
	}
	if set && still != nil {
		if set, err = still(); err != nil {
			return &callbackError{err}
		}
	}
	moved := len(c.Put)+len(c.Delete) > 0
	switch {
	case set:
		err = s.setBaseline(ctx, tx, id, *c.Verification)
	case moved:
		err = s.clearClean(ctx, tx, id)
	}
	if err != nil || !set && !moved {
		return err
	}
	return s.advance(ctx, tx, id)
}
