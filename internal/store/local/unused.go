package local

import (
	"context"
	"path/filepath"
	"slices"

	"ken/internal/fresh"
	"ken/internal/store/sqlite"
)

// Unused returns the records read so far that ken ignores: their content does not match their id, or their date is
// in the future.
func (s *Store) Unused() []fresh.UnusedRecord {
	var list []fresh.UnusedRecord
	for _, db := range []*sqlite.Store{s.main, s.readonly, s.spool} {
		if db == nil {
			continue
		}
		for _, u := range db.Unused() {
			if !slices.Contains(list, u) {
				list = append(list, u)
			}
		}
	}
	return list
}

// CheckRecords reads every record and returns those that ken ignores.
func (s *Store) CheckRecords(ctx context.Context) ([]fresh.UnusedRecord, error) {
	return use(ctx, s, false, func(db *sqlite.Store) ([]fresh.UnusedRecord, error) { return db.CheckRecords(ctx) })
}

// RemoveUnused removes the records that ken ignores, and returns them. It also removes the ShareFile, so that the next
// pull reads all shared records again.
func (s *Store) RemoveUnused(ctx context.Context) ([]fresh.UnusedRecord, error) {
	removed, err := use(ctx, s, true, func(db *sqlite.Store) ([]fresh.UnusedRecord, error) { return db.RemoveUnused(ctx) })
	if err != nil || len(removed) == 0 {
		return nil, err
	}
	return removed, OpenShareFile(filepath.Dir(filepath.Dir(s.main.Path()))).Remove()
}
