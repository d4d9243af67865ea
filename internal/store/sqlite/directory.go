package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// Latest implements [store.Directories].
func (s *Store) Latest(ctx context.Context) (map[repo.Path][]*store.DirRecord, error) {
	latest := make(map[repo.Path][]*store.DirRecord)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(latest)
		stmt, err := conn.Prepare(`
			SELECT r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.text, r.basis, r.seq, r.id, l.path, l.outlined
			FROM directory_latest l LEFT JOIN directory_record r ON r.seq = l.record
			ORDER BY l.path`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		return (&directoryReader{store: s}).latest(conn, stmt, latest)
	})
	if err != nil {
		return nil, err
	}
	return latest, nil
}

// latest adds the records of a statement to a map. The columns are those of a record, the directory, and whether the
// record is an outline. If a record cannot be used or is of another directory, latest uses the next older one.
func (d *directoryReader) latest(conn *sqlite.Conn, stmt *sqlite.Stmt, latest map[repo.Path][]*store.DirRecord) error {
	type place struct {
		path     repo.Path
		outlined bool
	}
	var lost []place
	for {
		more, err := stmt.Step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		var r *store.DirRecord
		if !stmt.ColumnIsNull(9) {
			r = d.record(stmt)
		}
		if at := string(d.bytes(stmt, 11)); r == nil || string(r.Path) != at {
			lost = append(lost, place{repo.Path(at), stmt.ColumnBool(12)})
			continue
		}
		latest[r.Path] = newestFirst(append(latest[r.Path], r))
	}
	for _, p := range lost {
		found, err := d.find(conn, 1, `WHERE path = ?1 AND outlined = ?2 ORDER BY at DESC, id DESC`, p.path, p.outlined)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			latest[p.path] = newestFirst(append(found, latest[p.path]...))
		}
	}
	return nil
}

// DirRecordsByVersion implements [store.Directories]. Of the records of one version, it returns the newest
// outline and the newest record of any other recipe.
func (s *Store) DirRecordsByVersion(ctx context.Context, places []store.DirVersion) (map[store.DirVersion][]*store.DirRecord, error) {
	found := make(map[store.DirVersion][]*store.DirRecord)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		read := directoryReader{store: s}
		for _, p := range places {
			var list []*store.DirRecord
			for _, outlined := range []bool{false, true} {
				more, err := read.find(conn, 1, `WHERE basis_id = ?1 AND outlined = ?2 AND path = ?3 ORDER BY at DESC, id DESC`,
					p.Basis[:], outlined, p.Path)
				if err != nil {
					return err
				}
				for _, r := range more {
					if r.Basis.Digest() == p.Basis {
						list = append(list, r)
					}
				}
			}
			if len(list) > 0 {
				found[p] = newestFirst(list)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// PastDirRecords implements [store.Directories].
func (s *Store) PastDirRecords(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error) {
	found := make(map[repo.Path][]*store.DirRecord)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		read := directoryReader{store: s}
		for _, dir := range dirs {
			list, err := read.find(conn, store.MaxPastRecords, `WHERE path = ?1 AND outlined = 0 ORDER BY at DESC, id DESC`, dir)
			if err != nil {
				return err
			}
			if len(list) > 0 {
				found[dir] = list
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// DirRecord implements [store.Directories].
func (s *Store) DirRecord(ctx context.Context, id fresh.Digest) (r *store.DirRecord, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		r = nil
		read := directoryReader{store: s}
		found, err := read.find(conn, 1, `WHERE id = ?1 ORDER BY seq`, id[:])
		if len(found) > 0 {
			r = found[0]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// HasDirRecords reports whether the store has a record of any directory.
func (s *Store) HasDirRecords(ctx context.Context) (any bool, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		n, err := pragma(conn, `SELECT EXISTS (SELECT 1 FROM directory_latest)`)
		any = n == 1
		return err
	})
	return any, err
}
