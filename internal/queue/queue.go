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
	"ken/internal/survey"
)

// A Tx is a transaction of the queue's.
type Tx = pgx.Tx

// Options tunes a Queue.
type Options struct {
	// Keep keeps what was written about a repository, in a transaction of the queue's.
	Keep func(ctx context.Context, tx Tx, repository string, directories []*survey.Record, files []fresh.Record) error
	// Absent is how long directories wait for a worker that has their commit, before they
	// are given up; an hour when 0.
	Absent time.Duration
	// Connections is how many there may be at a time; 4 when 0.
	Connections int
	// Stalled is how long a transaction may do nothing before the server ends it: whoever was
	// stopped in the middle of one holds up all others. 5 seconds when 0.
	Stalled time.Duration
}

// A Queue is the runs of one server.
type Queue struct {
	pool *pgxpool.Pool
	jobs *river.Client[pgx.Tx] // that inserts
	opts Options
}

// schema is where the tables are.
const schema = "ken"

// Open returns the queue of the server that connections lead to, and makes its tables unless
// they are there. It makes connections of its own, alike.
func Open(ctx context.Context, like *pgxpool.Pool, opts Options) (*Queue, error) {
	if opts.Absent == 0 {
		opts.Absent = time.Hour
	}
	if opts.Connections == 0 {
		opts.Connections = 4
	}
	if opts.Stalled == 0 {
		opts.Stalled = 5 * time.Second
	}
	cfg := like.Config()
	cfg.MaxConns = int32(min(opts.Connections, 1000)) //nolint:gosec // no more than that
	cfg.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = strconv.FormatInt(opts.Stalled.Milliseconds(), 10)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, away(err)
	}
	q := &Queue{pool: pool, opts: opts}
	if err = q.migrate(ctx); err == nil {
		q.jobs, err = river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet(), Schema: schema})
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return q, nil
}

// Close ends the connections.
func (q *Queue) Close() { q.pool.Close() }

// quiet keeps River from writing over the screen: what matters of it, we see ourselves.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// away says that a server could not be reached or did not do as it was asked.
func away(err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Errorf("the store's server: %s (SQLSTATE %s)", refused.Message, refused.Code)
	}
	return &fault.Error{Hint: "is PostgreSQL up, and the address right? see store: in .ken/config.yaml, or KEN_STORE", Err: fmt.Errorf("the store's server does not answer: %w", err)}
}

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
	return refused.Code == "25P03" // it stalled
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

// insert has a worker wake up for a directory, after a while if delay says so, and notes
// the job with the directory.
func (q *Queue) insert(ctx context.Context, tx pgx.Tx, repository string, run int64, path repo.Path, band survey.Rank, delay time.Duration) error {
	opts := &river.InsertOpts{Queue: queueOf(repository), Priority: priority(band)}
	if delay > 0 {
		opts.ScheduledAt = time.Now().Add(delay)
	}
	res, err := q.jobs.InsertTx(ctx, tx, wake{run, []byte(path)}, opts)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE ken.survey_directory SET job = $3, queued = now() WHERE run = $1 AND path = $2`, run, []byte(path), res.Job.ID)
	return err
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
