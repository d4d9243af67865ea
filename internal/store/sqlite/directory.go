package sqlite

import (
	"context"
	"maps"
	"slices"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
)

// Latest implements [survey.Store].
func (s *Store) Latest(ctx context.Context) (map[repo.Path][]*survey.Record, error) {
	latest := make(map[repo.Path][]*survey.Record)
	err := s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		clear(latest)
		stmt, err := conn.Prepare(`
			SELECT r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.text, r.basis, r.seq
			FROM directory_latest l JOIN directory_record r ON r.seq = l.record
			ORDER BY l.path`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		var read directoryReader
		var lists arena[*survey.Record]
		var last directoryHit
		for {
			more, err := stmt.Step()
			if !more || err != nil {
				return err
			}
			hit, err := read.hit(stmt)
			if err != nil {
				return err
			}
			list := lists.take(1)
			list[0] = hit.record
			if last.record != nil && last.record.Path == hit.record.Path {
				list = newestFirst(last, hit)
			}
			latest[hit.record.Path] = list
			last = hit
		}
	})
	if err != nil {
		return nil, err
	}
	return latest, nil
}

// WrittenFrom implements [survey.Store]. Of the records from one basis, it returns
// the newest outline and the newest of any other recipe: where one file lies alone in
// many directories, there may be thousands.
func (s *Store) WrittenFrom(ctx context.Context, bases []fresh.Digest) (map[fresh.Digest][]*survey.Record, error) {
	found := make(map[fresh.Digest][]*survey.Record)
	err := s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		wanted, err := writtenFrom(conn, bases)
		if err != nil {
			return err
		}
		stmt, err := conn.Prepare(`
			SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq
			FROM directory_record WHERE seq = ?1`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		var read directoryReader
		hits := make(map[fresh.Digest]directoryHit)
		// Neighbours were written together, and lie together.
		for _, seq := range slices.Sorted(maps.Keys(wanted)) {
			stmt.BindInt64(1, seq)
			if _, err := stmt.Step(); err != nil {
				return err
			}
			hit, err := read.hit(stmt)
			if err != nil {
				return err
			}
			if err := stmt.Reset(); err != nil {
				return err
			}
			basis := wanted[seq]
			if other, ok := hits[basis]; ok {
				found[basis] = newestFirst(other, hit)
			} else {
				hits[basis], found[basis] = hit, []*survey.Record{hit.record}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// writtenFrom finds the newest records from each of the bases, by their sequence
// numbers.
func writtenFrom(conn *sqlite.Conn, bases []fresh.Digest) (map[int64]fresh.Digest, error) {
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
		return scanWrittenFrom(conn, bases)
	}
	stmt, err := conn.Prepare(`
		SELECT
			(SELECT seq FROM directory_record WHERE basis_id = ?1 AND outlined = 0 ORDER BY at DESC, seq DESC LIMIT 1),
			(SELECT seq FROM directory_record WHERE basis_id = ?1 AND outlined = 1 ORDER BY at DESC, seq DESC LIMIT 1)`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
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
func scanWrittenFrom(conn *sqlite.Conn, bases []fresh.Digest) (map[int64]fresh.Digest, error) {
	newest := make(map[fresh.Digest][2]int64, len(bases)) // the newest text, and the newest outline
	for _, b := range bases {
		newest[b] = [2]int64{}
	}
	stmt, err := conn.Prepare(`
		SELECT basis_id, outlined, seq FROM directory_record ORDER BY basis_id, outlined, at, seq`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
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

// WrittenIn implements [survey.Store]. Of the records in one place, it returns the
// newest outline and the newest of any other recipe.
func (s *Store) WrittenIn(ctx context.Context, places []survey.Place) (map[survey.Place][]*survey.Record, error) {
	found := make(map[survey.Place][]*survey.Record)
	err := s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		stmt, err := conn.Prepare(`
			SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq
			FROM directory_record WHERE basis_id = ?1 AND outlined = ?2 AND path = ?3 ORDER BY at DESC, seq DESC LIMIT 1`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		var read directoryReader
		for _, p := range places {
			var hits []directoryHit
			for outlined := range int64(2) {
				stmt.BindBytes(1, p.Basis[:])
				stmt.BindInt64(2, outlined)
				stmt.BindBytes(3, []byte(p.Path))
				more, err := read.all(stmt)
				if err != nil {
					return err
				}
				hits = append(hits, more...)
			}
			if len(hits) > 0 {
				found[p] = newestFirst(hits...)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// WrittenOf implements [survey.Store].
func (s *Store) WrittenOf(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*survey.Record, error) {
	found := make(map[repo.Path][]*survey.Record)
	err := s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		stmt, err := conn.Prepare(`
			SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq
			FROM directory_record WHERE path = ?1 AND outlined = 0 ORDER BY at DESC, seq DESC LIMIT ?2`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		var read directoryReader
		for _, dir := range dirs {
			stmt.BindBytes(1, []byte(dir))
			stmt.BindInt64(2, survey.PastTexts)
			hits, err := read.all(stmt)
			if err != nil {
				return err
			}
			for _, h := range hits {
				found[dir] = append(found[dir], h.record)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Kept implements [survey.Store].
func (s *Store) Kept(ctx context.Context, id fresh.Digest) (r *survey.Record, err error) {
	err = s.readSurvey(ctx, func(conn *sqlite.Conn) error {
		r = nil
		stmt, err := conn.Prepare(`
			SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq
			FROM directory_record WHERE id = ?1 ORDER BY seq LIMIT 1`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		stmt.BindBytes(1, id[:])
		more, err := stmt.Step()
		if !more || err != nil {
			return err
		}
		var read directoryReader
		r, err = read.record(stmt)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
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
