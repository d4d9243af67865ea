package sqlite

import (
	"context"
	"crypto/sha256"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// SurveyMark identifies everything that a survey of a worktree finds in the store now: rows, records of
// directories, and failures. A change of one of them changes the mark, and an earlier mark never returns with
// other content: generations are never used twice, not even by a database that was created again or restored, and
// the mark contains the id of the last record. It is "" for a store without rows.
func (s *Store) SurveyMark(ctx context.Context, worktree string) (mark string, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		mark, err = surveyMark(conn, worktree)
		return err
	})
	return mark, err
}

func surveyMark(conn *sqlite.Conn, worktree string) (string, error) {
	base, verified, err := baselineOf(conn, worktree)
	if err != nil || !verified {
		return "", err
	}
	var seq int64
	var id [sha256.Size]byte
	err = each(conn, `SELECT seq, id FROM directory_record ORDER BY seq DESC LIMIT 1`, func(stmt *sqlite.Stmt) error {
		seq = stmt.ColumnInt64(0)
		stmt.ColumnBytes(1, id[:])
		return nil
	})
	if err != nil {
		return "", err
	}
	failures, err := failureSum(conn)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %d %x %x", base.Generation, seq, id, failures), nil
}

// failureSum returns a hash of all failures.
func failureSum(conn *sqlite.Conn) ([sha256.Size]byte, error) {
	var all []byte
	var scan scanner
	err := each(conn, `SELECT path, basis_id, reason, at FROM directory_failure ORDER BY path`, func(stmt *sqlite.Stmt) error {
		for col := range 3 {
			all = appendBytes(all, scan.bytes(stmt, col))
		}
		all = fmt.Appendf(all, "%d\n", stmt.ColumnInt64(3))
		return nil
	})
	return sha256.Sum256(all), err
}
