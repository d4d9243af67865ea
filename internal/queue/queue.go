// Package queue hands the directories of a survey to workers on many machines, by River on
// PostgreSQL.
//
// Which directory may be described, who has it and what it has cost is in two tables of
// ken's own, survey_run and survey_directory; River only wakes workers up. A directory's
// job is inserted in the transaction that makes it ready, so that order and queue cannot
// disagree, and a job whose directory is not ready any more does nothing, so that one job
// too many does no harm. All of a directory's end is one transaction too: the lease is
// checked, the record is kept, what was spent is put down, and the directory above that
// waits for it learns of it.
//
// Time is the server's: no machine's clock has a say in who holds a lease.
//
// Locks are taken in one order: the run, its directories from below, what the store locks
// to keep records, and the day.
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
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// A Tx is a transaction of the queue's.
type Tx = pgx.Tx

// Options tunes a Queue.
type Options struct {
	// Keep keeps what was written about a repository, in a transaction of the queue's.
	Keep func(ctx context.Context, tx Tx, repository string, directories []*store.DirRecord, files []fresh.Record) error
	// Fail keeps that nobody will describe a directory, likewise. None is kept when it is nil.
	Fail func(ctx context.Context, tx Tx, repository string, f store.DirFailure) error
	// Absent is how long directories wait for a worker that has their commit, before they
	// are given up; an hour when 0.
	Absent time.Duration
	// Connections is how many there may be at a time; 4 when 0.
	Connections int
	// Stalled is how long a transaction may do nothing before the server ends it: whoever was
	// stopped in the middle of one holds up all others. 5 seconds when 0. Nobody waits for a
	// lock for more than twice as long.
	Stalled time.Duration
	// Server puts into words what is wrong with the server. Its own words are told when it is nil.
	Server Server
}

// A Server says what is wrong with a server, to a person who may do something about it.
type Server interface {
	// Explain puts a failure into words that hold no secrets.
	Explain(err error) error
	// Lacks says which of some rights the role lacks, and how they are granted; nil when it has
	// them all. Err is why the server could not be asked.
	Lacks(ctx context.Context, rights []Right) (lacks, err error)
	// Owner is its address, for whoever owns the database.
	Owner() string
}

// A Right is one that a role needs on some of the tables, or on sequences: their names, apart by
// commas.
type Right struct{ Right, On string }

// What a role needs who looks at runs, and who hands them out and works on them: the grants of the
// manual's page about teams. The ceiling of a day stays the owner's, unless he lets others set it.
var (
	lookRights = []Right{{"SELECT", "survey_version, survey_run, survey_directory, survey_ceiling, survey_day"}}
	workRights = []Right{
		{"SELECT", lookRights[0].On + ", river_job, river_leader, river_queue"},
		{"INSERT", workTables},
		{"UPDATE", workTables},
		{"DELETE", workTables},
		{"USAGE", "river_job_id_seq"},
	}
	ceilingRights = []Right{{"UPDATE", "survey_ceiling"}}
)

const workTables = "survey_run, survey_directory, survey_day, river_job, river_leader, river_queue"

// A Queue is the runs of one server.
type Queue struct {
	pool *pgxpool.Pool
	jobs *river.Client[pgx.Tx] // that inserts
	opts Options
}

// schema is where the tables are.
const schema = "ken"

// Open returns the queue of the server that connections lead to, and makes its tables unless
// they are there. It makes connections of its own.
func Open(ctx context.Context, to *pgxpool.Config, opts Options) (*Queue, error) {
	return open(ctx, to, opts, (*Queue).migrate)
}

// ErrNone is in the chain when no survey was ever handed out on a server.
var ErrNone = errors.New("no survey was handed out on the store's server")

// Look is Open for who only wants to see how runs stand: nothing is made, which takes no more
// than the right to read. Where there are no tables, it returns ErrNone.
func Look(ctx context.Context, to *pgxpool.Config, opts Options) (*Queue, error) {
	return open(ctx, to, opts, func(q *Queue, ctx context.Context) error {
		err := q.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return q.look(ctx, c) })
		if err == nil || fault.HintOf(err) != "" || errors.Is(err, ErrNone) {
			return err
		}
		return q.away(ctx, err)
	})
}

func open(ctx context.Context, to *pgxpool.Config, opts Options, enter func(*Queue, context.Context) error) (*Queue, error) {
	if opts.Absent == 0 {
		opts.Absent = time.Hour
	}
	if opts.Connections == 0 {
		opts.Connections = 4
	}
	if opts.Stalled == 0 {
		opts.Stalled = 5 * time.Second
	}
	cfg := to.Copy()
	cfg.MaxConns = int32(min(opts.Connections, 1000)) //nolint:gosec // no more than that
	// What a session is to be like is said once it is there: poolers refuse to begin one with it.
	delete(cfg.ConnConfig.RuntimeParams, "idle_in_transaction_session_timeout")
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, `SELECT set_config('idle_in_transaction_session_timeout', $1, false), set_config('lock_timeout', $2, false)`,
			milliseconds(opts.Stalled), milliseconds(2*opts.Stalled))
		return err
	}
	q := &Queue{opts: opts}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	q.pool = pool
	if err != nil {
		return nil, q.away(ctx, err)
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

// cooldown is how soon River tells of a job again, and looks for one.
const cooldown = 5 * time.Millisecond

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Close ends the connections.
func (q *Queue) Close() { q.pool.Close() }

// quiet keeps River from writing over the screen: what matters of it, we see ourselves.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// away says that a server could not be reached or did not do as it was asked. What may pass
// is [surveyrun.ErrAway].
func (q *Queue) away(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if denied(err) {
		return q.refused(ctx, err, lookRights, workRights)
	}
	said := q.explain(err)
	if _, ok := errors.AsType[*pgconn.PgError](err); !ok || passes(err) {
		return &passing{said}
	}
	return said
}

// explain puts a failure of the server into words.
func (q *Queue) explain(err error) error {
	if q.opts.Server == nil {
		return fmt.Errorf("the store's server: %w", err)
	}
	return q.opts.Server.Explain(err)
}

// lacksPatience is how long the server may think about which rights somebody lacks.
const lacksPatience = 5 * time.Second

// refused says what a role lacks that was refused something, of the first rights that it lacks any
// of: who only looks needs those of looking, and no others. Where the server cannot be asked for
// them, it is told what was refused.
func (q *Queue) refused(ctx context.Context, err error, of ...[]Right) error {
	if q.opts.Server == nil {
		return q.explain(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lacksPatience)
	defer cancel()
	for _, rights := range of {
		lacks, unasked := q.opts.Server.Lacks(ctx, rights)
		if lacks != nil {
			return lacks
		}
		if unasked != nil {
			break
		}
	}
	return q.explain(err)
}

// denied reports whether a role lacks a right.
func denied(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refused.Code == "42501"
}

// A passing error is one of a server that may come back.
type passing struct{ error }

func (p *passing) Unwrap() error { return p.error }

func (p *passing) Is(target error) bool { return target == surveyrun.ErrAway }

// passes reports whether an error is of the connection, and not of what was asked: a server
// that is away, or starts, or ends.
func passes(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return !errors.Is(err, pgx.ErrNoRows) && !errors.Is(err, errFenced)
	}
	switch refused.Code[:2] {
	case "08", "57", "53", "40": // connections, an operator's doing, resources, and who was rolled back for another
		return true
	}
	return refused.Code == "25P03" || refused.Code == "55P03" // it stalled, or others did who held a lock
}

// A wake is a River job: it tells a worker that a directory is ready.
type wake struct {
	Run  int64  `json:"run"`
	Path []byte `json:"path"`
}

// Kind names these jobs in River.
func (wake) Kind() string { return "survey_directory" }

// queueOf is the River queue of a repository. Only workers that have its objects listen.
func queueOf(repository string) string {
	sum := sha256.Sum256([]byte(repository))
	return "ken_" + hex.EncodeToString(sum[:16])
}

// insert has a worker wake up for a directory, after a while of the server's time if delay
// says so, and notes the job with the directory.
func (q *Queue) insert(ctx context.Context, tx pgx.Tx, repository string, run int64, path repo.Path, band survey.Rank, delay time.Duration) error {
	opts := &river.InsertOpts{Queue: queueOf(repository), Priority: priority(band)}
	if delay > 0 {
		if err := tx.QueryRow(ctx, `SELECT now() + $1::interval`, delay).Scan(&opts.ScheduledAt); err != nil {
			return err
		}
	}
	res, err := q.jobs.InsertTx(ctx, tx, wake{run, []byte(path)}, opts)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE ken.survey_directory SET job = $3, queued = now(), due = now() + $4::interval WHERE run = $1 AND path = $2`,
		run, bytesOf(path), res.Job.ID, delay)
	return err
}

// insertInstead inserts a job in place of one that goes, unless others were inserted since.
// The run is locked. It returns [pgx.ErrNoRows] if there is nothing to do.
func (q *Queue) insertInstead(ctx context.Context, tx pgx.Tx, r lockedRun, run int64, path repo.Path, job int64) error {
	var band int16
	err := tx.QueryRow(ctx, `SELECT band FROM ken.survey_directory WHERE run = $1 AND path = $2 AND state = 'ready' AND job = $3`,
		run, bytesOf(path), job).Scan(&band)
	if err != nil {
		return err
	}
	return q.insert(ctx, tx, r.repository, run, path, survey.Rank(band), 0)
}

// priority is River's for what is worked on first.
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

// in runs f in a transaction.
func (q *Queue) in(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, q.pool, f)
}
