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

// schemaVersion is the version of the tables. ken uses no other. Versions 1 and 2 were other tables.
const schemaVersion = 3

// schema creates the tables. The reasons for their design:
//
// Every key begins with the repository. No query needs two repositories, so the tables can be partitioned or
// distributed by it. There are no foreign keys, because each of 100,000 records would look up the same repository.
//
// The trigger number gives each record its number, and ignores one that a client names: after a huge number, readers
// would find no new records. Clients need no right on the sequence. A sequence alone does not order the records,
// because a transaction with a smaller number may commit later. So a writer locks its repository until its transaction
// ends: a reader that has seen a number has seen all smaller ones.
//
// Texts, authors and paths are bytea, because they need not be UTF-8 and may contain zero bytes. The function
// ken.words makes them readable. The views ken.summary and ken.directory are for people.
const schema = `
CREATE TABLE ken.schema (
	version  integer NOT NULL,
	database uuid NOT NULL DEFAULT gen_random_uuid() -- identifies this database
);
INSERT INTO ken.schema (version) VALUES (3);

CREATE TABLE ken.repository (
	id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name bytea  NOT NULL UNIQUE -- team.repository, else the id of its root commit
);

CREATE SEQUENCE ken.record_seq;

CREATE TABLE ken.record (
	repository  bigint  NOT NULL,
	seq         bigint  NOT NULL, -- from the trigger
	id          bytea   NOT NULL CHECK (octet_length(id) = 32),
	path        bytea   NOT NULL,
	at          timestamptz NOT NULL CHECK (isfinite(at)),
	author      bytea   NOT NULL,
	recipe      bytea   NOT NULL,
	confirmer   bytea   NOT NULL,
	text        bytea   NOT NULL,
	-- of a file
	content_id  bytea,
	content_md5 bytea,
	assumed     boolean NOT NULL,
	-- of a directory; the basis of a file is NULL
	basis       json,
	basis_id    bytea,
	flags       json, -- NULL for none
	outlined    boolean NOT NULL,
	partial     boolean NOT NULL,
	PRIMARY KEY (repository, seq)
);

CREATE UNIQUE INDEX record_file ON ken.record (repository, id) WHERE basis_id IS NULL;
CREATE UNIQUE INDEX record_directory ON ken.record (repository, id, path) WHERE basis_id IS NOT NULL;
CREATE INDEX record_content_id ON ken.record (repository, content_id) WHERE content_id IS NOT NULL;
CREATE INDEX record_content_md5 ON ken.record (repository, content_md5) WHERE content_id IS NULL AND content_md5 IS NOT NULL;
CREATE INDEX record_basis ON ken.record (repository, basis_id) WHERE basis_id IS NOT NULL;
CREATE INDEX record_path ON ken.record (repository, path, outlined, at, id) WHERE basis_id IS NOT NULL;

CREATE TABLE ken.directory_failure (
	repository bigint NOT NULL,
	path       bytea  NOT NULL,
	basis_id   bytea, -- NULL: nobody came so far as to know
	reason     bytea  NOT NULL,
	at         timestamptz NOT NULL CHECK (isfinite(at)),
	PRIMARY KEY (repository, path)
);

CREATE FUNCTION ken.number() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
	NEW.seq := nextval('ken.record_seq');
	RETURN NEW;
END $$;
CREATE TRIGGER number BEFORE INSERT ON ken.record FOR EACH ROW EXECUTE FUNCTION ken.number();

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
FROM ken.record r JOIN ken.repository p ON p.id = r.repository
WHERE r.basis_id IS NULL;

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
FROM ken.record r JOIN ken.repository p ON p.id = r.repository
WHERE ` + isLatest + `;
`

// isUndefined reports whether a query failed because a table or a column does not exist or has another type.
func isUndefined(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.HasPrefix(pg.Code, "42") && pg.Code != insufficientPrivilege
}

// version returns the version of the tables, 0 for none, and whether the schema ken
// exists. It returns an error for a schema of another program.
func version(ctx context.Context, q querier) (v int, exists bool, err error) {
	// A failed query would abort the transaction, so check first that the tables exist.
	var things, ours int
	err = q.QueryRow(ctx, `
		SELECT
			EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'ken'),
			(SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'ken'),
			(SELECT count(*) FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = 'ken' AND c.relname = 'schema' AND c.relkind = 'r' AND NOT a.attisdropped
			AND (a.attname, a.atttypid) IN (('version', 'pg_catalog.int4'::regtype), ('database', 'pg_catalog.uuid'::regtype)))`).Scan(&exists, &things, &ours)
	switch {
	case err != nil || things == 0:
		return 0, exists, err
	case ours != 2:
		return 0, exists, &fault.Error{
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
	return v, exists, err
}

// A querier is a connection, a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// otherVersion returns the error for tables of another version, with the command that moves them aside.
func (s *Store) otherVersion(version int) error {
	hint := MoveAside(s.address.String(), fmt.Sprintf("ken_version_%d", version))
	if version > schemaVersion {
		hint = "upgrade ken, or " + hint
	}
	return &fault.Error{
		Hint: hint,
		Err:  fmt.Errorf("the tables in the schema ken have version %d, and this version of ken needs %d", version, schemaVersion),
	}
}

// MoveAside returns a hint with the command that renames the schema ken. The next command then creates new tables, and
// every clone sends its records again.
func MoveAside(address, name string) string {
	return "move the tables aside: psql " + fault.Quote(address) + " -c " + fault.Quote("ALTER SCHEMA ken RENAME TO "+name)
}

// creationLock is the key of the advisory lock for creating the tables: "ken_sch" as a number.
const creationLock = 0x6b656e5f736368

// create creates the tables in one transaction, unless another process did so. It changes nothing if there are tables
// of another version. If the role cannot create tables, the error says that the owner can.
func (s *Store) create(ctx context.Context, pool *pgxpool.Pool) error {
	err := pgx.BeginTxFunc(ctx, pool, s.writeOptions(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(creationLock)); err != nil {
			return err
		}
		v, exists, err := version(ctx, tx)
		switch {
		case err != nil || v == schemaVersion:
			return err
		case v != 0:
			return s.otherVersion(v)
		}
		if !exists {
			if _, err := tx.Exec(ctx, `CREATE SCHEMA ken`); err != nil {
				return err
			}
		}
		_, err = tx.Conn().PgConn().Exec(ctx, schema).ReadAll()
		return err
	})
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == insufficientPrivilege {
		return s.cannotCreate(messageOnly{pg})
	}
	return err
}

// messageOnly is a server error without the SQLSTATE in its message.
type messageOnly struct{ *pgconn.PgError }

func (e messageOnly) Error() string { return e.Message }

func (e messageOnly) Unwrap() error { return e.PgError }
