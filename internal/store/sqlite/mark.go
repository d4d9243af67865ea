package sqlite

import (
	"context"
	"crypto/sha256"
	"fmt"

	"zombiezen.com/go/sqlite"

	"ken/internal/repo"
	"ken/internal/survey"
)

// SurveyMark names all that a survey of a worktree finds in the store: rows, records of
// directories, and failures. Whatever changes one of them changes the mark, and no mark
// comes back with something else: generations are never used twice, not even by a
// database that was made anew or put back, and the last record is named by what it says.
// It is "" where there are no rows.
func (s *Store) SurveyMark(ctx context.Context, worktree string) (mark string, err error) {
	err = s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		mark = ""
		base, verified, err := baselineOf(conn, worktree)
		if err != nil || !verified {
			return err
		}
		last, err := conn.Prepare(`SELECT seq, id FROM directory_record ORDER BY seq DESC LIMIT 1`)
		if err != nil {
			return err
		}
		defer last.Reset()
		if _, err := last.Step(); err != nil {
			return err
		}
		var id [sha256.Size]byte
		last.ColumnBytes(1, id[:])
		failed, err := failureSum(conn)
		mark = fmt.Sprintf("%d %d %x %x", base.Generation, last.ColumnInt64(0), id, failed)
		return err
	})
	return mark, err
}

// failureSum is over all failures.
func failureSum(conn *sqlite.Conn) ([sha256.Size]byte, error) {
	stmt, err := conn.Prepare(`SELECT path, basis_id, reason, at FROM directory_failure ORDER BY path`)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	defer stmt.Reset()
	var all []byte
	var scan scanner
	for {
		more, err := stmt.Step()
		if !more || err != nil {
			return sha256.Sum256(all), err
		}
		for col := range 3 {
			all = appendBytes(all, scan.bytes(stmt, col))
		}
		all = fmt.Appendf(all, "%d\n", stmt.ColumnInt64(3))
	}
}

// LatestOf is Latest for some directories.
func (s *Store) LatestOf(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*survey.Record, error) {
	latest := make(map[repo.Path][]*survey.Record)
	err := s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		clear(latest)
		stmt, err := conn.Prepare(`
			SELECT r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.text, r.basis, r.seq
			FROM directory_latest l JOIN directory_record r ON r.seq = l.record
			WHERE l.path = ?1`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		var read directoryReader
		for _, dir := range dirs {
			stmt.BindBytes(1, []byte(dir))
			var hits []directoryHit
			for {
				more, err := stmt.Step()
				if err != nil {
					return err
				}
				if !more {
					break
				}
				hit, err := read.hit(stmt)
				if err != nil {
					return err
				}
				hits = append(hits, hit)
			}
			if err := stmt.Reset(); err != nil {
				return err
			}
			if len(hits) > 0 {
				latest[dir] = newestFirst(hits...)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return latest, nil
}
