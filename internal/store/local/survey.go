package local

import (
	"context"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/sqlite"
)

var (
	_ store.Directories = (*Store)(nil)
	_ store.Leases      = (*Store)(nil)
)

// Latest implements [store.Directories].
func (s *Store) Latest(ctx context.Context) (map[repo.Path][]*store.DirRecord, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[repo.Path][]*store.DirRecord, error) {
		return db.Latest(ctx)
	})
}

// Describes reports whether a directory has a record.
func (s *Store) Describes(ctx context.Context) (bool, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (bool, error) { return db.Describes(ctx) })
}

// SurveyMark identifies everything that a survey of a worktree finds in the store now. It is "" while records go to the
// spool, and for a store without rows.
func (s *Store) SurveyMark(ctx context.Context, worktree string) (string, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (string, error) {
		if db != s.main {
			return "", nil
		}
		return db.SurveyMark(ctx, worktree)
	})
}

// WrittenFrom implements [store.Directories].
func (s *Store) WrittenFrom(ctx context.Context, bases []fresh.Digest) (map[fresh.Digest][]*store.DirRecord, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[fresh.Digest][]*store.DirRecord, error) {
		return db.WrittenFrom(ctx, bases)
	})
}

// WrittenIn implements [store.Directories].
func (s *Store) WrittenIn(ctx context.Context, places []store.DirVersion) (map[store.DirVersion][]*store.DirRecord, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[store.DirVersion][]*store.DirRecord, error) {
		return db.WrittenIn(ctx, places)
	})
}

// WrittenOf implements [store.Directories].
func (s *Store) WrittenOf(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[repo.Path][]*store.DirRecord, error) {
		return db.WrittenOf(ctx, dirs)
	})
}

// Kept implements [store.Directories].
func (s *Store) Kept(ctx context.Context, id fresh.Digest) (*store.DirRecord, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (*store.DirRecord, error) {
		return db.Kept(ctx, id)
	})
}

// Keep implements [store.Directories].
func (s *Store) Keep(ctx context.Context, records []*store.DirRecord) error {
	if len(records) == 0 {
		return ctx.Err()
	}
	_, err := use(ctx, s, true, func(db *sqlite.Store) (struct{}, error) {
		return struct{}{}, db.Keep(ctx, records)
	})
	return err
}

// Failures implements [store.Directories].
func (s *Store) Failures(ctx context.Context) (map[repo.Path]store.DirFailure, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[repo.Path]store.DirFailure, error) {
		return db.Failures(ctx)
	})
}

// KeepFailure implements [store.Directories].
func (s *Store) KeepFailure(ctx context.Context, f store.DirFailure) error {
	_, err := use(ctx, s, true, func(db *sqlite.Store) (struct{}, error) {
		return struct{}{}, db.KeepFailure(ctx, f)
	})
	return err
}

// Leases implements [store.Leases].
func (s *Store) Leases(ctx context.Context, worktree string) (map[repo.Path]store.Lease, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[repo.Path]store.Lease, error) {
		return db.Leases(ctx, worktree)
	})
}

// Take implements [store.Leases].
func (s *Store) Take(ctx context.Context, worktree string, l store.Lease, now time.Time) (bool, error) {
	return use(ctx, s, true, func(db *sqlite.Store) (bool, error) {
		return db.Take(ctx, worktree, l, now)
	})
}

// Settle implements [store.Leases].
func (s *Store) Settle(ctx context.Context, worktree string, l store.Lease, r *store.DirRecord) (bool, error) {
	return use(ctx, s, true, func(db *sqlite.Store) (bool, error) {
		return db.Settle(ctx, worktree, l, r)
	})
}
