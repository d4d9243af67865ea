// Package sqlite stores the registry and the survey in one SQLite file, without cgo.
//
// It defines the tables of rows, baselines, records and leases, the durability of transactions, and the error
// messages for failures of SQLite. Packages internal/registry and internal/survey define the meaning of the data.
// Package internal/store/local chooses the file, and handles a file that cannot be written. docs/formats/store.md
// describes the part of the schema that other programs may read.
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

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

var (
	_ store.Files       = (*Store)(nil)
	_ store.Directories = (*Store)(nil)
	_ store.Leases      = (*Store)(nil)
)

// Options are the options of a Store. The zero value is valid.
type Options struct {
	// BusyTimeout limits the wait for transactions of other processes; 0 means 5 seconds.
	BusyTimeout time.Duration
	// ReadOnly prevents all writes, including the files that SQLite creates to read a database. Commit fails with
	// [ErrReadOnly].
	ReadOnly bool
	// Spool is set for a store that has imported data. Before the first [Store.Import] and after [Store.Drain], its
	// methods return [ErrDrained].
	Spool bool
	// OnWrite is called at the start of every writing transaction, while no other process can write. If it returns
	// an error, the transaction fails.
	OnWrite func() error
	// Now is the clock that decides whether a record is in the future; nil means time.Now.
	Now func() time.Time
}

// A durability is a value of the pragma synchronous. The database stays consistent with each of them.
type durability string

const (
	// durable transactions survive a power cut. In WAL mode this needs FULL, which costs one fsync for each
	// transaction.
	durable durability = "FULL"
	// relaxed transactions survive the end of the process, but may be lost in a power cut. They are for data that
	// ken can compute again.
	relaxed durability = "NORMAL"
)

// A Store is a store in one SQLite file. It is safe for concurrent use by goroutines and processes. A database
// that does not exist is read as an empty one; only a write creates it.
type Store struct {
	path string
	opts Options

	lock chan struct{} // a mutex with a timeout for the fields below: it contains a token if it is unlocked
	conn *sqlite.Conn  // nil until needed
	file os.FileInfo   // the file of conn
	// ready means that the database on conn has the tables of ken.
	ready bool
	// writable means that conn is prepared for writing.
	writable bool
	// synchronous is the current pragma of conn.
	synchronous durability
	// frozen is the stamp of a database that is open as immutable, "" for others.
	frozen string
	// temp is the directory of a private copy, "" if there is none. useCopy means that the next open must use a
	// copy.
	temp    string
	useCopy bool

	unused unusedRecords // the unusable records that were read so far
}

// Open returns the store in the file at path, or one that is [InMemory]. It does not access the file.
func Open(path string, opts Options) *Store {
	if opts.BusyTimeout == 0 {
		opts.BusyTimeout = 5 * time.Second
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if abs, err := filepath.Abs(path); err == nil && path != InMemory {
		path = abs
	}
	s := &Store{path: path, opts: opts, lock: make(chan struct{}, 1)}
	s.lock <- struct{}{}
	return s
}

// Path returns the name of the database file.
func (s *Store) Path() string { return s.path }

// Close closes the file. The next call opens it again.
func (s *Store) Close() error {
	<-s.lock
	defer func() { s.lock <- struct{}{} }()
	return s.close()
}

func (s *Store) close() error {
	conn, file, temp := s.conn, s.file, s.temp
	s.conn = nil
	s.file = nil
	s.ready = false
	s.writable = false
	s.synchronous = ""
	s.frozen = ""
	s.temp = ""
	if conn == nil {
		return nil
	}
	if temp == "" && !s.opts.ReadOnly && !s.inMemory() {
		// SQLite deletes the -wal file by name when the last connection closes. If the database was moved, the
		// name may belong to another database: then leave the connection open until the process ends.
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

// closeQuietly closes a connection that was only used for reading, and ignores errors.
func (s *Store) closeQuietly() { _ = s.close() }

// acquire locks the connection. The caller must call release.
func (s *Store) acquire(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-s.lock:
		return func() { s.lock <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read calls fn in a reading transaction. It does not call fn if there is no database. It may call fn again if
// another process interferes, so fn must reset its results.
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

// readAny is read that also works on a drained spool.
func (s *Store) readAny(ctx context.Context, fn func(*sqlite.Conn) error) error {
	release, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()

	deadline := time.Now().Add(s.opts.BusyTimeout)
	for {
		err := s.readOnce(ctx, fn)
		again := isBusy(err)
		if s.opts.ReadOnly && !s.useCopy && needsCopy(err) {
			s.closeQuietly()
			s.useCopy = true
			again = true
		}
		if s.frozen != "" && FileStamp(s.path) != s.frozen {
			// Another process wrote to the database that was open as immutable.
			s.closeQuietly()
			s.useCopy = false
			again = true
			time.Sleep(stampResolution / 4)
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
		there, err := hasSchema(conn, s.path)
		if !there || err != nil {
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

// write calls fn in a writing transaction, and commits if fn returns nil. It creates the database if necessary.
func (s *Store) write(ctx context.Context, d durability, fn func(*sqlite.Conn) error) error {
	if !s.opts.Spool {
		return s.writeAny(ctx, d, fn)
	}
	return s.writeAny(ctx, d, func(conn *sqlite.Conn) error {
		if err := drained(conn); err != nil {
			return &callbackError{err}
		}
		return fn(conn)
	})
}

// writeAny is write that also works on a drained spool.
func (s *Store) writeAny(ctx context.Context, d durability, fn func(*sqlite.Conn) error) error {
	release, err := s.acquire(ctx)
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
	err = s.retryBusy(ctx, func() (err error) {
		conn, err = s.writer(ctx)
		return err
	})
	if err != nil {
		return err
	}
	defer interruptible(ctx, conn)()
	if s.synchronous != d {
		if err := exec(conn, `PRAGMA synchronous = `+string(d)); err != nil {
			return err
		}
		s.synchronous = d
	}
	if err := s.begin(ctx, conn); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.end(conn, `ROLLBACK`))
		}
	}()
	// Another version of ken may have changed the schema since the file was opened.
	there, err := hasSchema(conn, s.path)
	if err != nil {
		return err
	}
	if !there {
		return fmt.Errorf("the tables of %s are gone", s.path)
	}
	if s.opts.OnWrite != nil {
		if err := s.opts.OnWrite(); err != nil {
			return &callbackError{err}
		}
	}
	if err := fn(conn); err != nil {
		return err
	}
	// With a rollback journal, COMMIT waits for readers.
	return s.retryBusy(ctx, func() error { return exec(conn, `COMMIT`) })
}

// begin starts a writing transaction. It waits for those of other processes.
func (s *Store) begin(ctx context.Context, conn *sqlite.Conn) error {
	return s.retryBusy(ctx, func() error { return exec(conn, `BEGIN IMMEDIATE`) })
}

// lockWait is the busy timeout of SQLite. SQLite cannot be interrupted while it waits, so retryBusy repeats short
// waits.
const lockWait = 50 * time.Millisecond

// retryBusy repeats act while the database is busy, until the busy timeout has passed or ctx is done.
func (s *Store) retryBusy(ctx context.Context, act func() error) error {
	return retryBusy(ctx, s.opts.BusyTimeout, act)
}

func retryBusy(ctx context.Context, timeout time.Duration, act func() error) error {
	deadline := time.Now().Add(timeout)
	for {
		begun := time.Now()
		err := act()
		if !isBusy(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		// SQLite refuses some locks without waiting.
		if wait := lockWait/10 - time.Since(begun); wait > 0 {
			time.Sleep(wait)
		}
	}
}

// end ends a transaction with a statement, even if the context is done. If that fails, it closes the connection.
func (s *Store) end(conn *sqlite.Conn, statement string) error {
	conn.SetInterrupt(nil)
	if conn.AutocommitEnabled() {
		return nil // SQLite has rolled back already
	}
	if err := exec(conn, statement); err != nil {
		return errors.Join(err, s.close())
	}
	return nil
}

// interruptible interrupts conn if ctx is done, until the returned function is called.
func interruptible(ctx context.Context, conn *sqlite.Conn) func() {
	if ctx.Done() == nil {
		return func() {}
	}
	conn.SetInterrupt(ctx.Done())
	return func() { conn.SetInterrupt(nil) }
}

// exec runs one statement without caching it.
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

// script runs several statements.
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

// run runs a statement that returns no rows, and resets it.
func run(stmt *sqlite.Stmt) error {
	if _, err := stmt.Step(); err != nil {
		return err
	}
	return stmt.Reset()
}

// execute runs a query that returns no rows, and caches its statement.
func execute(conn *sqlite.Conn, query string, args ...any) error {
	return each(conn, query, func(*sqlite.Stmt) error { return nil }, args...)
}

// each runs a query, caches its statement, and calls row for each row of the result.
func each(conn *sqlite.Conn, query string, row func(*sqlite.Stmt) error, args ...any) error {
	stmt, err := prepare(conn, query, args...)
	if err != nil {
		return err
	}
	return eachRow(stmt, row)
}

// prepare returns the cached statement of a query with its parameters bound.
func prepare(conn *sqlite.Conn, query string, args ...any) (*sqlite.Stmt, error) {
	stmt, err := conn.Prepare(query)
	if err != nil {
		return nil, err
	}
	for i, arg := range args {
		bind(stmt, i+1, arg)
	}
	return stmt, nil
}

// eachRow calls row for each row of a bound statement, and resets the statement.
func eachRow(stmt *sqlite.Stmt, row func(*sqlite.Stmt) error) error {
	defer stmt.Reset()
	for {
		more, err := stmt.Step()
		if !more || err != nil {
			return err
		}
		if err := row(stmt); err != nil {
			return err
		}
	}
}

// bind binds a parameter. Zero ids, digests and bases are NULL.
func bind(stmt *sqlite.Stmt, param int, arg any) {
	switch v := arg.(type) {
	case string:
		stmt.BindText(param, v)
	case []byte:
		stmt.BindBytes(param, v)
	case repo.Path:
		stmt.BindBytes(param, []byte(v))
	case int64:
		stmt.BindInt64(param, v)
	case int:
		stmt.BindInt64(param, int64(v))
	case bool:
		stmt.BindBool(param, v)
	case repo.ID:
		bindID(stmt, param, v)
	case fresh.Digest:
		bindDigest(stmt, param, v)
	case fresh.Basis:
		bindBasis(stmt, param, v)
	default:
		panic(fmt.Sprintf("bind a %T", arg))
	}
}
