package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"ken/internal/fault"
)

// migrations lead from each schema version to the next. The first creates the tables. Released migrations never
// change.
var migrations = []string{migration1, migration2}

// The reasons for the design of the tables:
//
// Every key begins with the repository. No query needs two repositories, so the tables can be partitioned or
// distributed by it. There are no foreign keys, because each of 100,000 records would look up the same repository.
//
// repository.seq numbers the records of a repository. A writer locks that row until its transaction ends, so
// numbers become visible in order: a reader that has seen a number has seen all smaller ones. A PostgreSQL sequence
// does not guarantee this, because a transaction with a smaller number may commit later.
//
// The view ken.row finds the basis of a row's summary when the row is read. Otherwise the writer of a record would
// have to update the rows of all machines with the same content.
//
// Texts, authors and paths are bytea, because they need not be UTF-8 and may contain zero bytes. The function
// ken.words makes them readable. The views ken.summary and ken.directory are for people.
const migration1 = `
CREATE TABLE ken.repository (
	id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name bytea  NOT NULL UNIQUE, -- team.repository, else the id of its root commit
	seq  bigint NOT NULL DEFAULT 0 -- the last that was given to a record
);

CREATE TABLE ken.worktree (
	repository      bigint NOT NULL,
	machine         bytea  NOT NULL,
	name            bytea  NOT NULL, -- '' for the main one
	id              bigint GENERATED ALWAYS AS IDENTITY,
	generation      bigint NOT NULL DEFAULT 0, -- of the rows and the baseline
	head            bytea,
	tree            bytea,
	index_tree      bytea, -- what the index would have written
	clean           boolean NOT NULL DEFAULT false,
	policy          bytea   NOT NULL DEFAULT '',
	raw             integer NOT NULL DEFAULT 0,
	upstream_ref    bytea   NOT NULL DEFAULT '',
	upstream_commit bytea,
	upstream_known  boolean NOT NULL DEFAULT false,
	upstream_ahead  integer NOT NULL DEFAULT 0,
	upstream_behind integer NOT NULL DEFAULT 0,
	verified_at     text, -- RFC 3339, to the nanosecond; NULL: there are rows, but no baseline
	host            bytea   NOT NULL DEFAULT '', -- what people call the machine
	told_at         timestamptz, -- when the machine last told how it stands:
	files           integer NOT NULL DEFAULT 0,
	fresh           integer NOT NULL DEFAULT 0,
	stale           integer NOT NULL DEFAULT 0,
	none            integer NOT NULL DEFAULT 0,
	excluded        integer NOT NULL DEFAULT 0,
	PRIMARY KEY (repository, machine, name)
);

CREATE TABLE ken.file (
	repository  bigint  NOT NULL,
	worktree    bigint  NOT NULL,
	path        bytea   NOT NULL,
	kind        text    NOT NULL,
	mode        bigint  NOT NULL,
	content_id  bytea,
	content_md5 bytea,
	size        bigint  NOT NULL,
	mtime       bigint  NOT NULL,
	ctime       bigint  NOT NULL,
	inode       bigint  NOT NULL,
	marks       integer NOT NULL, -- bits, as in the local store
	excluded    bytea   NOT NULL,
	about       bytea, -- 16 bytes: the md5, else the content id, that the text was written from
	PRIMARY KEY (repository, worktree, path)
);

CREATE TABLE ken.record (
	repository  bigint  NOT NULL,
	id          bytea   NOT NULL,
	seq         bigint  NOT NULL,
	content_id  bytea,
	content_md5 bytea,
	at          timestamptz NOT NULL,
	assumed     boolean NOT NULL,
	path        bytea   NOT NULL,
	author      bytea   NOT NULL,
	recipe      bytea   NOT NULL,
	confirmer   bytea   NOT NULL,
	text        bytea   NOT NULL,
	PRIMARY KEY (repository, id)
);

CREATE UNIQUE INDEX record_seq ON ken.record (repository, seq);
CREATE INDEX record_content_id ON ken.record (repository, content_id, at, seq) WHERE content_id IS NOT NULL;
CREATE INDEX record_content_md5 ON ken.record (repository, content_md5, at, seq) WHERE content_id IS NULL AND content_md5 IS NOT NULL;
CREATE INDEX record_path ON ken.record (repository, path, at, seq);

CREATE TABLE ken.directory_record (
	repository bigint  NOT NULL,
	id         bytea   NOT NULL,
	path       bytea   NOT NULL,
	seq        bigint  NOT NULL,
	basis_id   bytea   NOT NULL,
	outlined   boolean NOT NULL,
	at         timestamptz NOT NULL,
	partial    boolean NOT NULL,
	author     bytea   NOT NULL,
	recipe     bytea   NOT NULL,
	confirmer  bytea   NOT NULL,
	flags      json, -- NULL for none
	basis      json    NOT NULL,
	text       bytea   NOT NULL,
	PRIMARY KEY (repository, id, path)
);

CREATE UNIQUE INDEX directory_record_seq ON ken.directory_record (repository, seq);
CREATE INDEX directory_record_basis ON ken.directory_record (repository, basis_id, outlined, at, seq);
CREATE INDEX directory_record_past ON ken.directory_record (repository, path, at, seq) WHERE NOT outlined;

CREATE TABLE ken.directory_latest (
	repository bigint  NOT NULL,
	path       bytea   NOT NULL,
	outlined   boolean NOT NULL,
	at         timestamptz NOT NULL,
	seq        bigint  NOT NULL,
	PRIMARY KEY (repository, path, outlined)
);

CREATE TABLE ken.directory_failure (
	repository bigint NOT NULL,
	path       bytea  NOT NULL,
	basis_id   bytea, -- NULL: nobody came so far as to know
	reason     bytea  NOT NULL,
	at         timestamptz NOT NULL,
	PRIMARY KEY (repository, path)
);

CREATE TABLE ken.lease (
	repository bigint NOT NULL,
	machine    bytea  NOT NULL,
	worktree   bytea  NOT NULL, -- by name: one that was never verified has no number
	path       bytea  NOT NULL,
	token      bytea  NOT NULL,
	expires    timestamptz NOT NULL,
	recipe     bytea  NOT NULL,
	shown      bytea, -- the record whose text came with it
	basis      json   NOT NULL,
	PRIMARY KEY (repository, machine, worktree, path)
);

-- The rows, each about the newest record for its content or, where there is none, about what
-- it was about.
CREATE VIEW ken.row AS
SELECT
	f.repository, f.worktree, f.path, f.kind, f.mode, f.content_id, f.content_md5,
	f.size, f.mtime, f.ctime, f.inode, f.marks, f.excluded,
	coalesce(newest.key, f.about) AS about
FROM ken.file f
LEFT JOIN LATERAL (
	SELECT key FROM (
		(SELECT r.content_id AS key, r.at, r.seq FROM ken.record r
		WHERE r.repository = f.repository AND r.content_id = f.content_id AND r.content_id IS NOT NULL
		ORDER BY r.at DESC, r.seq DESC LIMIT 1)
		UNION ALL
		(SELECT r.content_md5, r.at, r.seq FROM ken.record r
		WHERE r.repository = f.repository AND r.content_md5 = f.content_md5 AND r.content_id IS NULL AND r.content_md5 IS NOT NULL
		ORDER BY r.at DESC, r.seq DESC LIMIT 1)
	) either
	ORDER BY at DESC, seq DESC LIMIT 1
) newest ON true;

-- words makes words readable: what is not UTF-8 in them is escaped.
CREATE FUNCTION ken.words(b bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
	RETURN convert_from(b, 'UTF8');
EXCEPTION WHEN OTHERS THEN
	RETURN encode(b, 'escape');
END $$;

CREATE VIEW ken.summary AS
SELECT
	ken.words(p.name)        AS repository,
	ken.words(r.path)        AS path,
	encode(r.content_id, 'hex')  AS content_id,
	encode(r.content_md5, 'hex') AS content_md5,
	ken.words(r.text)        AS summary,
	ken.words(r.author)      AS author,
	ken.words(r.recipe)      AS recipe,
	r.at,
	encode(r.id, 'hex')      AS record,
	r.seq
FROM ken.record r JOIN ken.repository p ON p.id = r.repository;

CREATE VIEW ken.directory AS
SELECT
	ken.words(p.name)        AS repository,
	ken.words(r.path)        AS path,
	ken.words(r.text)        AS summary,
	ken.words(r.author)      AS author,
	ken.words(r.recipe)      AS recipe,
	r.at, r.partial, r.flags,
	encode(r.id, 'hex')      AS record,
	r.seq
FROM ken.directory_latest l
JOIN ken.directory_record r ON r.repository = l.repository AND r.seq = l.seq
JOIN ken.repository p ON p.id = l.repository;

CREATE VIEW ken.machine AS
SELECT
	ken.words(p.name)        AS repository,
	ken.words(w.machine)     AS machine,
	ken.words(w.host)        AS host,
	ken.words(w.name)        AS worktree,
	encode(w.head, 'hex')    AS last_verified_sha,
	w.verified_at, w.told_at, w.clean, w.files, w.fresh, w.stale, w.none, w.excluded
FROM ken.worktree w JOIN ken.repository p ON p.id = w.repository;
`

// migration2 changes the order of records. Of records with the same time, the one with the highest id is the newest,
// as in the local store. A record more than a day in the future is never the newest. The migration computes
// directory_latest again.
const migration2 = `
DROP INDEX ken.record_content_id;
DROP INDEX ken.record_content_md5;
DROP INDEX ken.record_path;
DROP INDEX ken.directory_record_basis;
DROP INDEX ken.directory_record_past;

CREATE INDEX record_content_id ON ken.record (repository, content_id, at, id) WHERE content_id IS NOT NULL;
CREATE INDEX record_content_md5 ON ken.record (repository, content_md5, at, id) WHERE content_id IS NULL AND content_md5 IS NOT NULL;
CREATE INDEX record_path ON ken.record (repository, path, at, id);
CREATE INDEX directory_record_basis ON ken.directory_record (repository, basis_id, outlined, at, id, path);
CREATE INDEX directory_record_past ON ken.directory_record (repository, path, at, id) WHERE NOT outlined;

DELETE FROM ken.directory_latest;

INSERT INTO ken.directory_latest (repository, path, outlined, at, seq)
SELECT DISTINCT ON (repository, path, outlined) repository, path, outlined, at, seq
FROM ken.directory_record
WHERE at <= now() + interval '1 day'
ORDER BY repository, path, outlined, at DESC, id DESC;

CREATE OR REPLACE VIEW ken.row AS
SELECT
	f.repository, f.worktree, f.path, f.kind, f.mode, f.content_id, f.content_md5,
	f.size, f.mtime, f.ctime, f.inode, f.marks, f.excluded,
	coalesce(newest.key, f.about) AS about
FROM ken.file f
LEFT JOIN LATERAL (
	SELECT key FROM (
		(SELECT r.content_id AS key, r.at, r.id FROM ken.record r
		WHERE r.repository = f.repository AND r.content_id = f.content_id AND r.content_id IS NOT NULL
		AND r.at <= now() + interval '1 day'
		ORDER BY r.at DESC, r.id DESC LIMIT 1)
		UNION ALL
		(SELECT r.content_md5, r.at, r.id FROM ken.record r
		WHERE r.repository = f.repository AND r.content_md5 = f.content_md5 AND r.content_id IS NULL AND r.content_md5 IS NOT NULL
		AND r.at <= now() + interval '1 day'
		ORDER BY r.at DESC, r.id DESC LIMIT 1)
	) either
	ORDER BY at DESC, id DESC LIMIT 1
) newest ON true;
`

// current reports whether the tables have the schema of this ken. It takes no lock, so another process may be
// creating them: if it returns false, check again with the lock.
func current(ctx context.Context, q querier) (bool, error) {
	var v int
	err := q.QueryRow(ctx, `SELECT version FROM ken.schema`).Scan(&v)
	if errors.Is(err, pgx.ErrNoRows) || isUndefined(err) {
		return false, nil
	}
	return v == len(migrations), err
}

// isUndefined reports whether a query failed because a table or a column does not exist or has another type.
func isUndefined(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.HasPrefix(pg.Code, "42") && pg.Code != "42501" // insufficient_privilege
}

// version returns the version of the schema, 0 for none, and whether the schema ken
// exists. It returns an error for a schema of another program.
func version(ctx context.Context, q querier) (v int, schema bool, err error) {
	// A failed query would abort the transaction, so check first that the tables exist.
	var things, ours int
	err = q.QueryRow(ctx, `
		SELECT
			EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'ken'),
			(SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'ken'),
			(SELECT count(*) FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = 'ken' AND c.relname = 'schema' AND c.relkind = 'r' AND NOT a.attisdropped
			AND (a.attname, a.atttypid) IN (('version', 'pg_catalog.int4'::regtype), ('database', 'pg_catalog.uuid'::regtype)))`).Scan(&schema, &things, &ours)
	switch {
	case err != nil || things == 0:
		return 0, schema, err
	case ours != 2:
		return 0, schema, &fault.Error{
			Hint: "set another database in store of .ken/config.yaml",
			Err:  errors.New("the schema ken belongs to another program"),
		}
	}
	err = q.QueryRow(ctx, `SELECT version FROM ken.schema`).Scan(&v)
	if errors.Is(err, pgx.ErrNoRows) {
		err = &fault.Error{
			Hint: "set another database, or delete the schema: DROP SCHEMA ken CASCADE",
			Err:  errors.New("the schema ken is incomplete"),
		}
	}
	return v, schema, err
}

// A querier is a connection, a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func newer(version int) error {
	return &fault.Error{
		Hint: "upgrade ken; meanwhile ken answers from the local store",
		Err:  fmt.Errorf("a newer version of ken made the tables (schema %d; this one knows %d)", version, len(migrations)),
	}
}

// migrationLock is the key of the advisory lock of migrations: "ken_sch" as a number.
const migrationLock = 0x6b656e5f736368

// migrate migrates the tables to the newest schema in one transaction. It waits for other migrations before it reads
// the version. If the role cannot migrate, the error says that the owner can.
func (s *Store) migrate(ctx context.Context, pool *pgxpool.Pool) error {
	if ok, err := current(ctx, pool); ok || err != nil {
		return err
	}
	var v int
	err := pgx.BeginTxFunc(ctx, pool, s.writeOptions(), func(tx pgx.Tx) (err error) {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
			return err
		}
		v, err = migrateIn(ctx, tx)
		return err
	})
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == insufficientPrivilege {
		return s.cannotCreate(v, messageOnly{pg})
	}
	return err
}

// messageOnly is a server error without the SQLSTATE in its message.
type messageOnly struct{ *pgconn.PgError }

func (e messageOnly) Error() string { return e.Message }

func (e messageOnly) Unwrap() error { return e.PgError }

// migrateIn runs the missing migrations, and returns the version before them.
func migrateIn(ctx context.Context, tx pgx.Tx) (was int, err error) {
	was, schema, err := version(ctx, tx)
	switch {
	case err != nil:
		return was, err
	case was > len(migrations):
		return was, newer(was)
	}
	if !schema {
		if _, err := tx.Exec(ctx, `CREATE SCHEMA ken`); err != nil {
			return was, err
		}
	}
	if was == 0 {
		_, err := tx.Conn().PgConn().Exec(ctx, `
			CREATE TABLE IF NOT EXISTS ken.schema (
				version  integer NOT NULL,
				database uuid NOT NULL DEFAULT gen_random_uuid() -- names this database, as no other is named
			);
			INSERT INTO ken.schema (version) SELECT 0 WHERE NOT EXISTS (SELECT FROM ken.schema)`).ReadAll()
		if err != nil {
			return was, err
		}
	}
	for v := was; v < len(migrations); v++ {
		if _, err := tx.Conn().PgConn().Exec(ctx, migrations[v]).ReadAll(); err != nil {
			return was, fmt.Errorf("schema %d: %w", v+1, err)
		}
	}
	_, err = tx.Exec(ctx, `UPDATE ken.schema SET version = $1`, len(migrations))
	return was, err
}
