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

// Since implements [store.Records]. A mark is two positions, one in each table of records:
// a number, and a digest of the records just before it. So one of another database, or of
// this one before it was put back to an earlier day, is known for what it is, and the
// database need not carry a name for it.
func (s *Store) Since(ctx context.Context, mark store.Mark, most int) (list []store.Record, next store.Mark, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		list, next = nil, mark
		files, directories, _ := strings.Cut(string(mark), " ")
		from, err := position(conn, files, fileIDs)
		if err != nil {
			return err
		}
		if from, err = s.filesSince(conn, from, most, &list); err != nil {
			return err
		}
		if files, err = placeOf(conn, from, fileIDs); err != nil {
			return err
		}
		next = store.Mark(files)
		if ok, err := hasSurvey(conn); !ok || err != nil {
			return err
		}
		if from, err = position(conn, directories, directoryIDs); err != nil {
			return err
		}
		if from, err = s.directoriesSince(conn, from, most, &list); err != nil {
			return err
		}
		directories, err = placeOf(conn, from, directoryIDs)
		next = store.Mark(files + " " + directories)
		return err
	})
	return list, next, err
}

// filesSince adds records after a number until the list has most, and returns the number
// of the last one.
func (s *Store) filesSince(conn *sqlite.Conn, from int64, most int, list *[]store.Record) (int64, error) {
	stmt, err := conn.Prepare(`
		SELECT seq, content_id, content_md5, text, author, recipe, at, assumed, confirmer, path, id
		FROM record WHERE seq > ?1 ORDER BY seq`)
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

// directoriesSince is filesSince for directories. Outlines that another one has followed
// are passed over.
func (s *Store) directoriesSince(conn *sqlite.Conn, from int64, most int, list *[]store.Record) (int64, error) {
	stmt, err := conn.Prepare(`
		SELECT path, at, partial, author, recipe, confirmer, flags, text, basis, seq, id
		FROM directory_record r
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

// The ids of the records up to a number.
const (
	fileIDs      = `SELECT id FROM record WHERE seq <= ?1 ORDER BY seq DESC LIMIT ?2`
	directoryIDs = `SELECT id FROM directory_record WHERE seq <= ?1 ORDER BY seq DESC LIMIT ?2`
)

// behind is how many records a position knows the ids of. Two databases that go
// different ways and are alike in so many are one.
const behind = 16

// placeOf spells a position in the table that a query is about.
func placeOf(conn *sqlite.Conn, seq int64, query string) (string, error) {
	if seq == 0 {
		return "0", nil
	}
	stmt, err := conn.Prepare(query)
	if err != nil {
		return "", err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, seq)
	stmt.BindInt64(2, behind)
	sum := sha256.New()
	var scan scanner
	for {
		more, err := stmt.Step()
		if err != nil {
			return "", err
		}
		if !more {
			return fmt.Sprintf("%d:%x", seq, sum.Sum(nil)[:8]), nil
		}
		sum.Write(scan.bytes(stmt, 0))
	}
}

// position reads what placeOf has written, 0 where it does not fit this database.
func position(conn *sqlite.Conn, place, query string) (int64, error) {
	var seq int64
	if _, err := fmt.Sscanf(place, "%d:", &seq); err != nil || seq <= 0 {
		return 0, nil //nolint:nilerr // what cannot be read is of no use, which costs time alone
	}
	now, err := placeOf(conn, seq, query)
	if err != nil || now != place {
		return 0, err
	}
	return seq, nil
}

// Absorb implements [store.Records]. Nothing does not make a database.
func (s *Store) Absorb(ctx context.Context, list []store.Record) error {
	var k Kept
	for _, r := range list {
		if r.File != nil {
			k.records = append(k.records, *r.File)
			continue
		}
		k.directories = append(k.directories, r.Directory)
	}
	return s.Receive(ctx, &k)
}
