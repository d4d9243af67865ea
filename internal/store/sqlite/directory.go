package sqlite

import (
	"context"
	"maps"
	"math"
	"slices"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// Latest implements [store.Directories].
func (s *Store) Latest(ctx context.Context) (map[repo.Path][]*store.DirRecord, error) {
	latest := make(map[repo.Path][]*store.DirRecord)
	err := s.readSurvey(ctx, func(conn *sqlite.Conn) error {
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

// latest reads what a statement returns: the columns of a record, and the directory
// that it is the latest of, and whether it is an outline. A record that cannot be used, or
// is of another directory, gives way to the one before it.
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
		list := d.lists.take(1)
		list[0] = r
		if other := latest[r.Path]; len(other) > 0 {
			list = newestFirst([]*store.DirRecord{other[0], r})
		}
		latest[r.Path] = list
	}
	if len(lost) == 0 {
		return nil
	}
	before, err := conn.Prepare(`
		SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq, id
		FROM directory_record WHERE path = ?1 AND outlined = ?2 ORDER BY at DESC, id DESC`)
	if err != nil {
		return err
	}
	defer before.Reset()
	for _, p := range lost {
		before.BindBytes(1, []byte(p.path))
		before.BindBool(2, p.outlined)
		found, err := d.all(before, 1)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			latest[p.path] = newestFirst(append(found, latest[p.path]...))
		}
	}
	return nil
}

// WrittenFrom implements [store.Directories]. Of the records from one basis, it returns
// the newest outline and the newest of any other recipe: where one file lies alone in
// many directories, there may be thousands.
func (s *Store) WrittenFrom(ctx context.Context, bases []fresh.Digest) (map[fresh.Digest][]*store.DirRecord, error) {
	found := make(map[fresh.Digest][]*store.DirRecord)
	err := s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		wanted, err := writtenFrom(conn, bases, s.latest())
		if err != nil {
			return err
		}
		stmt, err := conn.Prepare(`
			SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq, id
			FROM directory_record WHERE seq = ?1`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		read := directoryReader{store: s}
		var lost []fresh.Digest
		// Neighbours were written together, and lie together.
		for _, seq := range slices.Sorted(maps.Keys(wanted)) {
			stmt.BindInt64(1, seq)
			records, err := read.all(stmt, 1)
			if err != nil {
				return err
			}
			basis := wanted[seq]
			if len(records) == 0 || records[0].Basis.Digest() != basis {
				lost = append(lost, basis)
				continue
			}
			found[basis] = append(found[basis], records[0])
		}
		for _, basis := range lost {
			if found[basis], err = read.from(conn, basis); err != nil {
				return err
			}
			if len(found[basis]) == 0 {
				delete(found, basis)
			}
		}
		for _, list := range found {
			newestFirst(list)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// from returns the newest outline and the newest other record from a basis that can be
// used, by reading all of them.
func (d *directoryReader) from(conn *sqlite.Conn, basis fresh.Digest) (list []*store.DirRecord, err error) {
	stmt, err := conn.Prepare(`
		SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq, id
		FROM directory_record WHERE basis_id = ?1`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	stmt.BindBytes(1, basis[:])
	all, err := d.all(stmt, math.MaxInt)
	for _, r := range newestFirst(all) {
		same := func(other *store.DirRecord) bool { return other.Outlined() == r.Outlined() }
		if r.Basis.Digest() == basis && !slices.ContainsFunc(list, same) {
			list = append(list, r)
		}
	}
	return list, err
}

// writtenFrom finds the newest records from each of the bases, by their sequence
// numbers.
func writtenFrom(conn *sqlite.Conn, bases []fresh.Digest, latest int64) (map[int64]fresh.Digest, error) {
	count, err := conn.Prepare(`SELECT max(seq) FROM directory_record`)
	if err != nil {
		return nil, err
	}
	defer count.Reset()
	if _, err := count.Step(); err != nil {
		return nil, err
	}
	switch last := count.ColumnInt64(0); {
	case last == 0:
		return nil, nil
	case scanPays(len(bases), last):
		return scanWrittenFrom(conn, bases, latest)
	}
	stmt, err := conn.Prepare(`
		SELECT
			(SELECT seq FROM directory_record WHERE basis_id = ?1 AND outlined = 0 AND at <= ?2 ORDER BY at DESC, id DESC, path DESC LIMIT 1),
			(SELECT seq FROM directory_record WHERE basis_id = ?1 AND outlined = 1 AND at <= ?2 ORDER BY at DESC, id DESC, path DESC LIMIT 1)`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	stmt.BindInt64(2, latest)
	found := make(map[int64]fresh.Digest)
	for _, basis := range bases {
		stmt.BindBytes(1, basis[:])
		if _, err := stmt.Step(); err != nil {
			return nil, err
		}
		for col := range 2 {
			if seq := stmt.ColumnInt64(col); seq != 0 {
				found[seq] = basis
			}
		}
		if err := stmt.Reset(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// scanWrittenFrom is writtenFrom by way of the whole index.
func scanWrittenFrom(conn *sqlite.Conn, bases []fresh.Digest, latest int64) (map[int64]fresh.Digest, error) {
	newest := make(map[fresh.Digest][2]int64, len(bases)) // the newest text, and the newest outline
	for _, b := range bases {
		newest[b] = [2]int64{}
	}
	stmt, err := conn.Prepare(`
		SELECT basis_id, outlined <> 0, seq FROM directory_record WHERE at <= ?1 ORDER BY basis_id, outlined, at, id, path`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, latest)
	for {
		more, err := stmt.Step()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		var basis fresh.Digest
		stmt.ColumnBytes(0, basis[:])
		if pair, ok := newest[basis]; ok {
			pair[stmt.ColumnInt(1)] = stmt.ColumnInt64(2) // the last is the newest
			newest[basis] = pair
		}
	}
	found := make(map[int64]fresh.Digest)
	for basis, pair := range newest {
		for _, seq := range pair {
			if seq != 0 {
				found[seq] = basis
			}
		}
	}
	return found, nil
}

// WrittenIn implements [store.Directories]. Of the records in one place, it returns the
// newest outline and the newest of any other recipe.
func (s *Store) WrittenIn(ctx context.Context, places []store.DirVersion) (map[store.DirVersion][]*store.DirRecord, error) {
	found := make(map[store.DirVersion][]*store.DirRecord)
	err := s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		stmt, err := conn.Prepare(`
			SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq, id
			FROM directory_record WHERE basis_id = ?1 AND outlined = ?2 AND path = ?3 ORDER BY at DESC, id DESC`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		read := directoryReader{store: s}
		for _, p := range places {
			var list []*store.DirRecord
			for outlined := range int64(2) {
				stmt.BindBytes(1, p.Basis[:])
				stmt.BindInt64(2, outlined)
				stmt.BindBytes(3, []byte(p.Path))
				more, err := read.all(stmt, 1)
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

// WrittenOf implements [store.Directories].
func (s *Store) WrittenOf(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error) {
	found := make(map[repo.Path][]*store.DirRecord)
	err := s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		stmt, err := conn.Prepare(`
			SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq, id
			FROM directory_record WHERE path = ?1 AND outlined = 0 ORDER BY at DESC, id DESC`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		read := directoryReader{store: s}
		for _, dir := range dirs {
			stmt.BindBytes(1, []byte(dir))
			list, err := read.all(stmt, store.MaxPastRecords)
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

// Kept implements [store.Directories].
func (s *Store) Kept(ctx context.Context, id fresh.Digest) (r *store.DirRecord, err error) {
	err = s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		r = nil
		stmt, err := conn.Prepare(`
			SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq, id
			FROM directory_record WHERE id = ?1 ORDER BY seq`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		stmt.BindBytes(1, id[:])
		read := directoryReader{store: s}
		found, err := read.all(stmt, 1)
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

// Describes reports whether anything was ever written about a directory.
func (s *Store) Describes(ctx context.Context) (any bool, err error) {
	err = s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		n, err := pragma(conn, `SELECT EXISTS (SELECT 1 FROM directory_latest)`)
		any = n == 1
		return err
	})
	return any, err
}

// readSurvey is read for what the second schema has brought. A database that nobody
// has written to since has none of it.
func (s *Store) readSurvey(ctx context.Context, fn func(*sqlite.Conn) error) error {
	return s.read(ctx, func(conn *sqlite.Conn) error {
		if ok, err := hasSurvey(conn); !ok || err != nil {
			return err
		}
		return fn(conn)
	})
}

func hasSurvey(conn *sqlite.Conn) (bool, error) {
	version, err := pragma(conn, `PRAGMA user_version`)
	return version >= 2, err
}
