// Package searchindex is the full-text index of one worktree: its files by path, symbols, text and fresh
// summaries ("notes"), and the recent commits by subject, with the files that each commit touched. It also
// stores the uses between files.
//
// The index is an SQLite database with one FTS5 table per field. bm25() counts over a whole table, so the
// tables contain exactly the current files of one worktree. The caller updates the index with [Index.Update]
// before it queries it. You may delete the database at any time: the next update creates it again.
//
// The package stores and matches terms. Package find ranks the matches.
package searchindex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"ken/internal/outline"
	"ken/internal/repo"
)

// version identifies the tables and the versions of the outlines in them. The first number changes with the
// tables, with the terms in them and with how uses are resolved.
const version = 8<<16 | outline.Version<<8 | outline.ReferencesVersion

// FileName returns the name of the index of the worktree whose git directory is gitDir.
func FileName(gitDir string) string { return filepath.Join(gitDir, "ken", "cache", "search.db") }

// An Index is an open index. It is not safe for concurrent use.
type Index struct {
	conn *sqlite.Conn
	// Temporary is true if the database is in memory because the file cannot be written.
	Temporary bool
}

// Open opens the index in a file. It creates the index if the file is missing, damaged or of another
// version. If the file cannot be written, the index is in memory and empty.
func Open(ctx context.Context, file string) (*Index, error) {
	x, err := openFile(ctx, file)
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrBusy) {
		return x, err
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		_ = os.Remove(file + suffix) // if it stays, opening fails again
	}
	if x, err = openFile(ctx, file); err == nil || ctx.Err() != nil || errors.Is(err, ErrBusy) {
		return x, err
	}
	conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite)
	if err != nil {
		return nil, fmt.Errorf("open search index: %w", err)
	}
	x = &Index{conn: conn, Temporary: true}
	if err := x.create(); err != nil {
		return nil, errors.Join(fmt.Errorf("open search index: %w", err), conn.Close())
	}
	return x, nil
}

// openPatience is how long Open waits for another process that creates the tables.
const openPatience = 2 * time.Second

func openFile(ctx context.Context, file string) (*Index, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return nil, err
	}
	conn, err := sqlite.OpenConn(file, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	conn.SetInterrupt(ctx.Done())
	conn.SetBusyTimeout(0) // SQLite would not stop waiting when ctx ends
	x := &Index{conn: conn}
	// The other process may create the tables and continue writing, so check again before each attempt.
	if err := whenFree(ctx, openPatience, x.prepare); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return x, nil
}

// OpenExisting opens an index without an update. It returns nil if no index exists that this version can
// read.
func OpenExisting(ctx context.Context, file string) *Index {
	if _, err := os.Stat(file); err != nil {
		return nil
	}
	conn, err := sqlite.OpenConn(file, sqlite.OpenReadWrite)
	if err != nil {
		return nil
	}
	conn.SetInterrupt(ctx.Done())
	found, err := sqlitex.ResultInt(conn.Prep(`PRAGMA user_version`))
	if err != nil || found != version {
		_ = conn.Close() // nothing was written
		return nil
	}
	return &Index{conn: conn}
}

func (x *Index) prepare() error {
	// After a power failure the index is created again.
	for _, setting := range []string{`PRAGMA synchronous = OFF`, `PRAGMA temp_store = MEMORY`, `PRAGMA cache_size = -32000`} {
		if err := sqlitex.ExecuteTransient(x.conn, setting, nil); err != nil {
			return err
		}
	}
	found, err := sqlitex.ResultInt(x.conn.Prep(`PRAGMA user_version`))
	if err != nil {
		return err
	}
	switch found {
	case version:
		return nil
	case 0:
		if err := sqlitex.ExecuteTransient(x.conn, `PRAGMA journal_mode = WAL`, nil); err != nil {
			return err
		}
		return x.create()
	default:
		return fmt.Errorf("search index of version %d, want %d", found, version)
	}
}

func (x *Index) create() (err error) {
	end, err := sqlitex.ImmediateTransaction(x.conn)
	if err != nil {
		return err
	}
	defer end(&err)
	found, err := sqlitex.ResultInt(x.conn.Prep(`PRAGMA user_version`))
	if err != nil || found == version { // another process was faster
		return err
	}
	tables, err := sqlitex.ResultInt(x.conn.Prep(`SELECT count(*) FROM sqlite_schema`))
	if err != nil {
		return err
	}
	if tables > 0 {
		return errors.New("it is a database of another program")
	}
	if err := sqlitex.ExecuteScript(x.conn, schema, nil); err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(x.conn, fmt.Sprintf(`PRAGMA user_version = %d`, version), nil)
}

// schema: a path keeps its number forever, so that commits can name deleted files. Every query scans file as
// a whole, so its rows are short. An edge has all uses between two files. used has the number of files that
// certainly use a file. wanted has the last names of a file's imports: a new file with such a name may be
// the target of the import. The FTS tables store no text, only which terms are in which row.
const schema = `
CREATE TABLE path (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE file (id INTEGER PRIMARY KEY REFERENCES path, content BLOB NOT NULL, note BLOB NOT NULL, kind INTEGER NOT NULL);
CREATE TABLE facts (
	id INTEGER PRIMARY KEY REFERENCES file, language TEXT NOT NULL, package TEXT NOT NULL, imports BLOB NOT NULL, ambiguous INTEGER NOT NULL,
	own BLOB NOT NULL
);
CREATE TABLE symbol (
	file INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL, qualified TEXT NOT NULL, kind TEXT NOT NULL,
	line INTEGER NOT NULL, end_line INTEGER NOT NULL, exported INTEGER NOT NULL, depth INTEGER NOT NULL,
	signature TEXT NOT NULL,
	PRIMARY KEY (file, place)
) WITHOUT ROWID;
CREATE INDEX symbol_name ON symbol (name);
CREATE TABLE edge (source INTEGER NOT NULL, target INTEGER NOT NULL, certain INTEGER NOT NULL, uses BLOB NOT NULL, PRIMARY KEY (source, target)) WITHOUT ROWID;
CREATE INDEX edge_target ON edge (target, certain);
CREATE TABLE used (id INTEGER PRIMARY KEY REFERENCES path, users INTEGER NOT NULL, tests INTEGER NOT NULL);
CREATE TABLE wanted (name TEXT NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (name, file)) WITHOUT ROWID;
CREATE INDEX wanted_file ON wanted (file);
CREATE TABLE entry (id INTEGER PRIMARY KEY, oid BLOB NOT NULL UNIQUE, subject TEXT NOT NULL, date TEXT NOT NULL, files INTEGER NOT NULL);
CREATE TABLE touch (entry INTEGER NOT NULL, path INTEGER NOT NULL, PRIMARY KEY (entry, path)) WITHOUT ROWID;
CREATE INDEX touch_path ON touch (path, entry);
CREATE TABLE note (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE in_path    USING fts5(t, content='', contentless_delete=1, tokenize="porter unicode61");
CREATE VIRTUAL TABLE in_symbol  USING fts5(t, content='', contentless_delete=1, tokenize="porter unicode61");
CREATE VIRTUAL TABLE in_text    USING fts5(t, content='', contentless_delete=1, tokenize="porter unicode61");
CREATE VIRTUAL TABLE in_note    USING fts5(t, content='', contentless_delete=1, tokenize="porter unicode61");
CREATE VIRTUAL TABLE in_subject USING fts5(t, content='', contentless_delete=1, tokenize="porter unicode61");
`

// Close closes the database.
func (x *Index) Close() error {
	x.conn.SetInterrupt(nil)
	return x.conn.Close()
}

// each calls row with each row of the result of a query.
func (x *Index) each(ctx context.Context, query string, row func(s *sqlite.Stmt) error, args ...any) error {
	x.conn.SetInterrupt(ctx.Done())
	return sqlitex.Execute(x.conn, query, &sqlitex.ExecOptions{Args: args, ResultFunc: row})
}

// number returns the number that a query selects, 0 if it selects none.
func (x *Index) number(ctx context.Context, query string, args ...any) (n int, err error) {
	err = x.each(ctx, query, func(s *sqlite.Stmt) error { n = s.ColumnInt(0); return nil }, args...)
	return n, err
}

// paths returns the paths that a query selects.
func (x *Index) paths(ctx context.Context, query string, args ...any) (list []repo.Path, err error) {
	err = x.each(ctx, query, func(s *sqlite.Stmt) error { list = append(list, repo.Path(s.ColumnText(0))); return nil }, args...)
	return list, err
}

// isBusy reports whether another process is writing the index.
func isBusy(err error) bool {
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultBusy || code == sqlite.ResultLocked
}

// whenFree retries f while another process is writing the index, until patience or ctx ends. Then it returns
// [ErrBusy], or the error of ctx.
func whenFree(ctx context.Context, patience time.Duration, f func() error) error {
	for start := time.Now(); ; {
		err := f()
		if !isBusy(err) {
			return err
		}
		if time.Since(start) >= patience {
			return ErrBusy
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
