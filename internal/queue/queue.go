// Package queue hands the directories of a survey to workers on many machines, by River on
// PostgreSQL.
//
// The tables survey_run and survey_directory say which directories are ready, which worker
// has a directory and how much it cost; River only wakes workers. The transaction that makes
// a directory ready also inserts its job, so order and queue cannot disagree. A job whose
// directory is no longer ready does nothing, so a superfluous job does no harm. The end of a
// directory is one transaction too: it checks the lease, stores the record, records the cost,
// and counts down the directory above.
//
// All times are the server's. The clocks of the workers do not decide who has a lease.
//
// Locks are taken in one order: the run, its directories from below, the locks of the store,
// and the day.
package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/postgres"
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// A Tx is a transaction of the queue.
type Tx = pgx.Tx

// Options tunes a Queue.
type Options struct {
	// SaveRecords stores records of a repository, in a transaction of the queue.
	SaveRecords func(ctx context.Context, tx Tx, repository string, directories []*store.DirRecord, files []fresh.Record) error
	// SaveFailure stores that the model refused a directory, likewise; nil stores nothing.
	SaveFailure func(ctx context.Context, tx Tx, repository string, f store.DirFailure) error
	// Absent is how long directories wait for a worker that has their commit; an hour when 0.
	Absent time.Duration
	// Connections is the most connections at a time; 4 when 0.
	Connections int
	// IdleTimeout is how long a transaction may be idle before the server ends it, since a stopped
	// process would block all others; 5 seconds when 0. The limit of waiting for a lock is
	// twice as long.
	IdleTimeout time.Duration
	// Server explains errors of the server; nil passes them on.
	Server Server
}

// A Server explains errors of a server to its users. [postgres.Store] implements it.
type Server interface {
	// Explain rewrites an error without secrets.
	Explain(err error) error
	// MissingRights returns an error that names the missing rights of the role and how to grant them;
	// nil when it has them all. Err says why the server could not be asked.
	MissingRights(ctx context.Context, rights []postgres.Right) (lacks, err error)
	// OwnerAddress returns the address for the owner of the database.
	OwnerAddress() string
}

// The rights to look at runs, to start them and work on them, and to set the ceiling of a day.
// The manual page about teams has the grants; only the owner gets the last one.
var (
	lookRights = []postgres.Right{{Right: "SELECT", On: "survey_version, survey_run, survey_directory, survey_ceiling, survey_day"}}
	workRights = []postgres.Right{
		{Right: "SELECT", On: lookRights[0].On + ", river_job, river_leader, river_queue"},
		{Right: "INSERT", On: workTables},
		{Right: "UPDATE", On: workTables},
		{Right: "DELETE", On: workTables},
		{Right: "USAGE", On: "river_job_id_seq"},
	}
	ceilingRights = []postgres.Right{{Right: "UPDATE", On: "survey_ceiling"}}
)

const workTables = "survey_run, survey_directory, survey_day, river_job, river_leader, river_queue"

// A Queue holds the runs of one server.
type Queue struct {
	pool *pgxpool.Pool
	jobs *river.Client[pgx.Tx] // inserts jobs
	opts Options
}

// schema is the schema of the tables.
const schema = "ken"

// Open connects to a server and returns its queue. It creates the tables if they are missing.
func Open(ctx context.Context, to *pgxpool.Config, opts Options) (*Queue, error) {
	return open(ctx, to, opts, (*Queue).create)
}

// ErrNoRuns means that no run was ever started on the server.
var ErrNoRuns = errors.New("no runs on the database server")

// OpenReadOnly is Open for reading only: it creates nothing, and needs only the right to read. It
// returns ErrNoRuns if there are no tables.
func OpenReadOnly(ctx context.Context, to *pgxpool.Config, opts Options) (*Queue, error) {
	return open(ctx, to, opts, func(q *Queue, ctx context.Context) error {
		err := q.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return q.checkTables(ctx, c) })
		if err == nil || fault.HintOf(err) != "" || errors.Is(err, ErrNoRuns) {
			return err
		}
		return q.serverError(ctx, err)
	})
}

func open(ctx context.Context, to *pgxpool.Config, opts Options, enter func(*Queue, context.Context) error) (*Queue, error) {
	if opts.Absent == 0 {
		opts.Absent = time.Hour
	}
	if opts.Connections == 0 {
		opts.Connections = 4
	}
	if opts.IdleTimeout == 0 {
		opts.IdleTimeout = 5 * time.Second
	}
	cfg := to.Copy()
	cfg.MaxConns = int32(min(opts.Connections, 1000)) //nolint:gosec // no more than that
	// Set these after connecting: connection poolers refuse them as startup parameters.
	delete(cfg.ConnConfig.RuntimeParams, "idle_in_transaction_session_timeout")
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, `SELECT set_config('idle_in_transaction_session_timeout', $1, false), set_config('lock_timeout', $2, false)`,
			milliseconds(opts.IdleTimeout), milliseconds(2*opts.IdleTimeout))
		return err
	}
	q := &Queue{opts: opts}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	q.pool = pool
	if err != nil {
		return nil, q.serverError(ctx, err)
	}
	if err = enter(q, ctx); err == nil {
		q.jobs, err = river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet(), Schema: schema, FetchCooldown: cooldown})
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return q, nil
}

// cooldown is River's shortest pause between notifications and between fetches.
const cooldown = 5 * time.Millisecond

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Close ends the connections.
func (q *Queue) Close() { q.pool.Close() }

// quiet discards River's log. The queue reports errors itself.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// serverError explains an error of the server. A temporary one is [surveyrun.ErrUnavailable].
func (q *Queue) serverError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if isPermissionDenied(err) {
		return q.permissionError(ctx, err, lookRights, workRights)
	}
	said := q.explain(err)
	if _, ok := errors.AsType[*pgconn.PgError](err); !ok || isTemporary(err) {
		return &temporaryError{said}
	}
	return said
}

// explain rewrites an error of the server for users.
func (q *Queue) explain(err error) error {
	if q.opts.Server == nil {
		return fmt.Errorf("database server: %w", err)
	}
	return q.opts.Server.Explain(err)
}

// rightsTimeout limits the query for missing rights.
const rightsTimeout = 5 * time.Second

// permissionError names the rights that the role lacks: those of the first set that it does not have
// completely. If the server does not say, it explains the error itself.
func (q *Queue) permissionError(ctx context.Context, err error, of ...[]postgres.Right) error {
	if q.opts.Server == nil {
		return q.explain(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rightsTimeout)
	defer cancel()
	for _, rights := range of {
		lacks, unasked := q.opts.Server.MissingRights(ctx, rights)
		if lacks != nil {
			return lacks
		}
		if unasked != nil {
			break
		}
	}
	return q.explain(err)
}

// isPermissionDenied reports whether the server refused a statement for lack of a right.
func isPermissionDenied(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refused.Code == "42501"
}

// A temporaryError is an error of a server that may come back.
type temporaryError struct{ error }

func (p *temporaryError) Unwrap() error { return p.error }

func (p *temporaryError) Is(target error) bool { return target == surveyrun.ErrUnavailable }

// isTemporary reports whether an error is one of the connection and not of the statement: the
// server is away, starts or ends.
func isTemporary(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return !errors.Is(err, pgx.ErrNoRows) && !errors.Is(err, errLeaseLost)
	}
	switch refused.Code[:2] {
	case "08", "57", "53", "40": // connection, operator intervention, resources, rollback by the server
		return true
	}
	return refused.Code == "25P03" || refused.Code == "55P03" // idle timeout, lock timeout
}

// A wakeJob is a River job: it tells a worker that a directory is ready.
type wakeJob struct {
	Run  int64  `json:"run"`
	Path []byte `json:"path"`
}

// Kind returns the name of these jobs in River.
func (wakeJob) Kind() string { return "survey_directory" }

// queueOf returns the River queue of a repository. Only workers with a clone listen to it.
func queueOf(repository string) string {
	sum := sha256.Sum256([]byte(repository))
	return "ken_" + hex.EncodeToString(sum[:16])
}

// insert adds a job for a directory, due after delay in the server's time, and stores the job's
// id with the directory.
func (q *Queue) insert(ctx context.Context, tx pgx.Tx, repository string, run int64, path repo.Path, band survey.Rank, delay time.Duration) error {
	opts := &river.InsertOpts{Queue: queueOf(repository), Priority: priority(band)}
	if delay > 0 {
		if err := tx.QueryRow(ctx, `SELECT now() + $1::interval`, delay).Scan(&opts.ScheduledAt); err != nil {
			return err
		}
	}
	res, err := q.jobs.InsertTx(ctx, tx, wakeJob{run, []byte(path)}, opts)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE ken.survey_directory SET job = $3, queued = now(), due = now() + $4::interval WHERE run = $1 AND path = $2`,
		run, pathBytes(path), res.Job.ID, delay)
	return err
}

// insertInstead adds a job in place of one that ends, unless another one was added since.
// The run is locked. It returns [pgx.ErrNoRows] if there is nothing to do.
func (q *Queue) insertInstead(ctx context.Context, tx pgx.Tx, r lockedRun, run int64, path repo.Path, job int64) error {
	var band int16
	err := tx.QueryRow(ctx, `SELECT band FROM ken.survey_directory WHERE run = $1 AND path = $2 AND state = 'ready' AND job = $3`,
		run, pathBytes(path), job).Scan(&band)
	if err != nil {
		return err
	}
	return q.insert(ctx, tx, r.repository, run, path, survey.Rank(band), 0)
}

// priority returns the River priority of a band; 1 is first.
func priority(band survey.Rank) int {
	switch band {
	case survey.RankPriority:
		return 1
	case survey.RankShallow:
		return 3
	default:
		return 2
	}
}

// inTx runs f in a transaction.
func (q *Queue) inTx(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, q.pool, f)
}
