package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"zombiezen.com/go/sqlite"

	"ken/internal/fault"
)

// applicationID ("kens") identifies the file as a database of ken, for ken and for file(1).
const applicationID = 0x6b656e73

// schemaVersion is the version of the tables. ken reads and writes no other version.
const schemaVersion = 1

// The reasons for the design of the tables. The figures are for 100,000 rows on two cores.
//
// file is WITHOUT ROWID, because ken reads the rows of a work tree in the order of their paths. Filling it takes
// 15 MB and 290 ms, instead of 20 MB and 330 ms with row ids.
//
// There is no index on file.content_id, although a new record must find the rows with its content. Without the
// index, each transaction with records scans the table in 12 ms. With it, filling takes 680 ms instead of 290, a
// branch switch that changes 5,000 rows takes 100 ms instead of 18, and the file grows by half.
//
// The table worktree has the counts of the rows, because counting takes 25 ms, and an index for it would add 200
// ms to filling. Commit updates the counts.
//
// Every survey begins with the latest records of all directories, so the
// tables are optimized for that. The figures are for 20,000 directories with five files each and five records for
// each directory.
//
// directory_latest refers to the latest records, and SaveDirRecords updates it. With it, ken reads the latest records in 55
// ms, for any number of older ones. A flag with its own index takes 70 ms, and changes rows that never change
// otherwise. A window function over all records takes 230 ms, and more after each survey.
//
// directory_record has its large columns last, so that SQLite can read the others without them. Its key is the id
// and the path, because the id does not include the path, and two directories with the same content may get the
// same text at the same time.
//
// file.marks has the bit 64 for rows whose change the policy does not count as stale, and the grade of the change
// in the bits 16 and 32 (1 format, 2 body, 3 interface). The state of these rows stays stale, because about is
// other content, but the counts of a work tree and the view count them as fresh. A separate column would require
// to write every row again.
//
// Of records with the same time, the one with the highest id is the newest, so that every clone chooses the same one.
// The indexes therefore contain the id. A record more than a day in the future is never the newest.
//
// worktree.records is the number of the last record that the rows were checked with, so that later records find their
// rows. directory_record_past serves the search for the older summaries of a directory whose latest one is stale; it
// does not include outlines, which are many and not searched.
const schema = `
CREATE TABLE worktree (
	id              INTEGER PRIMARY KEY,
	name            TEXT NOT NULL UNIQUE, -- '' for the main one
	head            BLOB,
	tree            BLOB,
	index_tree      BLOB, -- what the index would have written
	generation      INTEGER NOT NULL DEFAULT 0, -- of the rows and the baseline
	clean           INTEGER NOT NULL DEFAULT 0,
	policy          TEXT NOT NULL DEFAULT '',
	raw             INTEGER NOT NULL DEFAULT 0,
	upstream_ref    TEXT NOT NULL DEFAULT '',
	upstream_commit BLOB,
	upstream_known  INTEGER NOT NULL DEFAULT 0,
	upstream_ahead  INTEGER NOT NULL DEFAULT 0,
	upstream_behind INTEGER NOT NULL DEFAULT 0,
	verified_at     TEXT, -- NULL: there are rows, but no baseline
	files           INTEGER NOT NULL DEFAULT 0,
	fresh           INTEGER NOT NULL DEFAULT 0,
	stale           INTEGER NOT NULL DEFAULT 0,
	none            INTEGER NOT NULL DEFAULT 0,
	excluded        INTEGER NOT NULL DEFAULT 0,
	records         INTEGER NOT NULL DEFAULT 0 -- the last record that the rows were checked with
);

CREATE TABLE file (
	worktree    INTEGER NOT NULL REFERENCES worktree (id),
	path        BLOB NOT NULL,
	kind        TEXT NOT NULL,
	mode        INTEGER NOT NULL,
	content_id  BLOB,
	content_md5 BLOB,
	size        INTEGER NOT NULL,
	mtime       INTEGER NOT NULL,
	ctime       INTEGER NOT NULL,
	inode       INTEGER NOT NULL,
	marks       INTEGER NOT NULL, -- bits: 1 raw, 2 astray, 4 converted, 8 convertible
	excluded    TEXT NOT NULL,
	about       BLOB, -- 16 bytes: the md5, else the content id, that the text was written from
	state       TEXT NOT NULL GENERATED ALWAYS AS (
		CASE
			WHEN excluded <> '' THEN 'excluded'
			WHEN about IS NULL THEN 'none'
			WHEN about = CASE length(about) WHEN 16 THEN content_md5 ELSE content_id END THEN 'fresh'
			ELSE 'stale'
		END) VIRTUAL,
	PRIMARY KEY (worktree, path)
) WITHOUT ROWID;

CREATE INDEX file_exception ON file (worktree) WHERE marks & 3 OR state = 'stale';

CREATE TABLE record (
	seq         INTEGER PRIMARY KEY,
	id          BLOB NOT NULL UNIQUE,
	content_id  BLOB,
	content_md5 BLOB,
	text        TEXT NOT NULL,
	text_id     BLOB NOT NULL,
	author      TEXT NOT NULL,
	recipe      TEXT NOT NULL,
	at          INTEGER NOT NULL, -- microseconds since 1970
	assumed     INTEGER NOT NULL,
	confirmer   TEXT NOT NULL,
	path        BLOB NOT NULL
);

CREATE INDEX record_content_id ON record (content_id, at, id) WHERE content_id IS NOT NULL;
CREATE INDEX record_content_md5 ON record (content_md5, at, id) WHERE content_id IS NULL AND content_md5 IS NOT NULL;
CREATE INDEX record_path ON record (path, at, id);

CREATE TABLE plugin_config (
	key   TEXT PRIMARY KEY,
	value TEXT
) WITHOUT ROWID;

CREATE TABLE directory_record (
	seq       INTEGER PRIMARY KEY,
	id        BLOB NOT NULL,
	path      BLOB NOT NULL,
	basis_id  BLOB NOT NULL,
	outlined  INTEGER NOT NULL,
	at        INTEGER NOT NULL, -- microseconds since 1970
	partial   INTEGER NOT NULL,
	author    TEXT NOT NULL,
	recipe    TEXT NOT NULL,
	confirmer TEXT NOT NULL,
	flags     TEXT, -- JSON; NULL for none
	text      TEXT NOT NULL,
	basis     BLOB NOT NULL, -- see appendBasis
	UNIQUE (id, path)
);

CREATE INDEX directory_record_basis ON directory_record (basis_id, outlined, at, id, path);
CREATE INDEX directory_record_past ON directory_record (path, at, id) WHERE outlined = 0;

CREATE TABLE directory_latest (
	path     BLOB NOT NULL,
	outlined INTEGER NOT NULL,
	at       INTEGER NOT NULL,
	record   INTEGER NOT NULL REFERENCES directory_record (seq),
	PRIMARY KEY (path, outlined)
) WITHOUT ROWID;

CREATE TABLE directory_failure (
	path     BLOB PRIMARY KEY NOT NULL,
	basis_id BLOB, -- NULL: nobody came so far as to know
	reason   TEXT NOT NULL,
	at       INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE lease (
	worktree TEXT NOT NULL, -- by name: one that was never verified has no number
	path     BLOB NOT NULL,
	token    TEXT NOT NULL,
	expires  INTEGER NOT NULL, -- microseconds since 1970
	recipe   TEXT NOT NULL,
	basis    BLOB NOT NULL,
	PRIMARY KEY (worktree, path)
) WITHOUT ROWID;

CREATE VIEW file_registry AS
SELECT
	CAST(f.path AS TEXT)                                     AS path,
	f.kind                                                   AS type,
	nullif(lower(hex(f.content_md5)), '')                    AS content_md5,
	r.text                                                   AS summary,
	strftime('%Y-%m-%dT%H:%M:%SZ', r.at / 1000000, 'unixepoch') AS summary_updated_at,
	CASE
		WHEN f.state = 'stale' AND f.content_id IS NULL AND f.content_md5 IS NULL THEN 'unknown'
		WHEN f.state = 'stale' AND f.marks & 64 THEN 'fresh'
		ELSE f.state
	END                                                      AS summary_state,
	nullif(lower(hex(f.content_id)), '')                     AS content_id,
	w.name                                                   AS worktree,
	nullif(f.excluded, '')                                   AS excluded,
	nullif(lower(hex(f.about)), '')                          AS summary_of,
	r.author                                                 AS summary_author,
	nullif(lower(hex(r.id)), '')                             AS summary_record
FROM file f
JOIN worktree w ON w.id = f.worktree
LEFT JOIN record r ON f.excluded = '' AND r.seq =
	CASE length(f.about)
		WHEN 16 THEN (
			SELECT seq FROM record
			WHERE content_id IS NULL AND content_md5 IS NOT NULL AND content_md5 = f.about
			AND at <= (unixepoch() + 86400) * 1000000
			ORDER BY at DESC, id DESC LIMIT 1)
		ELSE (
			SELECT seq FROM record
			WHERE content_id IS NOT NULL AND content_id = f.about
			AND at <= (unixepoch() + 86400) * 1000000
			ORDER BY at DESC, id DESC LIMIT 1)
	END;

CREATE VIEW baseline AS
SELECT
	name                          AS worktree,
	nullif(lower(hex(head)), '')  AS last_verified_sha,
	nullif(lower(hex(tree)), '')  AS tree,
	clean, verified_at, files, fresh, stale, none, excluded
FROM worktree
WHERE verified_at IS NOT NULL;
`

// hasSchema reports whether the database has ken's tables. It is false for an empty database. It returns an error for a
// database with another schema, or of another program, which ken neither reads nor changes.
func hasSchema(conn *sqlite.Conn, path string) (bool, error) {
	// Ask for the tables first: another process may create them, with both pragmas, between two questions.
	tables, err := pragma(conn, `SELECT count(*) FROM sqlite_schema`)
	if err != nil || tables == 0 {
		return false, err
	}
	id, err := pragma(conn, `PRAGMA application_id`)
	if err != nil {
		return false, err
	}
	version, err := pragma(conn, `PRAGMA user_version`)
	if err != nil {
		return false, err
	}
	if id == applicationID && version == schemaVersion {
		return true, nil
	}
	dir := filepath.Dir(path)
	return false, &fault.Error{
		Hint: fmt.Sprintf("move it aside with: mv %s %s", fault.Quote(dir), fault.Quote(freeName(dir+".other"))),
		Err: fmt.Errorf("%s has another schema (application id %d, version %d; this version of ken reads version %d)",
			path, id, version, schemaVersion),
	}
}

// number returns the first column of a query's last row, 0 if it has no rows.
func number(conn *sqlite.Conn, query string, args ...any) (n int64, err error) {
	err = each(conn, query, func(stmt *sqlite.Stmt) error {
		n = stmt.ColumnInt64(0)
		return nil
	}, args...)
	return n, err
}

func pragma(conn *sqlite.Conn, query string) (int, error) {
	stmt, _, err := conn.PrepareTransient(query)
	if err != nil {
		return 0, err
	}
	defer stmt.Finalize()
	if _, err := stmt.Step(); err != nil {
		return 0, err
	}
	return stmt.ColumnInt(0), nil
}

// createSchema creates the tables in an empty database, in one transaction. It waits for other processes that do the
// same.
func (s *Store) createSchema(ctx context.Context, conn *sqlite.Conn) (err error) {
	if err := s.setJournal(ctx, conn); err != nil {
		return err
	}
	if err := s.begin(ctx, conn); err != nil {
		return err
	}
	created := false
	defer func() {
		if !created {
			err = errors.Join(err, s.end(conn, `ROLLBACK`))
		}
	}()
	there, err := hasSchema(conn, s.path)
	if there || err != nil {
		return err
	}
	// PRAGMA does not accept parameters.
	settings := fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d;`, applicationID, schemaVersion)
	if err := script(conn, schema+settings); err != nil {
		return fmt.Errorf("create the tables: %w", err)
	}
	err = s.retryBusy(ctx, func() error { return exec(conn, `COMMIT`) })
	created = err == nil
	return err
}
