package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/store/postgres"
)

// tablesVersion is the version of the tables. ken uses no other.
const tablesVersion = 1

// tables creates the tables.
const tables = `
CREATE TABLE ken.survey_version (
	version         integer PRIMARY KEY,
	river           integer NOT NULL DEFAULT 0      -- of River's tables
);
INSERT INTO ken.survey_version VALUES (1);

CREATE TABLE ken.survey_run (
	id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	repository      text NOT NULL,
	commit_id       text NOT NULL,
	recipe          text NOT NULL,
	provider        text NOT NULL,
	model           text NOT NULL,
	asked_by        text NOT NULL,
	state           text NOT NULL CHECK (state IN ('running', 'paused', 'done', 'incomplete', 'cancelled')),
	why             text NOT NULL DEFAULT '',
	today           boolean NOT NULL DEFAULT false, -- paused by the day's ceiling, and resumed with it
	need_tokens     bigint NOT NULL DEFAULT 0,      -- what it was paused for
	need_cost       bigint NOT NULL DEFAULT 0,
	need_unpriced   boolean NOT NULL DEFAULT false, -- what it was paused for has no price
	max_tokens      bigint,
	max_cost        bigint,                         -- money is in billionths of a dollar
	calls           bigint NOT NULL DEFAULT 0,
	spent_tokens    bigint NOT NULL DEFAULT 0,
	spent_cost      bigint NOT NULL DEFAULT 0,
	unpriced        boolean NOT NULL DEFAULT false,
	assumed_tokens  bigint NOT NULL DEFAULT 0,
	assumed_cost    bigint NOT NULL DEFAULT 0,
	reserved_tokens bigint NOT NULL DEFAULT 0 CHECK (reserved_tokens >= 0),
	reserved_cost   bigint NOT NULL DEFAULT 0 CHECK (reserved_cost >= 0),
	begun           timestamptz NOT NULL DEFAULT now(),
	ended           timestamptz
);
CREATE INDEX survey_run_repository ON ken.survey_run (repository, id);
CREATE INDEX survey_run_open ON ken.survey_run (repository) WHERE state IN ('running', 'paused');

CREATE TABLE ken.survey_directory (
	run             bigint NOT NULL REFERENCES ken.survey_run ON DELETE CASCADE,
	path            bytea NOT NULL,
	parent          bytea,                          -- the directory that it lies in
	above           bytea,                          -- the nearest that waits for it
	waits           integer NOT NULL CHECK (waits >= 0),
	state           text NOT NULL CHECK (state IN ('kept', 'waiting', 'ready', 'taken', 'done', 'partial', 'failed', 'dead')),
	rank            smallint NOT NULL,
	band            smallint NOT NULL,
	verdict         smallint NOT NULL,
	reasons         text[] NOT NULL,
	record          bytea,                          -- the id of the newest record about it
	basis           bytea,                          -- the digest of the basis that it is described from
	token           text,
	expires         timestamptz,
	worker          text NOT NULL DEFAULT '',
	attempts        integer NOT NULL DEFAULT 0,
	absent          timestamptz,                    -- when a worker without the commit first came
	error           text NOT NULL DEFAULT '',
	job             bigint,                         -- its newest job of River
	queued          timestamptz,
	due             timestamptz,                    -- when that job may begin
	turn            integer NOT NULL DEFAULT 0,     -- reservations of the worker that has it
	calls           bigint NOT NULL DEFAULT 0,
	spent_tokens    bigint NOT NULL DEFAULT 0,
	spent_cost      bigint NOT NULL DEFAULT 0,
	reserved_tokens bigint NOT NULL DEFAULT 0,
	reserved_cost   bigint NOT NULL DEFAULT 0,
	reserved_on     date,
	taken_at        timestamptz,
	settled_at      timestamptz,
	PRIMARY KEY (run, path)
);
CREATE INDEX survey_directory_parent ON ken.survey_directory (run, parent);
CREATE INDEX survey_directory_open ON ken.survey_directory (run, state) WHERE state IN ('ready', 'taken', 'dead');
CREATE INDEX survey_directory_lease ON ken.survey_directory (expires) WHERE state = 'taken';

CREATE TABLE ken.survey_ceiling (
	one             boolean PRIMARY KEY DEFAULT true CHECK (one),
	max_tokens      bigint,
	max_cost        bigint
);
INSERT INTO ken.survey_ceiling DEFAULT VALUES;

CREATE TABLE ken.survey_day (
	day             date PRIMARY KEY,
	spent_tokens    bigint NOT NULL DEFAULT 0,
	spent_cost      bigint NOT NULL DEFAULT 0,
	reserved_tokens bigint NOT NULL DEFAULT 0,
	reserved_cost   bigint NOT NULL DEFAULT 0
);
`

// createLock is the advisory lock for creating the tables: "kenq" in ASCII.
const createLock = 0x6b656e71

// createPause is the pause before the next attempt to get the lock.
const createPause = 50 * time.Millisecond

// create creates the tables of ken if there are none, and then updates those of River, whose steps need a
// transaction each. It changes nothing if there are tables of another version.
func (q *Queue) create(ctx context.Context) error {
	err := q.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		if current, err := q.current(ctx, c); current || err != nil {
			return err
		}
		// The lock belongs to the connection and ends with it. ken polls for it, because
		// River's steps would have to wait for a transaction that waits for the lock.
		for locked := false; !locked; {
			if err := c.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, createLock).Scan(&locked); err != nil {
				return err
			}
			if locked {
				break
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(createPause):
			}
			if current, err := q.current(ctx, c); current || err != nil {
				return err
			}
		}
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return q.createTables(ctx, tx) })
		if err == nil {
			err = q.migrateRiver(ctx)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", errCreateTables, err)
		}
		_, unlocked := c.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, createLock)
		return errors.Join(err, unlocked)
	})
	switch {
	case err == nil, fault.HintOf(err) != "":
		return err
	case errors.Is(err, errCreateTables) && isPermissionDenied(err):
		refused, _ := errors.AsType[*pgconn.PgError](err)
		return &fault.Error{
			Hint: "let the owner of the database create them: KEN_STORE=" + fault.Quote(q.ownerAddress()) + " ken worker runs",
			Err:  fmt.Errorf("the tables of the queue are missing or too old, and the role may not create them: %s", refused.Message),
		}
	}
	return q.serverError(ctx, err)
}

// errCreateTables means that creating tables failed. A refusal before that means a
// missing right on existing tables.
var errCreateTables = errors.New("create the tables of the queue")

// ownerAddress returns the address of the database, with a placeholder for the role.
func (q *Queue) ownerAddress() string {
	if q.opts.Server == nil {
		return "postgres://OWNER@HOST/DATABASE"
	}
	return q.opts.Server.OwnerAddress()
}

// checkTables checks that the tables exist and have the version of this program.
func (q *Queue) checkTables(ctx context.Context, c *pgxpool.Conn) error {
	exist, err := q.exist(ctx, c)
	if err == nil && !exist {
		err = ErrNoRuns
	}
	return err
}

// current reports whether all tables are up to date. It does not read River's tables, because
// another process may be creating them.
func (q *Queue) current(ctx context.Context, c *pgxpool.Conn) (bool, error) {
	exist, err := q.exist(ctx, c)
	if err != nil || !exist {
		return false, err
	}
	m, err := q.river()
	if err != nil {
		return false, err
	}
	var made int
	err = c.QueryRow(ctx, `SELECT coalesce(max(river), 0) FROM ken.survey_version`).Scan(&made)
	return made >= newest(m), err
}

// newest returns the newest version of River's tables.
func newest(m *rivermigrate.Migrator[pgx.Tx]) int {
	all := m.AllVersions()
	return all[len(all)-1].Version
}

// exist reports whether the tables of ken exist. Tables of another version are an error.
func (q *Queue) exist(ctx context.Context, c interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
},
) (bool, error) {
	var exist bool
	err := c.QueryRow(ctx, `SELECT to_regclass('ken.survey_version') IS NOT NULL`).Scan(&exist)
	if err != nil || !exist {
		return false, err
	}
	var version int
	err = c.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM ken.survey_version`).Scan(&version)
	if err != nil || version == tablesVersion {
		return true, err
	}
	hint := postgres.MoveAside(q.ownerAddress(), fmt.Sprintf("ken_queue_%d", version))
	if version > tablesVersion {
		hint = "upgrade ken, or " + hint
	}
	return true, &fault.Error{
		Hint: hint,
		Err:  fmt.Errorf("the tables of the queue have version %d, and this version of ken needs %d", version, tablesVersion),
	}
}

func (q *Queue) createTables(ctx context.Context, tx pgx.Tx) error {
	if exist, err := q.exist(ctx, tx); exist || err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS ken`); err != nil {
		return err
	}
	_, err := tx.Conn().PgConn().Exec(ctx, tables).ReadAll()
	return err
}

func (q *Queue) river() (*rivermigrate.Migrator[pgx.Tx], error) {
	return rivermigrate.New(riverpgxv5.New(q.pool), &rivermigrate.Config{Logger: quiet(), Schema: schema})
}

func (q *Queue) migrateRiver(ctx context.Context) error {
	m, err := q.river()
	if err != nil {
		return err
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("create River's tables: %w", err)
	}
	_, err = q.pool.Exec(ctx, `UPDATE ken.survey_version SET river = $1`, newest(m))
	return err
}

// verdicts are the verdicts about directories. The tables have their places in this list.
var verdicts = []fresh.Verdict{
	{},
	{State: fresh.Fresh},
	fresh.StaleSelf.Verdict(), fresh.StaleBelow.Verdict(), fresh.Incomplete.Verdict(),
	fresh.Partial.Verdict(),
	{State: fresh.None},
	{State: fresh.Excluded},
	fresh.Failed.Verdict(),
}

// storedVerdict returns the number of a verdict in the tables.
func storedVerdict(v fresh.Verdict) int16 { return int16(max(0, slices.Index(verdicts, v))) } //nolint:gosec // few

// verdictOf returns the verdict with a number in the tables, unknown for a number that ken did not write.
func verdictOf(stored int16) fresh.Verdict {
	if stored < 0 || int(stored) >= len(verdicts) {
		return fresh.Verdict{}
	}
	return verdicts[stored]
}
