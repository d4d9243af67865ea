package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
)

// A directoryRow is a directory's record as it lies in the table.
type directoryRow struct {
	id, basisID fresh.Digest
	path        []byte
	outlined    bool
	at          int64
	partial     bool
	author      string
	recipe      string
	confirmer   string
	flags       string // "" for none
	text        string
	basis       []byte
}

// A flag is [survey.Flag] with a path that need not be UTF-8.
type flag struct {
	repo.PathJSON
	Severity string `json:"severity"`
	Finding  string `json:"finding"`
}

func directoryRowOf(r *survey.Record) (row directoryRow, err error) {
	row = directoryRow{
		id: r.ID(), basisID: r.Basis.Digest(), path: []byte(r.Path), outlined: r.Outlined(), at: r.At.UnixMicro(),
		partial: r.Partial, author: r.Author, recipe: r.Recipe, confirmer: r.Confirmer, text: r.Text,
	}
	row.basis = appendBasis(nil, r.Basis)
	if len(r.Flags) == 0 {
		return row, nil
	}
	flags := make([]flag, len(r.Flags))
	for i, f := range r.Flags {
		flags[i] = flag{f.Path.JSON(), f.Severity, f.Finding}
	}
	text, err := json.Marshal(flags)
	row.flags = string(text)
	return row, err
}

// A directoryReader makes records of what a statement returns.
type directoryReader struct {
	scanner
	bases basisReader
}

// A directoryHit is a record that was found.
type directoryHit struct {
	seq    int64
	record *survey.Record
}

// newestFirst returns the records of one or two hits, the newest first.
func newestFirst(hits ...directoryHit) []*survey.Record {
	slices.SortFunc(hits, func(a, b directoryHit) int {
		return cmp.Or(b.record.At.Compare(a.record.At), cmp.Compare(b.seq, a.seq))
	})
	list := make([]*survey.Record, len(hits))
	for i, h := range hits {
		list[i] = h.record
	}
	return list
}

// hit reads the columns path, at, partial, author, recipe, confirmer, flags, text,
// basis and seq.
func (d *directoryReader) hit(stmt *sqlite.Stmt) (directoryHit, error) {
	r, err := d.record(stmt)
	return directoryHit{stmt.ColumnInt64(9), r}, err
}

// all reads what a bound statement returns, and makes it ready for the next time.
func (d *directoryReader) all(stmt *sqlite.Stmt) (hits []directoryHit, err error) {
	for {
		more, err := stmt.Step()
		if err != nil {
			return nil, err
		}
		if !more {
			return hits, stmt.Reset()
		}
		hit, err := d.hit(stmt)
		if err != nil {
			return nil, err
		}
		hits = append(hits, hit)
	}
}

func (d *directoryReader) record(stmt *sqlite.Stmt) (*survey.Record, error) {
	r := &survey.Record{
		Path:      d.path(stmt, 0),
		At:        time.UnixMicro(stmt.ColumnInt64(1)).UTC(),
		Partial:   stmt.ColumnBool(2),
		Author:    d.word(stmt, 3),
		Recipe:    d.word(stmt, 4),
		Confirmer: d.word(stmt, 5),
		Text:      stmt.ColumnText(7),
	}
	var err error
	if !stmt.ColumnIsNull(6) {
		if r.Flags, err = decodeFlags(d.bytes(stmt, 6)); err != nil {
			return nil, fmt.Errorf("flags of directory %s: %w", survey.Label(r.Path), err)
		}
	}
	if r.Basis, err = d.bases.read(d.bytes(stmt, 8)); err != nil {
		return nil, fmt.Errorf("basis of directory %s: %w", survey.Label(r.Path), err)
	}
	return r, nil
}

func decodeFlags(text []byte) ([]survey.Flag, error) {
	var flags []flag
	if err := json.Unmarshal(text, &flags); err != nil {
		return nil, err
	}
	list := make([]survey.Flag, len(flags))
	for i, f := range flags {
		p, err := f.Raw()
		if err != nil {
			return nil, err
		}
		list[i] = survey.Flag{Path: p, Severity: f.Severity, Finding: f.Finding}
	}
	return list, nil
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
			for {
				more, err := stmt.Step()
				if err != nil {
					return err
				}
				if !more {
					break
				}
				r, err := read.record(stmt)
				if err != nil {
					return err
				}
				found[dir] = append(found[dir], r)
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

// Keep implements [survey.Store]. Outlines are not waited for: what a power cut takes of
// them is made again, in the same words.
func (s *Store) Keep(ctx context.Context, records []*survey.Record) error {
	if len(records) == 0 {
		return ctx.Err()
	}
	d := forNow
	if slices.ContainsFunc(records, func(r *survey.Record) bool { return !r.Outlined() }) {
		d = forGood
	}
	rows := make([]directoryRow, len(records))
	for i, r := range records {
		var err error
		if rows[i], err = directoryRowOf(r); err != nil {
			return fmt.Errorf("keep the text about %s: %w", survey.Label(r.Path), err)
		}
	}
	return s.write(ctx, d, func(conn *sqlite.Conn) error { return keepDirectories(conn, rows) })
}

// keepDirectories adds records, unless they are kept already, and lets go of the
// failures that they follow.
func keepDirectories(conn *sqlite.Conn, rows []directoryRow) error {
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
		ON CONFLICT (path, outlined) DO UPDATE SET at = ?3, record = ?4 WHERE at <= ?3`)
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
			continue
		}
		newest.BindBytes(1, r.path)
		newest.BindBool(2, r.outlined)
		newest.BindInt64(3, r.at)
		newest.BindInt64(4, conn.LastInsertRowID())
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

// run steps a statement that returns nothing, and makes it ready for the next time.
func run(stmt *sqlite.Stmt) error {
	if _, err := stmt.Step(); err != nil {
		return err
	}
	return stmt.Reset()
}

// directoryRows returns every record in the order they came.
func directoryRows(conn *sqlite.Conn) (rows []directoryRow, err error) {
	stmt, err := conn.Prepare(`
		SELECT id, path, basis_id, outlined, at, partial, author, recipe, confirmer, flags, text, basis
		FROM directory_record ORDER BY seq`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	var scan scanner
	for {
		more, err := stmt.Step()
		if !more || err != nil {
			return rows, err
		}
		r := directoryRow{
			path:      []byte(scan.path(stmt, 1)),
			outlined:  stmt.ColumnBool(3),
			at:        stmt.ColumnInt64(4),
			partial:   stmt.ColumnBool(5),
			author:    scan.word(stmt, 6),
			recipe:    scan.word(stmt, 7),
			confirmer: scan.word(stmt, 8),
			flags:     stmt.ColumnText(9),
			text:      stmt.ColumnText(10),
			basis:     slices.Clone(scan.bytes(stmt, 11)),
		}
		stmt.ColumnBytes(0, r.id[:])
		stmt.ColumnBytes(2, r.basisID[:])
		rows = append(rows, r)
	}
}
