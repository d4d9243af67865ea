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

// InMemory is the path of a database in memory, for tests. It ends when the store is closed.
const InMemory = ":memory:"

func (s *Store) inMemory() bool { return s.path == InMemory }

// reader returns a connection for reading, nil if there is no database.
func (s *Store) reader() (*sqlite.Conn, error) {
	if s.inMemory() {
		return s.conn, nil
	}
	file, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.closeQuietly()
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.conn != nil && os.SameFile(s.file, file) {
		return s.conn, nil
	}
	s.closeQuietly()
	if s.opts.ReadOnly {
		return s.openReadOnly(file)
	}
	if stamp, ok := isQuiet(s.path); ok {
		return s.openImmutable(file, stamp)
	}
	return s.open(file, sqlite.OpenReadWrite)
}

// writer returns a connection for writing. It creates the database if necessary.
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
		if conn, err = s.create(); err != nil {
			return nil, err
		}
	}
	if s.writable {
		return conn, nil
	}
	defer interruptible(ctx, conn)()
	there, err := hasSchema(conn, s.path)
	if err == nil && !there {
		err = s.createSchema(ctx, conn)
	}
	if err != nil {
		return nil, err
	}
	if s.file == nil && !s.inMemory() {
		if s.file, err = os.Stat(s.path); err != nil {
			return nil, err
		}
	}
	s.ready, s.writable = true, true
	return conn, nil
}

// create creates the database.
func (s *Store) create() (*sqlite.Conn, error) {
	if !s.inMemory() {
		if err := os.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
			return nil, err
		}
		if err := createPrivate(s.path); err != nil {
			return nil, err
		}
	}
	return s.open(nil, sqlite.OpenReadWrite|sqlite.OpenCreate)
}

// open opens the database file, which file describes. It does only what cannot be done later, because every command
// pays for it.
func (s *Store) open(file os.FileInfo, flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(s.path, flags)
	if err != nil {
		return nil, err
	}
	s.conn, s.file = conn, file
	conn.SetBusyTimeout(min(lockWait, s.opts.BusyTimeout))
	if file != nil && file.Size() > 0 && !walIsSafe(filepath.Dir(s.path)) {
		// The database may be in WAL mode, if it was created on another mount.
		err := exec(conn, `PRAGMA journal_mode = TRUNCATE`)
		if err != nil {
			s.closeQuietly()
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

// openImmutable opens a database without locks and without a -shm file, which take most of the time of a short
// command. The caller must check after each read that the stamp has not changed.
func (s *Store) openImmutable(file os.FileInfo, stamp string) (*sqlite.Conn, error) {
	conn, err := openImmutable(s.path)
	if err != nil {
		return nil, err
	}
	s.conn, s.file, s.frozen = conn, file, stamp
	return conn, nil
}

// openImmutable opens a database that no process writes meanwhile.
func openImmutable(path string) (*sqlite.Conn, error) {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "mode=ro&immutable=1"}
	return sqlite.OpenConn(u.String(), sqlite.OpenReadOnly|sqlite.OpenURI)
}

// isQuiet reports whether no process has the database at path open for writing, and the last write is old enough
// that another one changes the stamp. It returns the stamp.
func isQuiet(path string) (stamp string, ok bool) {
	if exists(path+"-wal") || exists(path+"-journal") {
		return "", false
	}
	stamp = FileStamp(path)
	return stamp, stamp == FileStamp(path)
}

// openReadOnly opens a database in a directory that cannot be written.
//
// In WAL mode, readers write to a -shm file. If they cannot, SQLite uses an existing -shm file. Without one, it
// opens the database only as "immutable", and then ignores the -wal file.
func (s *Store) openReadOnly(file os.FileInfo) (*sqlite.Conn, error) {
	path, query := s.path, url.Values{"mode": {"ro"}}
	var temp string
	frozen := FileStamp(s.path)
	switch wal, err := os.Stat(s.path + "-wal"); {
	case err != nil || wal.Size() == 0:
		query.Set("immutable", "1")
	case s.useCopy || !exists(s.path+"-shm"):
		// The -shm file is missing or needs a repair. SQLite can recover a copy in a temporary directory.
		if temp, err = copyToTemp(s.path); err != nil {
			return nil, err
		}
		path, query = filepath.Join(temp, filepath.Base(s.path)), nil
	default:
		frozen = "" // SQLite uses locks
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
	conn.SetBusyTimeout(min(lockWait, s.opts.BusyTimeout))
	s.conn, s.file, s.frozen, s.temp = conn, file, frozen, temp
	return conn, nil
}

// copyToTemp copies a database and its -wal file into a new temporary directory.
func copyToTemp(path string) (dir string, err error) {
	dir, err = os.MkdirTemp("", "ken-store-")
	if err != nil {
		return "", err
	}
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			// The last process that used the database has just removed the file.
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

// stampResolution is the time after a write in which another write may leave the same modification time. The clock
// of Linux for files ticks at least every 10 ms.
const stampResolution = 12 * time.Millisecond

// FileStamp returns a string that changes if the database at path may have changed. It is different on each call while
// the last write is more recent than the resolution of file times.
func FileStamp(path string) string {
	var stamp string
	for _, suffix := range []string{"", "-wal"} {
		f, err := os.Stat(path + suffix)
		if err != nil || f.Size() == 0 { // an empty -wal counts as none
			stamp += "none "
			continue
		}
		stamp += fmt.Sprintf("%d/%d ", f.Size(), f.ModTime().UnixNano())
		if now := time.Now(); now.Sub(f.ModTime()).Abs() < stampResolution {
			stamp += fmt.Sprintf("at %d ", now.UnixNano())
		}
	}
	return stamp[:len(stamp)-1]
}
