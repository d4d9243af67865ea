package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/repo"
	"ken/internal/store"
)

// A leaseRow has the columns of a lease.
type leaseRow struct {
	worktree string
	path     []byte
	token    string
	expires  int64
	recipe   string // with the id of the shown record in the second line and the holder in the third
	basis    []byte
}

func leaseRowOf(worktree string, l store.Lease) leaseRow {
	row := leaseRow{worktree, []byte(l.Path), l.Token, l.Expires.UnixMicro(), l.Recipe, appendBasis(nil, l.Basis)}
	shown := ""
	if !l.Shown.IsZero() {
		shown = l.Shown.String()
	}
	if shown != "" || l.Holder != "" {
		row.recipe += "\n" + shown
	}
	if l.Holder != "" {
		row.recipe += "\n" + l.Holder
	}
	return row
}

// lease returns the lease of a row.
func (l leaseRow) lease(read *basisReader) (store.Lease, error) {
	recipe, rest, _ := strings.Cut(l.recipe, "\n")
	shown, holder, _ := strings.Cut(rest, "\n")
	out := store.Lease{Path: repo.Path(l.path), Token: l.token, Expires: time.UnixMicro(l.expires).UTC(), Recipe: recipe, Holder: holder}
	var err error
	if out.Basis, err = read.read(l.basis); err == nil && shown != "" {
		err = out.Shown.UnmarshalText([]byte(shown))
	}
	if err != nil {
		return out, fmt.Errorf("lease of %s: %w", repo.DirLabel(out.Path), err)
	}
	return out, nil
}

// columns returns the values of the columns worktree, path, token, expires, recipe and basis.
func (l leaseRow) columns() []any {
	return []any{l.worktree, l.path, l.token, l.expires, l.recipe, l.basis}
}

// Leases implements [store.Leases].
func (s *Store) Leases(ctx context.Context, worktree string) (map[repo.Path]store.Lease, error) {
	held := make(map[repo.Path]store.Lease)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(held)
		rows, err := leases(conn)
		if err != nil {
			return err
		}
		var read basisReader
		for _, row := range rows {
			if row.worktree != worktree {
				continue
			}
			l, err := row.lease(&read)
			if err != nil {
				return err
			}
			held[l.Path] = l
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

// leases returns the leases of all work trees, including expired ones. They are few: one for each agent.
func leases(conn *sqlite.Conn) (rows []leaseRow, err error) {
	var scan scanner
	err = each(conn, `SELECT worktree, path, token, expires, recipe, basis FROM lease`, func(stmt *sqlite.Stmt) error {
		rows = append(rows, leaseRow{
			worktree: stmt.ColumnText(0),
			path:     []byte(scan.path(stmt, 1)),
			token:    stmt.ColumnText(2),
			expires:  stmt.ColumnInt64(3),
			recipe:   stmt.ColumnText(4),
			basis:    slices.Clone(scan.bytes(stmt, 5)),
		})
		return nil
	})
	return rows, err
}

// Acquire implements [store.Leases]. If the lease exists already, Acquire sets its expiry to that of this one.
func (s *Store) Acquire(ctx context.Context, worktree string, l store.Lease, now time.Time) (ok bool, err error) {
	row := leaseRowOf(worktree, l)
	err = s.write(ctx, relaxed, func(conn *sqlite.Conn) error {
		err := execute(conn, `
			INSERT INTO lease (worktree, path, token, expires, recipe, basis) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
			ON CONFLICT (worktree, path) DO UPDATE SET token = ?3, expires = ?4, recipe = ?5, basis = ?6
			WHERE expires <= ?7 OR token = ?3`, append(row.columns(), now.UnixMicro())...)
		ok = conn.Changes() > 0
		return err
	})
	return ok && err == nil, err
}

// Complete implements [store.Leases].
func (s *Store) Complete(ctx context.Context, worktree string, l store.Lease, r *store.DirRecord) (ok bool, err error) {
	row, err := directoryRowOf(r)
	if err != nil {
		return false, fmt.Errorf("keep the text about %s: %w", repo.DirLabel(r.Path), err)
	}
	err = s.write(ctx, durable, func(conn *sqlite.Conn) error {
		err := execute(conn, `DELETE FROM lease WHERE worktree = ?1 AND path = ?2 AND token = ?3`, worktree, l.Path, l.Token)
		if err != nil {
			return err
		}
		if ok = conn.Changes() > 0; !ok {
			return nil
		}
		return s.addDirRecords(conn, []directoryRow{row})
	})
	return ok && err == nil, err
}

// addLeases adds leases of another store. Of two leases of a directory, it keeps the one that expires later.
func addLeases(conn *sqlite.Conn, rows []leaseRow) error {
	for _, l := range rows {
		err := execute(conn, `
			INSERT INTO lease (worktree, path, token, expires, recipe, basis) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
			ON CONFLICT (worktree, path) DO UPDATE SET token = ?3, expires = ?4, recipe = ?5, basis = ?6
			WHERE expires < ?4`, l.columns()...)
		if err != nil {
			return err
		}
	}
	return nil
}

// pruneLeases deletes the leases of work trees that are not listed.
func pruneLeases(conn *sqlite.Conn, keep []string) error {
	rows, err := leases(conn)
	if err != nil {
		return err
	}
	for _, l := range rows {
		if slices.Contains(keep, l.worktree) {
			continue
		}
		if err := execute(conn, `DELETE FROM lease WHERE worktree = ?1`, l.worktree); err != nil {
			return err
		}
	}
	return nil
}
