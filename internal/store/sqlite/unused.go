package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/store"
)

// unusedRecords is the set of unusable records that were read so far. It is safe for concurrent use.
type unusedRecords struct {
	mu   sync.Mutex
	list map[unusedKey]fresh.UnusedRecord
}

// An unusedKey is the sequence number of a record in one of the two tables.
type unusedKey struct {
	directory bool
	seq       int64
}

func (u *unusedRecords) add(one fresh.UnusedRecord, seq int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.list == nil {
		u.list = make(map[unusedKey]fresh.UnusedRecord)
	}
	u.list[unusedKey{one.Directory, seq}] = one
}

func (u *unusedRecords) remove(directory bool, seq int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.list, unusedKey{directory, seq})
}

func (u *unusedRecords) clear() {
	u.mu.Lock()
	defer u.mu.Unlock()
	clear(u.list)
}

// retainDamaged removes the records that are not damaged from the set.
func (u *unusedRecords) retainDamaged() {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.list, func(_ unusedKey, one fresh.UnusedRecord) bool { return !errors.Is(one.Why, fresh.ErrDamaged) })
}

// numbers returns the sequence numbers of the records of one table.
func (u *unusedRecords) numbers(directory bool) (list []int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for key := range u.list {
		if key.directory == directory {
			list = append(list, key.seq)
		}
	}
	return list
}

func (u *unusedRecords) all() []fresh.UnusedRecord {
	u.mu.Lock()
	defer u.mu.Unlock()
	var list []fresh.UnusedRecord
	for _, one := range u.list {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b fresh.UnusedRecord) int {
		return strings.Compare(fmt.Sprint(a.Directory, a.Path, a.Why), fmt.Sprint(b.Directory, b.Path, b.Why))
	})
	return list
}

// Unused returns the unusable records that this store has read so far.
func (s *Store) Unused() []fresh.UnusedRecord { return s.unused.all() }

// latest returns the limit for the times of records, in microseconds since 1970. Later records are not used.
func (s *Store) latest() int64 { return fresh.LatestTime(s.opts.Now()).UnixMicro() }

// unusable returns the reason why a record is not used, nil if it is used. intact reports whether the content of the
// record matches its id.
func (s *Store) unusable(intact bool, at time.Time) error {
	switch {
	case !intact:
		return fresh.ErrDamaged
	case at.UnixMicro() > s.latest():
		return fresh.ErrFutureDate
	}
	return nil
}

// CheckRecords reads all records, and returns the unusable ones.
func (s *Store) CheckRecords(ctx context.Context) ([]fresh.UnusedRecord, error) {
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		s.unused.clear()
		return new(Bundle).readRecords(s, conn)
	})
	if err != nil {
		return nil, err
	}
	return s.Unused(), nil
}

// RemoveUnused removes the damaged records, and returns them. It does not remove records in the future, because
// the clock of this machine may be wrong. Rows with a summary from a removed record lose it. RemoveUnused also
// deletes the marks of shared stores, so that the next command pulls all records again, and the record numbers of
// all baselines, because a new record may get the number of a removed one.
func (s *Store) RemoveUnused(ctx context.Context) (removed []fresh.UnusedRecord, err error) {
	if found, err := s.CheckRecords(ctx); err != nil || len(found) == 0 {
		return nil, err
	}
	err = s.write(ctx, durable, func(conn *sqlite.Conn) error {
		removed = nil
		s.unused.clear()
		if err := new(Bundle).readRecords(s, conn); err != nil {
			return err
		}
		s.unused.retainDamaged()
		removed = s.unused.all()
		for directory, query := range map[bool]string{
			false: `DELETE FROM record WHERE seq = ?1`,
			true:  `DELETE FROM directory_record WHERE seq = ?1`,
		} {
			for _, seq := range s.unused.numbers(directory) {
				if err := execute(conn, query, seq); err != nil {
					return err
				}
			}
		}
		s.unused.clear()
		if err := script(conn, forgetRemoved); err != nil {
			return err
		}
		tx := &transaction{store: s, conn: conn, tallies: make(map[int64]*store.FileCounts)}
		names, err := worktrees(conn)
		if err != nil {
			return err
		}
		for name, id := range names {
			tx.tallies[id] = nil // count the rows again
			if err := tx.advance(name); err != nil {
				return err
			}
		}
		return tx.tally()
	})
	return removed, err
}

const forgetRemoved = `
	DELETE FROM directory_latest WHERE record NOT IN (SELECT seq FROM directory_record);
	UPDATE file SET about = NULL
	WHERE length(about) = 16 AND about NOT IN (SELECT content_md5 FROM record WHERE content_id IS NULL AND content_md5 IS NOT NULL)
	OR length(about) <> 16 AND about NOT IN (SELECT content_id FROM record WHERE content_id IS NOT NULL);
	UPDATE worktree SET records = 0;
	DELETE FROM plugin_config WHERE key LIKE 'team %'`
