package sqlite

import (
	"context"
	"maps"
	"math"
	"slices"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/store"
)

// DirRecordsByBasis implements [store.Directories]. Of the records with one basis, it returns the newest outline and the
// newest record of any other recipe. There may be thousands if many directories contain only the same file.
func (s *Store) DirRecordsByBasis(ctx context.Context, bases []fresh.Digest) (map[fresh.Digest][]*store.DirRecord, error) {
	found := make(map[fresh.Digest][]*store.DirRecord)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		wanted, err := writtenFrom(conn, bases, s.latest())
		if err != nil {
			return err
		}
		read := directoryReader{store: s}
		var lost []fresh.Digest
		// Read in order: records that were written together are stored together.
		for _, seq := range slices.Sorted(maps.Keys(wanted)) {
			records, err := read.find(conn, 1, `WHERE seq = ?1`, seq)
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

// from reads all records with a basis, and returns the newest usable outline and the newest usable other record.
func (d *directoryReader) from(conn *sqlite.Conn, basis fresh.Digest) (list []*store.DirRecord, err error) {
	all, err := d.find(conn, math.MaxInt, `WHERE basis_id = ?1`, basis[:])
	for _, r := range newestFirst(all) {
		same := func(other *store.DirRecord) bool { return other.IsOutline() == r.IsOutline() }
		if r.Basis.Digest() == basis && !slices.ContainsFunc(list, same) {
			list = append(list, r)
		}
	}
	return list, err
}

// writtenFrom returns the sequence numbers of the newest records with each basis.
func writtenFrom(conn *sqlite.Conn, bases []fresh.Digest, latest int64) (map[int64]fresh.Digest, error) {
	last, err := number(conn, `SELECT max(seq) FROM directory_record`)
	switch {
	case last == 0 || err != nil:
		return nil, err
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
		err := eachRow(stmt, func(stmt *sqlite.Stmt) error {
			for col := range 2 {
				if seq := stmt.ColumnInt64(col); seq != 0 {
					found[seq] = basis
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// scanWrittenFrom is writtenFrom with a scan of the whole index.
func scanWrittenFrom(conn *sqlite.Conn, bases []fresh.Digest, latest int64) (map[int64]fresh.Digest, error) {
	newest := make(map[fresh.Digest][2]int64, len(bases)) // the newest text, and the newest outline
	for _, b := range bases {
		newest[b] = [2]int64{}
	}
	err := each(conn, `
		SELECT basis_id, outlined <> 0, seq FROM directory_record WHERE at <= ?1 ORDER BY basis_id, outlined, at, id, path`,
		func(stmt *sqlite.Stmt) error {
			var basis fresh.Digest
			stmt.ColumnBytes(0, basis[:])
			if pair, ok := newest[basis]; ok {
				pair[stmt.ColumnInt(1)] = stmt.ColumnInt64(2) // the last is the newest
				newest[basis] = pair
			}
			return nil
		}, latest)
	if err != nil {
		return nil, err
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
