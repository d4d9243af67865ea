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

// HasDirRecords reports whether a directory has a record.
func (s *Store) HasDirRecords(ctx context.Context) (bool, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (bool, error) { return db.HasDirRecords(ctx) })
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

// DirRecordsByBasis implements [store.Directories].
func (s *Store) DirRecordsByBasis(ctx context.Context, bases []fresh.Digest) (map[fresh.Digest][]*store.DirRecord, error) {
	return read(ctx, s, (*sqlite.Store).DirRecordsByBasis, bases)
}

// DirRecordsByVersion implements [store.Directories].
func (s *Store) DirRecordsByVersion(ctx context.Context, places []store.DirVersion) (map[store.DirVersion][]*store.DirRecord, error) {
	return read(ctx, s, (*sqlite.Store).DirRecordsByVersion, places)
}

// PastDirRecords implements [store.Directories].
func (s *Store) PastDirRecords(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error) {
	return read(ctx, s, (*sqlite.Store).PastDirRecords, dirs)
}

// DirRecord implements [store.Directories].
func (s *Store) DirRecord(ctx context.Context, id fresh.Digest) (*store.DirRecord, error) {
	return read(ctx, s, (*sqlite.Store).DirRecord, id)
}

// SaveDirRecords implements [store.Directories].
func (s *Store) SaveDirRecords(ctx context.Context, records []*store.DirRecord) error {
	if len(records) == 0 {
		return ctx.Err()
	}
	return s.change(ctx, func(db *sqlite.Store) error { return db.SaveDirRecords(ctx, records) })
}

// Failures implements [store.Directories].
func (s *Store) Failures(ctx context.Context) (map[repo.Path]store.DirFailure, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[repo.Path]store.DirFailure, error) {
		return db.Failures(ctx)
	})
}

// SaveFailure implements [store.Directories].
func (s *Store) SaveFailure(ctx context.Context, f store.DirFailure) error {
	return s.change(ctx, func(db *sqlite.Store) error { return db.SaveFailure(ctx, f) })
}

// Leases implements [store.Leases].
func (s *Store) Leases(ctx context.Context, worktree string) (map[repo.Path]store.Lease, error) {
	return read(ctx, s, (*sqlite.Store).Leases, worktree)
}

// Acquire implements [store.Leases].
func (s *Store) Acquire(ctx context.Context, worktree string, l store.Lease, now time.Time) (bool, error) {
	return use(ctx, s, true, func(db *sqlite.Store) (bool, error) {
		return db.Acquire(ctx, worktree, l, now)
	})
}

// Complete implements [store.Leases].
func (s *Store) Complete(ctx context.Context, worktree string, l store.Lease, r *store.DirRecord) (bool, error) {
	return use(ctx, s, true, func(db *sqlite.Store) (bool, error) {
		return db.Complete(ctx, worktree, l, r)
	})
}
