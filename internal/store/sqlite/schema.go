package sqlite

import (
	"context"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

	"ken/internal/fault"
)

// applicationID ("ken1") identifies the file as a database of ken, for ken and for file(1).
const applicationID = 0x6b656e31

// migrations lead from each schema version to the next. The first creates the tables. Released migrations never
// change.
var migrations = []string{migration1, migration2, migration3, migration4}

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
const migration1 = `
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
	excluded        INTEGER NOT NULL DEFAULT 0
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

CREATE INDEX record_content_id ON record (content_id, at) WHERE content_id IS NOT NULL;
CREATE INDEX record_content_md5 ON record (content_md5, at) WHERE content_id IS NULL AND content_md5 IS NOT NULL;
CREATE INDEX record_path ON record (path, at);

CREATE TABLE plugin_config (
	key   TEXT PRIMARY KEY,
	value TEXT
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
			ORDER BY at DESC, seq DESC LIMIT 1)
		ELSE (
			SELECT seq FROM record
			WHERE content_id IS NOT NULL AND content_id = f.about
			ORDER BY at DESC, seq DESC LIMIT 1)
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

// migration2 creates the tables of a survey. Every survey begins with the latest records of all directories, so the
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
const migration2 = `
DROP VIEW file_registry;

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
			ORDER BY at DESC, seq DESC LIMIT 1)
		ELSE (
			SELECT seq FROM record
			WHERE content_id IS NOT NULL AND content_id = f.about
			ORDER BY at DESC, seq DESC LIMIT 1)
	END;

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

CREATE INDEX directory_record_basis ON directory_record (basis_id, outlined, at);

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
`

// ken searches the older summaries of a directory when its latest one is stale.
// The index does not include outlines, which are many and not searched.
const migration3 = `
CREATE INDEX directory_record_past ON directory_record (path, at) WHERE outlined = 0;
`

// Of records with the same time, the one with the highest id is the newest, so that every clone chooses the same
// one. The indexes therefore contain the id. A record more than a day in the future is never the newest, and ken
// no longer adds such records.
//
// A baseline has the number of the last record that its rows were checked with, so that later records find their
// rows.
const migration4 = `
DROP INDEX record_content_id;
DROP INDEX record_content_md5;
DROP INDEX record_path;
DROP INDEX directory_record_basis;
DROP INDEX directory_record_past;

CREATE INDEX record_content_id ON record (content_id, at, id) WHERE content_id IS NOT NULL;
CREATE INDEX record_content_md5 ON record (content_md5, at, id) WHERE content_id IS NULL AND content_md5 IS NOT NULL;
CREATE INDEX record_path ON record (path, at, id);
CREATE INDEX directory_record_basis ON directory_record (basis_id, outlined, at, id, path);
CREATE INDEX directory_record_past ON directory_record (path, at, id) WHERE outlined = 0;

DELETE FROM directory_latest;

INSERT INTO directory_latest (path, outlined, at, record)
SELECT path, outlined, at, seq FROM (
	SELECT path, outlined, at, seq, row_number() OVER (PARTITION BY path, outlined ORDER BY at DESC, id DESC) AS n
	FROM directory_record
	WHERE at <= (unixepoch() + 86400) * 1000000)
WHERE n = 1;

ALTER TABLE worktree ADD COLUMN records INTEGER NOT NULL DEFAULT 0;

DROP VIEW file_registry;

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
`

// versionOf returns the schema version of a database, 0 for an empty one. It returns an error for a database of a
// newer ken or of another program.
func versionOf(conn *sqlite.Conn, path string) (int, error) {
	version, err := pragma(conn, `PRAGMA user_version`)
	if err != nil {
		return 0, err
	}
	if version > len(migrations) {
		return 0, &fault.Error{
			Hint: "upgrade ken, or use another copy of the repository",
			Err: fmt.Errorf("a newer version of ken wrote %s (schema %d; this one knows %d)",
				path, version, len(migrations)),
		}
	}
	if version > 0 {
		return version, nil
	}
	id, err := pragma(conn, `PRAGMA application_id`)
	if err != nil {
		return 0, err
	}
	if id != 0 && id != applicationID {
		return 0, fmt.Errorf("%s is the database of another program (application id %d)", path, id)
	}
	return 0, nil
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

// migrate migrates the database to the newest schema, each step in its own transaction. version is the schema
// version that the caller read, 0 for a new database. migrate waits for other processes that do the same.
func (s *Store) migrate(ctx context.Context, conn *sqlite.Conn, from int) error {
	if from == 0 {
		if err := s.setJournal(ctx, conn); err != nil {
			return err
		}
	}
	for {
		done, err := s.migrateOnce(ctx, conn)
		if done || err != nil {
			return err
		}
	}
}

func (s *Store) migrateOnce(ctx context.Context, conn *sqlite.Conn) (done bool, err error) {
	if err := s.begin(ctx, conn); err != nil {
		return false, err
	}
	defer func() {
		if err != nil || done {
			err = errors.Join(err, s.end(conn, `ROLLBACK`))
		}
	}()
	version, err := versionOf(conn, s.path)
	if err != nil {
		return false, err
	}
	if version == len(migrations) {
		return true, nil
	}
	if err := script(conn, migrations[version]); err != nil {
		return false, fmt.Errorf("schema %d: %w", version+1, err)
	}
	// PRAGMA does not accept parameters.
	if err := exec(conn, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID)); err != nil {
		return false, err
	}
	if err := exec(conn, fmt.Sprintf(`PRAGMA user_version = %d`, version+1)); err != nil {
		return false, err
	}
	return false, s.retryBusy(ctx, func() error { return exec(conn, `COMMIT`) })
}
