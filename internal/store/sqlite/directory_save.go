package sqlite

import (
	"context"
	"fmt"
	"slices"

	"zombiezen.com/go/sqlite"

	"ken/internal/repo"
	"ken/internal/store"
)

// SaveDirRecords implements [store.Directories]. Outlines are not synced to disk, because ken can compute
// them again after a power cut.
func (s *Store) SaveDirRecords(ctx context.Context, records []*store.DirRecord) error {
	if len(records) == 0 {
		return ctx.Err()
	}
	d := relaxed
	if slices.ContainsFunc(records, func(r *store.DirRecord) bool { return !r.IsOutline() }) {
		d = durable
	}
	rows := make([]directoryRow, len(records))
	for i, r := range records {
		var err error
		if rows[i], err = directoryRowOf(r); err != nil {
			return fmt.Errorf("keep the text about %s: %w", repo.DirLabel(r.Path), err)
		}
	}
	return s.write(ctx, d, func(conn *sqlite.Conn) error { return s.addDirRecords(conn, rows) })
}

// addDirRecords adds the records that do not exist yet, and replaces damaged ones. It deletes the older failures
// of their directories.
func (s *Store) addDirRecords(conn *sqlite.Conn, rows []directoryRow) error {
	insert, err := conn.Prepare(`
		INSERT INTO directory_record (id, path, basis_id, outlined, at, partial, author, recipe, confirmer, flags, text, basis)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
		ON CONFLICT (id, path) DO NOTHING`)
	if err != nil {
		return err
	}
	defer insert.Reset()
	newest, err := conn.Prepare(`
		INSERT INTO directory_latest (path, outlined, at, record) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (path, outlined) DO UPDATE SET at = ?3, record = ?4
		WHERE at < ?3 OR at = ?3 AND coalesce((SELECT id FROM directory_record WHERE seq = record), x'') < ?5`)
	if err != nil {
		return err
	}
	defer newest.Reset()
	mend, err := conn.Prepare(`DELETE FROM directory_failure WHERE path = ?1 AND at <= ?2`)
	if err != nil {
		return err
	}
	defer mend.Reset()
	for i := range rows {
		r := &rows[i]
		insert.BindBytes(1, r.id[:])
		insert.BindBytes(2, r.path)
		insert.BindBytes(3, r.basisID[:])
		insert.BindBool(4, r.outlined)
		insert.BindInt64(5, r.at)
		insert.BindBool(6, r.partial)
		insert.BindText(7, r.author)
		insert.BindText(8, r.recipe)
		insert.BindText(9, r.confirmer)
		if r.flags == "" {
			insert.BindNull(10)
		} else {
			insert.BindText(10, r.flags)
		}
		insert.BindText(11, r.text)
		insert.BindBytes(12, r.basis)
		if err := run(insert); err != nil {
			return err
		}
		if conn.Changes() == 0 {
			gone, err := s.removeDamagedDirectory(conn, r)
			if err != nil {
				return err
			}
			if !gone {
				continue
			}
			if err := run(insert); err != nil {
				return err
			}
		}
		newest.BindBytes(1, r.path)
		newest.BindBool(2, r.outlined)
		newest.BindInt64(3, r.at)
		newest.BindInt64(4, conn.LastInsertRowID())
		newest.BindBytes(5, r.id[:])
		if err := run(newest); err != nil {
			return err
		}
		mend.BindBytes(1, r.path)
		mend.BindInt64(2, r.at)
		if err := run(mend); err != nil {
			return err
		}
	}
	return nil
}

// removeDamagedDirectory removes the stored record with the id and path of r if it is damaged, and reports whether
// it did.
func (s *Store) removeDamagedDirectory(conn *sqlite.Conn, r *directoryRow) (bool, error) {
	stmt, err := conn.Prepare(selectDirRecords + `WHERE id = ?1 AND path = ?2`)
	if err != nil {
		return false, err
	}
	defer stmt.Reset()
	stmt.BindBytes(1, r.id[:])
	stmt.BindBytes(2, r.path)
	if more, err := stmt.Step(); !more || err != nil {
		return false, err
	}
	read := directoryReader{store: s}
	if read.record(stmt) != nil {
		return false, nil
	}
	seq := stmt.ColumnInt64(9)
	s.unused.remove(true, seq)
	for _, query := range []string{
		`DELETE FROM directory_latest WHERE record = ?1`,
		`DELETE FROM directory_record WHERE seq = ?1`,
	} {
		if err := execute(conn, query, seq); err != nil {
			return false, err
		}
	}
	return true, nil
}
