package sqlite

import (
	"context"
	"errors"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/registry"
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

// Import copies the records of another store into this one and, the first time,
// its rows and baselines too, and notes the stamp. All of it lands or nothing.
func (s *Store) Import(ctx context.Context, from *Store, stamp string) error {
	source, err := s.Source(ctx)
	if err != nil {
		return err
	}
	first := source == ""

	type worktree struct {
		chunks   [][]registry.Row
		baseline registry.Baseline
		verified bool
	}
	var texts []fresh.Record
	var trees map[string]worktree
	err = from.read(ctx, func(conn *sqlite.Conn) (err error) {
		if texts, err = records(conn); err != nil || !first {
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
			trees[name] = w
		}
		return nil
	})
	if err != nil {
		return err
	}

	return s.writeAny(ctx, forGood, func(conn *sqlite.Conn) error {
		tx := &transaction{conn: conn, tallies: make(map[int64]*registry.Tally)}
		if err := tx.keep(texts); err != nil {
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

// Drain hands every record to take and, when that returns nil, empties the
// store. Both happen in one writing transaction, so that nothing can be written
// in between. The file stays: another process may have it open, and would go on
// writing to a file without a name.
func (s *Store) Drain(ctx context.Context, take func([]fresh.Record) error) error {
	err := s.writeAny(ctx, forGood, func(conn *sqlite.Conn) error {
		all, err := records(conn)
		if err != nil {
			return err
		}
		if err := take(all); err != nil {
			return &theirs{err}
		}
		return script(conn, `
			DELETE FROM file;
			DELETE FROM worktree;
			DELETE FROM record;
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
