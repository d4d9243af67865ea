package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"zombiezen.com/go/sqlite"
)

// reader returns a connection to read from, nil when there is no database.
func (s *Store) reader() (*sqlite.Conn, error) {
	file, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.drop()
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.conn != nil && os.SameFile(s.file, file) {
		return s.conn, nil
	}
	s.drop()
	if s.opts.ReadOnly {
		return s.openReadOnly(file)
	}
	if stamp, ok := quiet(s.path); ok {
		return s.openImmutable(file, stamp)
	}
	return s.open(file, sqlite.OpenReadWrite)
}

// writer returns a connection to write to, its schema the newest.
func (s *Store) writer(ctx context.Context) (*sqlite.Conn, error) {
	conn, err := s.reader()
	if err == nil && conn != nil && s.frozen != "" {
		if err = s.close(); err == nil {
			conn, err = s.openExisting()
		}
	}
	if err != nil {
		return nil, err
	}
	if conn == nil {
		if err := os.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
			return nil, err
		}
		if err := keepPrivate(s.path); err != nil {
			return nil, err
		}
		if conn, err = s.open(nil, sqlite.OpenReadWrite|sqlite.OpenCreate); err != nil {
			return nil, err
		}
	}
	if s.wrote {
		return conn, nil
	}
	if err := keepPrivate(s.path); err != nil {
		return nil, err
	}
	defer interruptible(ctx, conn)()
	version, err := versionOf(conn, s.path)
	if err != nil {
		return nil, err
	}
	if version < len(migrations) {
		if err := s.migrate(ctx, conn, version); err != nil {
			return nil, err
		}
	}
	if s.file == nil {
		if s.file, err = os.Stat(s.path); err != nil {
			return nil, err
		}
	}
	s.ready, s.wrote = true, true
	return conn, nil
}

// open opens the database file, which is the one that file describes. Only what
// cannot be done later is done here: a command that asks one question pays for
// this every time.
func (s *Store) open(file os.FileInfo, flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(s.path, flags)
	if err != nil {
		return nil, err
	}
	s.conn, s.file = conn, file
	conn.SetBusyTimeout(min(tick, s.opts.BusyTimeout))
	if file != nil && file.Size() > 0 && !walIsSafe(filepath.Dir(s.path)) {
		// It may be in WAL mode, from a time when this was another mount.
		err := exec(conn, `PRAGMA journal_mode = TRUNCATE`)
		if err != nil {
			s.drop()
			return nil, err
		}
	}
	return conn, nil
}

// openExisting opens the database for reading and writing.
func (s *Store) openExisting() (*sqlite.Conn, error) {
	file, err := os.Stat(s.path)
	if err != nil {
		return nil, err
	}
	return s.open(file, sqlite.OpenReadWrite)
}

// openImmutable opens a database as one that nobody writes. It takes no locks and
// makes no files, which is most of the time that asking one question takes; in
// exchange, whoever reads must look afterwards whether the stamp still stands.
func (s *Store) openImmutable(file os.FileInfo, stamp string) (*sqlite.Conn, error) {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(s.path), RawQuery: "mode=ro&immutable=1"}
	conn, err := sqlite.OpenConn(u.String(), sqlite.OpenReadOnly|sqlite.OpenURI)
	if err != nil {
		return nil, err
	}
	s.conn, s.file, s.frozen = conn, file, stamp
	return conn, nil
}

// quiet reports whether nobody has the database at path open for writing, and
// nobody wrote it so lately that another write could go unseen; the stamp is
// what it looks like then.
func quiet(path string) (stamp string, ok bool) {
	if exists(path+"-wal") || exists(path+"-journal") {
		return "", false
	}
	stamp = Stamp(path)
	return stamp, stamp == Stamp(path)
}

// openReadOnly opens a database in a directory where nothing can be written.
//
// A database in WAL mode has a -shm file that its readers write their marks in.
// Where they can't, SQLite makes do with one that exists, and otherwise refuses
// to open anything but an "immutable" database, whose -wal file it ignores.
func (s *Store) openReadOnly(file os.FileInfo) (*sqlite.Conn, error) {
	path, query := s.path, url.Values{"mode": {"ro"}}
	var temp string
	frozen := Stamp(s.path)
	switch wal, err := os.Stat(s.path + "-wal"); {
	case err != nil || wal.Size() == 0:
		query.Set("immutable", "1")
	case s.aside || !exists(s.path+"-shm"):
		// There is no -shm, or one that would have to be repaired. A copy of
		// the rest, in a place of our own, can be recovered there.
		if temp, err = copyAside(s.path); err != nil {
			return nil, err
		}
		path, query = filepath.Join(temp, filepath.Base(s.path)), nil
	default:
		frozen = "" // there are locks, and they are kept
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode()}
	flags := sqlite.OpenReadOnly | sqlite.OpenURI
	if temp != "" {
		flags = sqlite.OpenReadWrite | sqlite.OpenURI
	}
	conn, err := sqlite.OpenConn(u.String(), flags)
	if err != nil {
		if temp != "" {
			err = errors.Join(err, os.RemoveAll(temp))
		}
		return nil, err
	}
	conn.SetBusyTimeout(min(tick, s.opts.BusyTimeout))
	s.conn, s.file, s.frozen, s.temp = conn, file, frozen, temp
	return conn, nil
}

// copyAside copies a database and its -wal file into a new temporary directory.
func copyAside(path string) (dir string, err error) {
	dir, err = os.MkdirTemp("", "ken-store-")
	if err != nil {
		return "", err
	}
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			// Its last user has just gone, and taken it along.
			err = sqlite.ResultBusy.ToError()
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(path)+suffix), b, 0o600)
		}
		if err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// settled is how long after a write the next one is sure to leave another time
// stamp: Linux stamps files by a clock that ticks every 10 ms at the slowest.
const settled = 12 * time.Millisecond

// Stamp returns a word that changes whenever the database in the file at path
// may have changed. While it was written a moment ago, every word is another.
func Stamp(path string) string {
	var word string
	for _, suffix := range []string{"", "-wal"} {
		f, err := os.Stat(path + suffix)
		if err != nil || f.Size() == 0 { // an empty -wal says as much as none
			word += "none "
			continue
		}
		word += fmt.Sprintf("%d/%d ", f.Size(), f.ModTime().UnixNano())
		if now := time.Now(); now.Sub(f.ModTime()).Abs() < settled {
			word += fmt.Sprintf("at %d ", now.UnixNano())
		}
	}
	return word[:len(word)-1]
}
