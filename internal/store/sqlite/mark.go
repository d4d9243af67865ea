package sqlite

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A SurveyMark names all that a survey of a worktree finds in a store: rows, records of
// directories, and failures. Whatever changes one of them changes the mark, and no mark
// comes back with something else: generations are never used twice, not even by a
// database that was made anew or put back, and the last record is named by what it says.
// The zero mark is that of a store without rows.
type SurveyMark struct {
	Baseline store.Verification // with the generation of the rows
	Written  string             // of records and failures

	last   int64 // record
	failed [sha256.Size]byte
}

// IsZero reports whether there are no rows.
func (m SurveyMark) IsZero() bool { return m.Written == "" }

func (m SurveyMark) String() string { return fmt.Sprint(m.Baseline.Generation, " ", m.Written) }

// SurveyMark returns the mark of what there is now.
func (s *Store) SurveyMark(ctx context.Context, worktree string) (mark SurveyMark, err error) {
	err = s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		mark, err = surveyMark(conn, worktree)
		return err
	})
	return mark, err
}

func surveyMark(conn *sqlite.Conn, worktree string) (mark SurveyMark, err error) {
	base, verified, err := baselineOf(conn, worktree)
	if err != nil || !verified {
		return SurveyMark{}, err
	}
	last, err := conn.Prepare(`SELECT seq, id FROM directory_record ORDER BY seq DESC LIMIT 1`)
	if err != nil {
		return SurveyMark{}, err
	}
	defer last.Reset()
	if _, err := last.Step(); err != nil {
		return SurveyMark{}, err
	}
	var id [sha256.Size]byte
	last.ColumnBytes(1, id[:])
	mark = SurveyMark{Baseline: base, last: last.ColumnInt64(0)}
	if mark.failed, err = failureSum(conn); err != nil {
		return SurveyMark{}, err
	}
	mark.Written = fmt.Sprintf("%d %x %x", mark.last, id, mark.failed)
	return mark, nil
}

// SurveyMarkAfter returns the mark of what there is now, if nothing has happened since
// another mark but that some of these records were kept; the zero one otherwise.
func (s *Store) SurveyMarkAfter(ctx context.Context, worktree string, before SurveyMark, kept []*store.DirRecord) (mark SurveyMark, err error) {
	ours := make(map[fresh.Digest]bool, len(kept))
	for _, r := range kept {
		ours[r.ID()] = true
	}
	err = s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		mark = SurveyMark{}
		now, err := surveyMark(conn, worktree)
		if err != nil || now.Baseline.Generation != before.Baseline.Generation || now.failed != before.failed || now.last < before.last {
			return err
		}
		stmt, err := conn.Prepare(`SELECT id FROM directory_record WHERE seq > ?1 AND seq <= ?2`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		stmt.BindInt64(1, before.last)
		stmt.BindInt64(2, now.last)
		for {
			more, err := stmt.Step()
			if err != nil {
				return err
			}
			if !more {
				mark = now
				return nil
			}
			var id fresh.Digest
			if stmt.ColumnBytes(0, id[:]); !ours[id] {
				return nil
			}
		}
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
func (s *Store) LatestOf(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error) {
	latest := make(map[repo.Path][]*store.DirRecord)
	err := s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		clear(latest)
		stmt, err := conn.Prepare(`
			SELECT r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.text, r.basis, r.seq, r.id, l.path, l.outlined
			FROM directory_latest l LEFT JOIN directory_record r ON r.seq = l.record
			WHERE l.path = ?1`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		read := directoryReader{store: s}
		for _, dir := range dirs {
			stmt.BindBytes(1, []byte(dir))
			if err := read.latest(conn, stmt, latest); err != nil {
				return err
			}
			if err := stmt.Reset(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return latest, nil
}

// RowsIn returns the rows of a worktree whose files lie directly in one of some
// directories.
func (s *Store) RowsIn(ctx context.Context, worktree string, dirs []repo.Path) ([]store.FileRow, error) {
	var rows []store.FileRow
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		rows = nil
		// What lies below a directory is skipped by going on behind it.
		stmt, err := conn.Prepare(`
			SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
			FROM file WHERE worktree = (SELECT id FROM worktree WHERE name = ?1) AND path >= ?2
			ORDER BY path`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		stmt.BindText(1, worktree)
		var scan scanner
		for _, dir := range dirs {
			prefix := string(dir)
			if prefix != "" {
				prefix += "/"
			}
			for from := prefix; ; {
				if err := stmt.Reset(); err != nil {
					return err
				}
				stmt.BindBytes(2, []byte(from))
				from = ""
				for {
					more, err := stmt.Step()
					if err != nil {
						return err
					}
					rest, ok := "", false
					if more {
						rest, ok = strings.CutPrefix(string(scan.bytes(stmt, 0)), prefix)
					}
					if !ok {
						break
					}
					if sub, _, deeper := strings.Cut(rest, "/"); deeper {
						from = prefix + sub + "0" // the character behind the slash
						break
					}
					rows = append(rows, scan.row(stmt))
				}
				if from == "" {
					break
				}
			}
		}
		return nil
	})
	return rows, err
}
