package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"
)

// open makes sure of a connection, to be written to if asked for. Without a database to
// read, or with one that cannot be read in place, there is none.
func (c *Cache) open(ctx context.Context, write bool) error {
	file, err := os.Stat(c.path)
	if c.conn != nil && (err != nil || !os.SameFile(c.file, file) || write && !c.writes) {
		c.close()
	}
	switch {
	case c.conn != nil:
		c.file = file
		return nil
	case !Writable(c.path):
		if write || err != nil || file.Size() == 0 {
			return nil
		}
		return c.openReadOnly(file)
	case !write && (err != nil || file.Size() == 0):
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o777); err != nil {
		return fmt.Errorf("%w: %w", errNowhere, err)
	}
	conn, err := sqlite.OpenConn(c.path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return err
	}
	conn.SetBusyTimeout(tick)
	if c.file, err = os.Stat(c.path); err != nil {
		return fmt.Errorf("%w: %w", errNowhere, errors.Join(err, conn.Close()))
	}
	c.conn, c.writes = conn, true
	if err := c.prepare(ctx); err != nil {
		c.close()
		return err
	}
	return nil
}

// openReadOnly opens a database where nothing can be written, unless part of it is in
// a log: that could not be read without writing.
func (c *Cache) openReadOnly(file os.FileInfo) error {
	if wal, err := os.Stat(c.path + "-wal"); err == nil && wal.Size() > 0 {
		return nil
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(c.path), RawQuery: "mode=ro&immutable=1"}
	conn, err := sqlite.OpenConn(u.String(), sqlite.OpenReadOnly|sqlite.OpenURI)
	if err != nil {
		return err
	}
	c.conn, c.file = conn, file
	return nil
}

// prepare makes the tables if there are none.
func (c *Cache) prepare(ctx context.Context) (err error) {
	// What is lost in a power cut can be made again.
	if err := exec(c.conn, `PRAGMA synchronous = OFF`); err != nil {
		return err
	}
	wait := func(query string) error {
		return patiently(ctx, cachePatience, func() error { return exec(c.conn, query) })
	}
	defer func() { err = errors.Join(err, c.rollback()) }()
	// All that is looked at has to be of one moment: another process may be at it.
	if err := wait(`BEGIN`); err != nil {
		return err
	}
	if isNew, err := isEmpty(c.conn); err != nil || !isNew {
		return err
	}
	if err := c.rollback(); err != nil {
		return err
	}
	mode := `PRAGMA journal_mode = WAL`
	if !walIsSafe(filepath.Dir(c.path)) {
		mode = `PRAGMA journal_mode = TRUNCATE`
	}
	if err := wait(mode); err != nil {
		return err
	}
	if err := wait(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	if isNew, err := isEmpty(c.conn); err != nil || !isNew {
		return err
	}
	if err := script(c.conn, fmt.Sprintf(`%s; PRAGMA application_id = %d; PRAGMA user_version = %d`, cacheSchema, cacheID, cacheVersion)); err != nil {
		return err
	}
	return wait(`COMMIT`)
}

// cacheVersion is of the tables and of the form of what is kept, and in user_version; cacheID marks the file as such
// a cache ("kenc").
const (
	cacheVersion = 2
	cacheID      = 0x6b656e63
)

// cacheSchema keeps the bodies in the order they came, so that the oldest lie
// together. The sum is over all of a row: nothing waits for the disk here, so after a
// power cut a row may be made of two.
const cacheSchema = `
CREATE TABLE maker (
	id   INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
);

CREATE TABLE made (
	seq     INTEGER PRIMARY KEY,
	maker   INTEGER NOT NULL,
	content BLOB NOT NULL,
	sum     INTEGER NOT NULL,
	body    BLOB NOT NULL,
	UNIQUE (maker, content)
);
`

func isCache(conn *sqlite.Conn) error {
	version, err := pragma(conn, `PRAGMA user_version`)
	if err != nil {
		return err
	}
	id, err := pragma(conn, `PRAGMA application_id`)
	if err == nil && (version != cacheVersion || id != cacheID) {
		return errForeign
	}
	return err
}

// isEmpty reports whether there is nothing in a database; errForeign says that what is
// in it is not a cache.
func isEmpty(conn *sqlite.Conn) (bool, error) {
	err := isCache(conn)
	if !errors.Is(err, errForeign) {
		return false, err
	}
	tables, failed := pragma(conn, `SELECT count(*) FROM sqlite_schema`)
	if failed != nil || tables == 0 {
		return true, failed
	}
	return false, err
}

var (
	// errForeign says that a database is not a cache, or one that this ken does
	// not know.
	errForeign = errors.New("not a cache of this version of ken")
	// errNowhere says that the file system has no place for one.
	errNowhere = errors.New("no place for a cache")
)

// damaged reports whether a database is not worth another try.
func damaged(err error) bool {
	if err == nil || errors.Is(err, errNowhere) {
		return false
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB, sqlite.ResultError, sqlite.ResultIOErr:
		return true
	default:
		return false
	}
}

// discard removes a file that was found to be damaged, unless it has changed since it
// was looked at: then somebody may have begun another.
func (c *Cache) discard() {
	now, err := os.Stat(c.path)
	if err != nil || c.file == nil || !os.SameFile(c.file, now) || c.file.Size() != now.Size() || !c.file.ModTime().Equal(now.ModTime()) {
		return
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		// What cannot be removed stays as it is, and is of no use.
		_ = os.Remove(c.path + suffix)
	}
}
