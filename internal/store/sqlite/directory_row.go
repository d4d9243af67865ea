package sqlite

import (
	"math"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/store"
)

// A directoryRow has the columns of a directory record.
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

func directoryRowOf(r *store.DirRecord) (row directoryRow, err error) {
	row = directoryRow{
		id: r.ID(), basisID: r.Basis.Digest(), path: []byte(r.Path), outlined: r.IsOutline(), at: r.At.UnixMicro(),
		partial: r.Partial, author: r.Author, recipe: r.Recipe, confirmer: r.Confirmer, text: r.Text,
	}
	row.basis = appendBasis(nil, r.Basis)
	flags, err := store.EncodeFlags(r.Flags)
	row.flags = string(flags)
	return row, err
}

// A directoryReader reads directory records from a statement.
type directoryReader struct {
	store *Store
	scanner
	bases basisReader
}

// selectDirRecords begins the queries that return the columns that record reads.
const selectDirRecords = `SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq, id FROM directory_record `

// find returns up to most usable records. where is the rest of the query.
func (d *directoryReader) find(conn *sqlite.Conn, most int, where string, args ...any) (records []*store.DirRecord, err error) {
	stmt, err := prepare(conn, selectDirRecords+where, args...)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	for len(records) < most {
		more, err := stmt.Step()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if r := d.record(stmt); r != nil {
			records = append(records, r)
		}
	}
	return records, nil
}

// record reads the columns of selectDirRecords. It returns nil for a record that cannot be used.
func (d *directoryReader) record(stmt *sqlite.Stmt) *store.DirRecord {
	r := &store.DirRecord{
		Path:      d.path(stmt, 0),
		At:        time.UnixMicro(stmt.ColumnInt64(1)).UTC(),
		Partial:   stmt.ColumnBool(2),
		Author:    d.word(stmt, 3),
		Recipe:    d.word(stmt, 4),
		Confirmer: d.word(stmt, 5),
		Text:      stmt.ColumnText(7),
	}
	var flagsErr, basisErr error
	if !stmt.ColumnIsNull(6) {
		r.Flags, flagsErr = store.DecodeFlags(d.bytes(stmt, 6))
	}
	r.Basis, basisErr = d.bases.read(d.bytes(stmt, 8))
	var id fresh.Digest
	stmt.ColumnBytes(10, id[:])
	if why := d.store.unusable(flagsErr == nil && basisErr == nil && r.ID() == id, r.At); why != nil {
		d.store.unused.add(fresh.UnusedRecord{Path: r.Path, Directory: true, Why: why}, stmt.ColumnInt64(9))
		return nil
	}
	return r
}

// newestFirst sorts records in place, the newest first.
func newestFirst(records []*store.DirRecord) []*store.DirRecord {
	slices.SortFunc(records, func(a, b *store.DirRecord) int { return b.Compare(a) })
	return records
}

// directoryRecords returns all usable records in the order of insertion.
func (s *Store) directoryRecords(conn *sqlite.Conn) ([]*store.DirRecord, error) {
	read := directoryReader{store: s}
	return read.find(conn, math.MaxInt, `ORDER BY seq`)
}
