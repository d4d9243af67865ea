package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"
)

// open opens the connection if necessary, writable if write is set. c.conn stays nil if there is no database to
// read, or if it cannot be read without writing.
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
		return fmt.Errorf("%w: %w", errNoFile, err)
	}
	conn, err := sqlite.OpenConn(c.path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return err
	}
	conn.SetBusyTimeout(lockWait)
	if c.file, err = os.Stat(c.path); err != nil {
		return fmt.Errorf("%w: %w", errNoFile, errors.Join(err, conn.Close()))
	}
	c.conn, c.writes = conn, true
	if err := c.prepare(ctx); err != nil {
		c.close()
		return err
	}
	return nil
}

// openReadOnly opens a database that cannot be written. It does nothing if there is a -wal file, because SQLite
// would have to write to read it.
func (c *Cache) openReadOnly(file os.FileInfo) error {
	if wal, err := os.Stat(c.path + "-wal"); err == nil && wal.Size() > 0 {
		return nil
	}
	conn, err := openImmutable(c.path)
	if err != nil {
		return err
	}
	c.conn, c.file = conn, file
	return nil
}

// prepare creates the tables if the database is empty.
func (c *Cache) prepare(ctx context.Context) (err error) {
	// Entries that a power cut destroys can be computed again.
	if err := exec(c.conn, `PRAGMA synchronous = OFF`); err != nil {
		return err
	}
	wait := func(query string) error {
		return retryBusy(ctx, cacheTimeout, func() error { return exec(c.conn, query) })
	}
	defer func() { err = errors.Join(err, c.rollback()) }()
	// Check in one transaction, because another process may be creating the tables.
	if err := wait(`BEGIN`); err != nil {
		return err
	}
	if isNew, err := isEmpty(c.conn); err != nil || !isNew {
		return err
	}
	if err := c.rollback(); err != nil {
		return err
	}
	if err := wait(journalMode(c.path)); err != nil {
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

// cacheVersion is the version of the tables and of the entries, stored in user_version. cacheID ("kenc")
// identifies the file as a cache.
const (
	cacheVersion = 2
	cacheID      = 0x6b656e63
)

// cacheSchema numbers the entries in the order of their insertion, so that evict can delete the oldest. sum is a
// checksum of the row: nothing is synced to disk, so a row may be damaged after a power cut.
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

// isEmpty reports whether a database has no tables. It returns errForeign if the tables are not those of a cache.
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
	// errForeign means that a database is not a cache of this version of ken.
	errForeign = errors.New("not a cache of this version of ken")
	// errNoFile means that the cache file cannot be created.
	errNoFile = errors.New("no place for a cache")
)

// damaged reports whether an error means that the database must be replaced.
func damaged(err error) bool {
	if err == nil || errors.Is(err, errNoFile) {
		return false
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB, sqlite.ResultError, sqlite.ResultIOErr:
		return true
	default:
		return false
	}
}

// discard removes a damaged file, unless it has changed since the last check: another process may have replaced it.
func (c *Cache) discard() {
	now, err := os.Stat(c.path)
	if err != nil || c.file == nil || !os.SameFile(c.file, now) || c.file.Size() != now.Size() || !c.file.ModTime().Equal(now.ModTime()) {
		return
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		// A file that cannot be removed stays, and the cache stays unusable.
		_ = os.Remove(c.path + suffix)
	}
}
