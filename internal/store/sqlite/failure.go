package sqlite

import (
	"context"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// Failures implements [store.Directories].
func (s *Store) Failures(ctx context.Context) (failed map[repo.Path]store.DirFailure, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) {
		failed, err = failures(conn)
		return err
	})
	if err != nil {
		return nil, err
	}
	if failed == nil {
		failed = make(map[repo.Path]store.DirFailure)
	}
	return failed, nil
}

func failures(conn *sqlite.Conn) (map[repo.Path]store.DirFailure, error) {
	failed := make(map[repo.Path]store.DirFailure)
	var scan scanner
	err := each(conn, `SELECT path, basis_id, reason, at FROM directory_failure`, func(stmt *sqlite.Stmt) error {
		f := store.DirFailure{Path: scan.path(stmt, 0), Reason: stmt.ColumnText(2), At: time.UnixMicro(stmt.ColumnInt64(3)).UTC()}
		stmt.ColumnBytes(1, f.Basis[:])
		failed[f.Path] = f
		return nil
	})
	return failed, err
}

// SaveFailure implements [store.Directories]. It is not synced to disk, because ken can find the
// failure again.
func (s *Store) SaveFailure(ctx context.Context, f store.DirFailure) error {
	return s.write(ctx, relaxed, func(conn *sqlite.Conn) error { return saveFailure(conn, f) })
}

// saveFailure stores a failure, unless the directory has a newer record or failure. Of two at the same time, the
// later call wins.
func saveFailure(conn *sqlite.Conn, f store.DirFailure) error {
	return execute(conn, `
		INSERT INTO directory_failure (path, basis_id, reason, at)
		SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM directory_latest WHERE path = ?1 AND at > ?4)
		ON CONFLICT (path) DO UPDATE SET basis_id = ?2, reason = ?3, at = ?4 WHERE at <= ?4`, f.Path, f.Basis, f.Reason, f.At.UnixMicro())
}

func bindDigest(stmt *sqlite.Stmt, param int, d fresh.Digest) {
	if d.IsZero() {
		stmt.BindNull(param)
	} else {
		stmt.BindBytes(param, d[:])
	}
}
