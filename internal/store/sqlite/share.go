package sqlite

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"

	"ken/internal/store"
)

var _ store.Records = (*Store)(nil)

// Since implements [store.Records]. A mark has two positions, one in each table of records. A position is a
// sequence number and a digest of the records just before it. So Since recognizes a mark of another database, or
// of this one before it was restored from a backup, and the database needs no id.
func (s *Store) Since(ctx context.Context, mark store.Mark, most int) (list []store.Record, next store.Mark, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		list, next = nil, mark
		files, directories, _ := strings.Cut(string(mark), " ")
		from, err := decodePosition(conn, files, fileIDs)
		if err != nil {
			return err
		}
		if from, err = s.filesSince(conn, from, most, &list); err != nil {
			return err
		}
		if files, err = encodePosition(conn, from, fileIDs); err != nil {
			return err
		}
		next = store.Mark(files)
		if from, err = decodePosition(conn, directories, directoryIDs); err != nil {
			return err
		}
		if from, err = s.directoriesSince(conn, from, most, &list); err != nil {
			return err
		}
		directories, err = encodePosition(conn, from, directoryIDs)
		next = store.Mark(files + " " + directories)
		return err
	})
	return list, next, err
}

// filesSince adds the records after a sequence number until the list has most records, and returns the number of
// the last one.
func (s *Store) filesSince(conn *sqlite.Conn, from int64, most int, list *[]store.Record) (int64, error) {
	stmt, err := conn.Prepare(selectRecords + `WHERE seq > ?1 ORDER BY seq`)
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, from)
	for len(*list) < most {
		more, err := stmt.Step()
		if !more || err != nil {
			return from, err
		}
		if r, ok := s.columnRecord(stmt); ok {
			*list = append(*list, store.Record{File: &r})
		}
		from = stmt.ColumnInt64(0)
	}
	return from, nil
}

// directoriesSince is filesSince for directories. It skips outlines that are not the latest of
// their directory.
func (s *Store) directoriesSince(conn *sqlite.Conn, from int64, most int, list *[]store.Record) (int64, error) {
	stmt, err := conn.Prepare(selectDirRecords + `r
		WHERE seq > ?1 AND (outlined = 0 OR seq = (SELECT record FROM directory_latest l WHERE l.path = r.path AND l.outlined = 1))
		ORDER BY seq`)
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, from)
	read := directoryReader{store: s}
	for len(*list) < most {
		more, err := stmt.Step()
		if !more || err != nil {
			return from, err
		}
		if r := read.record(stmt); r != nil {
			*list = append(*list, store.Record{Directory: r})
		}
		from = stmt.ColumnInt64(9)
	}
	return from, nil
}

// Queries for the ids of the last records up to a sequence number.
const (
	fileIDs      = `SELECT id FROM record WHERE seq <= ?1 ORDER BY seq DESC LIMIT ?2`
	directoryIDs = `SELECT id FROM directory_record WHERE seq <= ?1 ORDER BY seq DESC LIMIT ?2`
)

// positionDepth is the number of records in the digest of a position. Databases with the same records in this
// range count as the same.
const positionDepth = 16

// encodePosition encodes a position in the table of a query.
func encodePosition(conn *sqlite.Conn, seq int64, query string) (string, error) {
	if seq == 0 {
		return "0", nil
	}
	sum := sha256.New()
	var scan scanner
	err := each(conn, query, func(stmt *sqlite.Stmt) error {
		sum.Write(scan.bytes(stmt, 0))
		return nil
	}, seq, positionDepth)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d:%x", seq, sum.Sum(nil)[:8]), nil
}

// decodePosition returns the sequence number of a position, 0 if the position does not belong to this database.
func decodePosition(conn *sqlite.Conn, place, query string) (int64, error) {
	var seq int64
	if _, err := fmt.Sscanf(place, "%d:", &seq); err != nil || seq <= 0 {
		return 0, nil //nolint:nilerr // damaged: start from the beginning
	}
	now, err := encodePosition(conn, seq, query)
	if err != nil || now != place {
		return 0, err
	}
	return seq, nil
}

// AddRecords implements [store.Records]. An empty list does not create a database.
func (s *Store) AddRecords(ctx context.Context, list []store.Record) error {
	var k Bundle
	for _, r := range list {
		if r.File != nil {
			k.records = append(k.records, *r.File)
			continue
		}
		k.directories = append(k.directories, r.Directory)
	}
	return s.AddBundle(ctx, &k)
}
