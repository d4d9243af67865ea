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

// sourceKey is the key in plugin_config of the stamp of what was imported last.
const sourceKey = "imported_from"

// ErrDrained says that a spool holds nothing at the moment, so that its silence
// proves nothing: what it held is elsewhere by now.
var ErrDrained = errors.New("spool is drained")

// drained returns ErrDrained unless something was imported.
func drained(conn *sqlite.Conn) error {
	source, err := config(conn, sourceKey)
	if err == nil && source == "" {
		return ErrDrained
	}
	return err
}

// Source returns the stamp that the last Import was given, "" before the first.
func (s *Store) Source(ctx context.Context) (stamp string, err error) {
	err = s.readAny(ctx, func(conn *sqlite.Conn) (err error) {
		stamp, err = config(conn, sourceKey)
		return err
	})
	return stamp, err
}

// Kept is what one store hands to another: all that cannot be found out again, and
// what is known of directories in the hands of agents.
type Kept struct {
	records     []fresh.Record
	directories []*store.DirRecord
	failures    map[repo.Path]store.DirFailure
	leases      []leaseRow
}

// texts reads the records of a store, those that can be used.
func (k *Kept) texts(s *Store, conn *sqlite.Conn) (err error) {
	*k = Kept{}
	if k.records, err = s.records(conn); err != nil {
		return err
	}
	if ok, err := hasSurvey(conn); !ok || err != nil {
		return err
	}
	k.directories, err = s.directoryRecords(conn)
	return err
}

// rest reads what else there is.
func (k *Kept) rest(conn *sqlite.Conn) (err error) {
	if ok, err := hasSurvey(conn); !ok || err != nil {
		return err
	}
	if k.failures, err = failures(conn); err != nil {
		return err
	}
	k.leases, err = leases(conn)
	return err
}

func (k *Kept) isZero() bool {
	return len(k.records)+len(k.directories)+len(k.failures)+len(k.leases) == 0
}

// absorb adds what another store has kept. What is here already is not changed by it, and
// a record that is dated ahead is refused.
func (tx *transaction) absorb(k *Kept) error {
	latest := fresh.Latest(tx.store.opts.Now())
	var records []fresh.Record
	for i, r := range k.records {
		if r.At.After(latest) {
			tx.store.unused.add(fresh.Unused{Path: r.Path, Why: fresh.ErrAhead}, int64(-1-i))
			continue
		}
		records = append(records, r)
	}
	if err := tx.keep(records); err != nil {
		return err
	}
	var rows []directoryRow
	for i, r := range k.directories {
		if r.At.After(latest) {
			tx.store.unused.add(fresh.Unused{Path: r.Path, Directory: true, Why: fresh.ErrAhead}, int64(-1-i))
			continue
		}
		row, err := directoryRowOf(r)
		if err != nil {
			return fmt.Errorf("keep the text about %s: %w", repo.DirLabel(r.Path), err)
		}
		rows = append(rows, row)
	}
	if err := tx.store.keepDirectories(tx.conn, rows); err != nil {
		return err
	}
	for _, f := range k.failures {
		if err := keepFailure(tx.conn, f); err != nil {
			return err
		}
	}
	return keepLeases(tx.conn, k.leases)
}

// Receive adds what another store has kept. All of it lands or nothing; doing so twice
// changes nothing. Nothing does not make a database.
func (s *Store) Receive(ctx context.Context, k *Kept) error {
	if k.isZero() {
		return ctx.Err()
	}
	return s.write(ctx, forGood, func(conn *sqlite.Conn) error {
		tx := &transaction{store: s, conn: conn, tallies: make(map[int64]*store.FileCounts)}
		if err := tx.absorb(k); err != nil {
			return err
		}
		return tx.tally()
	})
}

// Import copies the records of another store into this one and, the first time, all
// else that it has, and notes the stamp. All of it lands or nothing.
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
	var kept Kept
	var trees map[string]worktree
	err = from.read(ctx, func(conn *sqlite.Conn) error {
		if err := kept.texts(from, conn); err != nil || !first {
			return err
		}
		if err := kept.rest(conn); err != nil {
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
			w.baseline.Records = 0 // records get other numbers here
			trees[name] = w
		}
		return nil
	})
	if err != nil {
		return err
	}

	return s.writeAny(ctx, forGood, func(conn *sqlite.Conn) error {
		tx := &transaction{store: s, conn: conn, tallies: make(map[int64]*store.FileCounts)}
		if err := tx.absorb(&kept); err != nil {
			return err
		}
		source, err := config(conn, sourceKey)
		if err != nil {
			return err
		}
		switch {
		case source == "" && !first:
			return tx.tally() // it was drained just now; the next is a first one again
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

// Drain hands all that is kept to take and, when that returns nil, empties the store.
// Both happen in one writing transaction, so that nothing can be written in between.
// The file stays: another process may have it open, and would go on writing to a file
// without a name.
func (s *Store) Drain(ctx context.Context, take func(*Kept) error) error {
	err := s.writeAny(ctx, forGood, func(conn *sqlite.Conn) error {
		var all Kept
		if err := all.texts(s, conn); err != nil {
			return err
		}
		if err := all.rest(conn); err != nil {
			return err
		}
		if err := take(&all); err != nil {
			return &theirs{err}
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
	release, err := s.take(ctx)
	if err != nil {
		return nil //nolint:nilerr // it is drained; only its size is left
	}
	defer release()
	if s.conn != nil {
		exec(s.conn, `VACUUM`) //nolint:errcheck // the room can be given back another time
	}
	return nil
}
