// Package sqlite keeps the registry and the survey in one SQLite file, without cgo.
//
// It knows how rows, baselines, records and leases lie in tables, how a transaction
// is made durable, and what a failure of SQLite means to a person. What they
// mean belongs to internal/registry and internal/survey; which file to use, and what to do when it
// cannot be written, to internal/store. docs/formats/store.md describes the
// part of the schema that outsiders may read.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/store"
)

var (
	_ store.Files       = (*Store)(nil)
	_ store.Directories = (*Store)(nil)
	_ store.Leases      = (*Store)(nil)
)

// Options tunes a Store. The zero value is ready to use.
type Options struct {
	// BusyTimeout is how long to wait for another process's transaction;
	// 5 seconds when zero.
	BusyTimeout time.Duration
	// ReadOnly never writes, not even the files that SQLite needs to read a
	// database that others may be writing. Commit fails with [ErrReadOnly].
	ReadOnly bool
	// Spool marks a store that lives on what it imports: before the first
	// [Store.Import] and after [Store.Drain], it answers with [ErrDrained].
	Spool bool
	// OnWrite is called inside every writing transaction, before anything is
	// written, while no other process can be in one; an error abandons it.
	OnWrite func() error
	// Now is the clock by which records are dated ahead; time.Now when nil.
	Now func() time.Time
}

// A durability is how much of an acknowledged transaction outlives what. The
// database is whole in any case.
type durability string

const (
	// forGood survives a power cut. In WAL mode only FULL promises that; it
	// costs one fsync, however much is written.
	forGood durability = "FULL"
	// forNow survives the death of the process, and may be forgotten by a power
	// cut: for what can be computed again.
	forNow durability = "NORMAL"
)

// A Store keeps the registry and the survey in one file. It is safe for concurrent use by
// goroutines and processes. Nothing is touched before the first call, a database
// that does not exist reads as an empty one, and only writing makes it.
type Store struct {
	path string
	opts Options

	turn chan struct{} // holds one token; whoever has it may use what follows
	conn *sqlite.Conn  // nil until needed
	file os.FileInfo   // what was opened
	// ready says that the database on conn has our schema.
	ready bool
	// wrote says that conn is prepared for writing.
	wrote bool
	// lasts is how durable the transactions on conn are.
	lasts durability
	// frozen is set for a database read as if nobody could write it: what it
	// looked like then.
	frozen string
	// temp is a private copy to read from, "" when there is none; aside says
	// that the next one opened must be such a copy.
	temp  string
	aside bool

	unused unusedRecords // that were met so far
}

// Open returns the store kept in the file at path.
func Open(path string, opts Options) *Store {
	if opts.BusyTimeout == 0 {
		opts.BusyTimeout = 5 * time.Second
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	s := &Store{path: path, opts: opts, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// Path returns the name of the database file.
func (s *Store) Path() string { return s.path }

// Close lets go of the file. A store that is used again opens it again.
func (s *Store) Close() error {
	<-s.turn
	defer func() { s.turn <- struct{}{} }()
	return s.close()
}

func (s *Store) close() error {
	conn, file, temp := s.conn, s.file, s.temp
	s.conn, s.file, s.ready, s.wrote, s.lasts, s.frozen, s.temp = nil, nil, false, false, "", "", ""
	if conn == nil {
		return nil
	}
	if temp == "" && !s.opts.ReadOnly {
		// SQLite deletes the -wal file of the last connection by its name. If
		// the database was moved away, that name belongs to another one by
		// now: such a connection is left to the end of the process.
		if now, err := os.Stat(s.path); err != nil || !os.SameFile(file, now) {
			return nil
		}
	}
	err := conn.Close()
	if temp != "" {
		err = errors.Join(err, os.RemoveAll(temp))
	}
	return err
}

// drop closes a connection that nothing was written through, to begin with
// another: what closing it has to say is of no interest to anyone.
func (s *Store) drop() { _ = s.close() }

// take waits for the connection and returns the way to give it back.
func (s *Store) take(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-s.turn:
		return func() { s.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read calls fn in one reading transaction. Where there is no database yet, fn
// is not called. It may be called again when another process got in the way, so
// it must set its results anew.
func (s *Store) read(ctx context.Context, fn func(*sqlite.Conn) error) error {
	if !s.opts.Spool {
		return s.readAny(ctx, fn)
	}
	err := ErrDrained
	if failed := s.readAny(ctx, func(conn *sqlite.Conn) error {
		if err = drained(conn); err != nil {
			return nil
		}
		return fn(conn)
	}); failed != nil {
		return failed
	}
	return err
}

// readAny is read for whatever state a spool is in.
func (s *Store) readAny(ctx context.Context, fn func(*sqlite.Conn) error) error {
	release, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer release()

	deadline := time.Now().Add(s.opts.BusyTimeout)
	for {
		err := s.readOnce(ctx, fn)
		again := isBusy(err)
		if s.opts.ReadOnly && !s.aside && needsCopy(err) {
			s.drop()
			s.aside, again = true, true
		}
		if s.frozen != "" && Stamp(s.path) != s.frozen {
			// Somebody wrote what was read as if nobody could.
			s.drop()
			s.aside, again = false, true
			time.Sleep(settled / 4)
			if err == nil {
				err = sqlite.ResultBusy.ToError()
			}
		}
		if !again || ctx.Err() != nil || time.Now().After(deadline) {
			return s.explain(ctx, "read", err)
		}
	}
}

func (s *Store) readOnce(ctx context.Context, fn func(*sqlite.Conn) error) (err error) {
	conn, err := s.reader()
	if err != nil || conn == nil {
		return err
	}
	defer interruptible(ctx, conn)()
	if !s.ready {
		version, err := versionOf(conn, s.path)
		if err != nil || version == 0 {
			return err
		}
		s.ready = true
	}
	if err := exec(conn, `BEGIN`); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.end(conn, `ROLLBACK`)) }()
	return fn(conn)
}

// write calls fn in one writing transaction, and makes what it did durable or
// undoes it. The database is made first if need be.
func (s *Store) write(ctx context.Context, d durability, fn func(*sqlite.Conn) error) error {
	if !s.opts.Spool {
		return s.writeAny(ctx, d, fn)
	}
	return s.writeAny(ctx, d, func(conn *sqlite.Conn) error {
		if err := drained(conn); err != nil {
			return &theirs{err}
		}
		return fn(conn)
	})
}

// writeAny is write for whatever state a spool is in.
func (s *Store) writeAny(ctx context.Context, d durability, fn func(*sqlite.Conn) error) error {
	release, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.explain(ctx, "write", s.writeOnce(ctx, d, fn))
}

func (s *Store) writeOnce(ctx context.Context, d durability, fn func(*sqlite.Conn) error) (err error) {
	if s.opts.ReadOnly {
		return &readOnlyError{path: s.path}
	}
	var conn *sqlite.Conn
	err = s.patiently(ctx, func() (err error) {
		conn, err = s.writer(ctx)
		return err
	})
	if err != nil {
		return err
	}
	defer interruptible(ctx, conn)()
	if s.lasts != d {
		if err := exec(conn, `PRAGMA synchronous = `+string(d)); err != nil {
			return err
		}
		s.lasts = d
	}
	if err := s.begin(ctx, conn); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.end(conn, `ROLLBACK`))
		}
	}()
	// Another ken may have changed the schema since this one opened the file.
	if version, err := versionOf(conn, s.path); err != nil {
		return err
	} else if version != len(migrations) {
		return fmt.Errorf("schema changed to %d", version)
	}
	if s.opts.OnWrite != nil {
		if err := s.opts.OnWrite(); err != nil {
			return &theirs{err}
		}
	}
	if err := fn(conn); err != nil {
		return err
	}
	// With a rollback journal, it is here that readers can be in the way.
	return s.patiently(ctx, func() error { return exec(conn, `COMMIT`) })
}

// begin starts a writing transaction, waiting for others to finish theirs.
func (s *Store) begin(ctx context.Context, conn *sqlite.Conn) error {
	return s.patiently(ctx, func() error { return exec(conn, `BEGIN IMMEDIATE`) })
}

// tick is how long SQLite itself waits for a lock. It cannot be interrupted
// there, so longer waits are made of many.
const tick = 50 * time.Millisecond

// patiently repeats act while another process is in the way, until the busy
// timeout has passed or ctx is done.
func (s *Store) patiently(ctx context.Context, act func() error) error {
	return patiently(ctx, s.opts.BusyTimeout, act)
}

func patiently(ctx context.Context, timeout time.Duration, act func() error) error {
	deadline := time.Now().Add(timeout)
	for {
		begun := time.Now()
		err := act()
		if !isBusy(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		// Some locks are refused without any waiting.
		if wait := tick/10 - time.Since(begun); wait > 0 {
			time.Sleep(wait)
		}
	}
}

// end finishes a transaction whatever became of ctx. Without that certainty the
// connection is given up, and the file with it, which ends it too.
func (s *Store) end(conn *sqlite.Conn, how string) error {
	conn.SetInterrupt(nil)
	if conn.AutocommitEnabled() {
		return nil // SQLite has rolled back by itself
	}
	if err := exec(conn, how); err != nil {
		return errors.Join(err, s.close())
	}
	return nil
}

// interruptible ties what conn does to ctx, until the returned function is called.
func interruptible(ctx context.Context, conn *sqlite.Conn) func() {
	if ctx.Done() == nil {
		return func() {}
	}
	conn.SetInterrupt(ctx.Done())
	return func() { conn.SetInterrupt(nil) }
}

// exec runs one statement that is used rarely, and forgets it.
func exec(conn *sqlite.Conn, query string) error {
	stmt, _, err := conn.PrepareTransient(query)
	if err != nil {
		return err
	}
	defer stmt.Finalize()
	for {
		if more, err := stmt.Step(); !more || err != nil {
			return err
		}
	}
}

// script runs statements one after the other.
func script(conn *sqlite.Conn, queries string) error {
	for queries = strings.TrimSpace(queries); queries != ""; {
		stmt, rest, err := conn.PrepareTransient(queries)
		if err != nil {
			return err
		}
		_, err = stmt.Step()
		stmt.Finalize()
		if err != nil {
			return err
		}
		queries = strings.TrimSpace(queries[len(queries)-rest:])
	}
	return nil
}

// run steps a statement that returns nothing, and makes it ready for the next time.
func run(stmt *sqlite.Stmt) error {
	if _, err := stmt.Step(); err != nil {
		return err
	}
	return stmt.Reset()
}
