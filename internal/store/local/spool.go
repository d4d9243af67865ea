package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"ken/internal/store/sqlite"
)

// The spool is a whole store of its own, so that what was written to it reads
// back at once, and sandboxes that share it see each other's words.
//
// A file beside it, "pending", stands from before the first write until the
// records are safe in the git directory. It is made and removed while the
// spool's write lock is held: so whoever sees it gone finds nothing to merge,
// and a writer that comes after the merge sets it again. The spool's file itself
// is emptied, never removed: another process may have it open.

// markPending sets the mark. It is called inside every transaction that writes
// to the spool.
func (s *Store) markPending() error {
	if exists(s.pending) {
		return nil
	}
	f, err := os.OpenFile(s.pending, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(s.main.Path() + "\n"); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(s.pending))
}

// current reports whether the spool holds what main does. An error is for the
// next question to meet.
func (s *Store) current(ctx context.Context) bool {
	source, err := s.spool.Source(ctx)
	return err == nil && source == sqlite.Stamp(s.main.Path()) && exists(s.pending)
}

// refresh makes the spool, if need be, and copies into it what main has and it
// has not.
func (s *Store) refresh(ctx context.Context) error {
	stamp := sqlite.Stamp(s.main.Path())
	source, err := s.spool.Source(ctx)
	if err != nil {
		return err
	}
	if source == stamp && exists(s.pending) {
		return nil
	}
	// What is learned about a private repository is nobody else's business.
	if err := os.MkdirAll(filepath.Dir(s.spool.Path()), 0o700); err != nil {
		if errors.Is(err, fs.ErrPermission) || isReadOnlyFS(err) {
			return errors.Join(ErrReadOnly, err)
		}
		return err
	}
	return s.spool.Import(ctx, s.readonly, stamp)
}

// merge moves the spool's records into main, which is known to be writable, and
// empties the spool once they are safe. Failures and leases go with them, so that
// an agent that took a directory in a sandbox can hand it in. Rows and baselines are
// let go: the next verification finds the texts by their content.
func (s *Store) merge(ctx context.Context) error {
	if !exists(s.spool.Path()) {
		return os.Remove(s.pending) // made by a run that died before it wrote
	}
	err := s.spool.Drain(ctx, func(all *sqlite.Kept) error {
		if err := s.main.Receive(ctx, all); err != nil {
			return err
		}
		return os.Remove(s.pending)
	})
	return errors.Join(err, s.spool.Close())
}
