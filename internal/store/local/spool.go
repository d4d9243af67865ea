package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"ken/internal/store/sqlite"
)

// The spool is a complete store, so that its records can be read at once, and sandboxes that share it see each
// other's records.
//
// A file beside it, "pending", exists from before the first write until the records are in the git directory. It is
// created and removed under the write lock of the spool. So there is nothing to merge without it, and a writer that
// comes after the merge creates it again. The spool's file is emptied, never removed: another process may have it
// open.

// markPending creates that file. Every transaction that writes to the spool calls it.
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

// spoolIsCurrent reports whether the spool has the data of main. The next call reports an error.
func (s *Store) spoolIsCurrent(ctx context.Context) bool {
	source, err := s.spool.Source(ctx)
	return err == nil && source == sqlite.FileStamp(s.main.Path()) && exists(s.pending)
}

// refresh creates the spool if necessary, and copies the data of main that it does not have.
func (s *Store) refresh(ctx context.Context) error {
	stamp := sqlite.FileStamp(s.main.Path())
	source, err := s.spool.Source(ctx)
	if err != nil {
		return err
	}
	if source == stamp && exists(s.pending) {
		return nil
	}
	// Other users must not read summaries of a private repository.
	if err := os.MkdirAll(filepath.Dir(s.spool.Path()), 0o700); err != nil {
		if errors.Is(err, fs.ErrPermission) || isReadOnlyFS(err) {
			return errors.Join(ErrReadOnly, err)
		}
		return err
	}
	return s.spool.Import(ctx, s.readonly, stamp)
}

// merge moves the spool's records into main, which is writable, and then empties the spool. Failures and leases
// move too, so that an agent can hand in a directory that it took in a sandbox. Rows and verifications are dropped:
// the next verification finds the summaries by content.
func (s *Store) merge(ctx context.Context) error {
	if !exists(s.spool.Path()) {
		return os.Remove(s.pending) // of a run that died before it wrote
	}
	err := s.spool.Drain(ctx, func(all *sqlite.Bundle) error {
		if err := s.main.AddBundle(ctx, all); err != nil {
			return err
		}
		return os.Remove(s.pending)
	})
	return errors.Join(err, s.spool.Close())
}
