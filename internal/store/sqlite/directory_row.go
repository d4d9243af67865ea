package sqlite

import (
	"cmp"
	"encoding/json"
	"fmt"
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

// hit reads the columns path, at, partial, author, recipe, confirmer, flags, text,
// basis and seq.
func (d *directoryReader) hit(stmt *sqlite.Stmt) (directoryHit, error) {
	r, err := d.record(stmt)
	return directoryHit{stmt.ColumnInt64(9), r}, err
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
