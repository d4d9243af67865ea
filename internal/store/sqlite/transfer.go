package sqlite

import (
	"context"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// sourceKey is the key in plugin_config of the stamp of the last import.
const sourceKey = "imported_from"

// ErrDrained means that a spool has no imported data. A missing record then proves nothing, because it may be in
// the main store.
var ErrDrained = errors.New("spool is drained")

// drained returns ErrDrained if there is no import.
func drained(conn *sqlite.Conn) error {
	source, err := config(conn, sourceKey)
	if err == nil && source == "" {
		return ErrDrained
	}
	return err
}

// Source returns the stamp of the last Import, "" before the first.
func (s *Store) Source(ctx context.Context) (stamp string, err error) {
	err = s.readAny(ctx, func(conn *sqlite.Conn) (err error) {
		stamp, err = config(conn, sourceKey)
		return err
	})
	return stamp, err
}

// A Bundle has the data that Drain moves to another store: records, failures and leases. ken can compute everything else
// again.
type Bundle struct {
	records     []fresh.Record
	directories []*store.DirRecord
	failures    map[repo.Path]store.DirFailure
	leases      []leaseRow
}

// readRecords reads the usable records of a store.
func (b *Bundle) readRecords(s *Store, conn *sqlite.Conn) (err error) {
	*b = Bundle{}
	if b.records, err = s.records(conn); err != nil {
		return err
	}
	b.directories, err = s.directoryRecords(conn)
	return err
}

// readOthers reads the failures and leases.
func (b *Bundle) readOthers(conn *sqlite.Conn) (err error) {
	if b.failures, err = failures(conn); err != nil {
		return err
	}
	b.leases, err = leases(conn)
	return err
}

func (b *Bundle) isZero() bool {
	return len(b.records)+len(b.directories)+len(b.failures)+len(b.leases) == 0
}

// addBundle adds the data of another store. It does not change existing records, and rejects records in the future.
func (tx *transaction) addBundle(k *Bundle) error {
	latest := fresh.LatestTime(tx.store.opts.Now())
	var records []fresh.Record
	for i, r := range k.records {
		if r.At.After(latest) {
			tx.store.unused.add(fresh.UnusedRecord{Path: r.Path, Why: fresh.ErrFutureDate}, int64(-1-i))
			continue
		}
		records = append(records, r)
	}
	if err := tx.addRecords(records); err != nil {
		return err
	}
	var rows []directoryRow
	for i, r := range k.directories {
		if r.At.After(latest) {
			tx.store.unused.add(fresh.UnusedRecord{Path: r.Path, Directory: true, Why: fresh.ErrFutureDate}, int64(-1-i))
			continue
		}
		row, err := directoryRowOf(r)
		if err != nil {
			return fmt.Errorf("keep the text about %s: %w", repo.DirLabel(r.Path), err)
		}
		rows = append(rows, row)
	}
	if err := tx.store.addDirRecords(tx.conn, rows); err != nil {
		return err
	}
	for _, f := range k.failures {
		if err := saveFailure(tx.conn, f); err != nil {
			return err
		}
	}
	return addLeases(tx.conn, k.leases)
}

// AddBundle adds the data of another store in one transaction. A second call with the same data changes nothing. An
// empty Bundle does not create a database.
func (s *Store) AddBundle(ctx context.Context, k *Bundle) error {
	if k.isZero() {
		return ctx.Err()
	}
	return s.write(ctx, durable, func(conn *sqlite.Conn) error {
		tx := &transaction{store: s, conn: conn, tallies: make(map[int64]*store.FileCounts)}
		if err := tx.addBundle(k); err != nil {
			return err
		}
		return tx.tally()
	})
}

// Import copies the records of another store into this one and stores the stamp, in one transaction. The first
// import also copies all other data.
func (s *Store) Import(ctx context.Context, from *Store, stamp string) error {
	source, err := s.Source(ctx)
	if err != nil {
		return err
	}
	first := source == ""

	type worktree struct {
		chunks   [][]store.FileRow
		baseline store.Verification
		verified bool
	}
	var kept Bundle
	var trees map[string]worktree
	err = from.read(ctx, func(conn *sqlite.Conn) error {
		if err := kept.readRecords(from, conn); err != nil || !first {
			return err
		}
		if err := kept.readOthers(conn); err != nil {
			return err
		}
		names, err := worktrees(conn)
		if err != nil {
			return err
		}
		trees = make(map[string]worktree)
		for name := range names {
			var w worktree
			if w.chunks, err = rowsOf(conn, name); err != nil {
				return err
			}
			if w.baseline, w.verified, err = baselineOf(conn, name); err != nil {
				return err
			}
			w.baseline.Records = 0 // records have other sequence numbers in this store
			trees[name] = w
		}
		return nil
	})
	if err != nil {
		return err
	}

	return s.writeAny(ctx, durable, func(conn *sqlite.Conn) error {
		tx := &transaction{store: s, conn: conn, tallies: make(map[int64]*store.FileCounts)}
		if err := tx.addBundle(&kept); err != nil {
			return err
		}
		source, err := config(conn, sourceKey)
		if err != nil {
			return err
		}
		switch {
		case source == "" && !first:
			return tx.tally() // another process drained this store: the next import is a first one
		case source == "":
			for name, w := range trees {
				for _, chunk := range w.chunks {
					if err := tx.put(name, chunk); err != nil {
						return err
					}
				}
				if w.verified {
					if err := tx.setBaseline(name, w.baseline); err != nil {
						return err
					}
				}
			}
		}
		if err := tx.tally(); err != nil {
			return err
		}
		return setConfig(conn, sourceKey, stamp)
	})
}

// Drain calls take with all data and, if take returns nil, empties the store. Both happen in one writing
// transaction, so that no other process writes in between. The file stays, because another process may have it
// open and would write to a deleted file.
func (s *Store) Drain(ctx context.Context, take func(*Bundle) error) error {
	err := s.writeAny(ctx, durable, func(conn *sqlite.Conn) error {
		var all Bundle
		if err := all.readRecords(s, conn); err != nil {
			return err
		}
		if err := all.readOthers(conn); err != nil {
			return err
		}
		if err := take(&all); err != nil {
			return &callbackError{err}
		}
		return script(conn, `
			DELETE FROM file;
			DELETE FROM worktree;
			DELETE FROM record;
			DELETE FROM directory_latest;
			DELETE FROM directory_record;
			DELETE FROM directory_failure;
			DELETE FROM lease;
			DELETE FROM plugin_config`)
	})
	if err != nil {
		return err
	}
	release, err := s.acquire(ctx)
	if err != nil {
		return nil //nolint:nilerr // the data is gone; only the file is too large
	}
	defer release()
	if s.conn != nil {
		exec(s.conn, `VACUUM`) //nolint:errcheck // the next VACUUM frees the space
	}
	return nil
}
