package queue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// A Describer summarises directories of one repository, whose objects it has.
type Describer interface {
	// CheckRun returns why this worker cannot work on a run, nil when it can: the commit may be
	// missing, or the recipe may differ.
	CheckRun(ctx context.Context, run surveyrun.Run) error
	// Describe summarises a directory, given its task and the tasks of its children. Every
	// model call is reserved with the lease.
	Describe(ctx context.Context, run surveyrun.Run, of survey.DirTask, below []survey.DirTask, hold surveyrun.DirLease) (surveyrun.DescribeResult, error)
}

// WorkOptions tunes a worker.
type WorkOptions struct {
	Name         string               // of the worker, shown to users
	Repositories map[string]Describer // by identity
	Jobs         int                  // directories at once; 1 when 0
	Lease        time.Duration        // how long a lost worker keeps a directory; 30 seconds when 0
	Drain        time.Duration        // how long an interrupted worker may finish its directories; a minute when 0
	UntilIdle    bool                 // end when no run of the repositories is running
	// OnEvent is called for each event; nil ignores them.
	OnEvent func(Event)

	poll time.Duration // River's interval of polling each queue; 30 seconds when 0
}

// An Event reports what happened to a worker.
type Event struct {
	Run     int64
	Path    repo.Path
	Asked   bool                    // the worker called a model
	Err     error                   // why it failed, nil for success
	Action  surveyrun.FailureAction // with an error
	Delay   time.Duration           // until the next attempt
	Server  bool                    // Err is an error of the server
	Unable  bool                    // this worker cannot work on it
	Drained bool                    // the worker finishes its directories and takes no more
}

// The pauses and limits of a worker.
const (
	fairWait       = 3 * time.Second // how long a job waits for its repository's turn
	fairPause      = time.Second     // before the job tries again
	unablePause    = 2 * time.Second // after a directory that this worker cannot work on
	idlePause      = 300 * time.Millisecond
	wakePause      = time.Second
	requestTimeout = 15 * time.Second // of one request to the server
)

// Work summarises directories until the context ends, or with UntilIdle until no run is
// running. It returns nil when the context ends, else why this worker cannot continue. With
// UntilIdle, it returns an error of kind [fault.Stale] if a run ended incomplete.
func (q *Queue) Work(ctx context.Context, opts WorkOptions) error {
	opts = opts.filled()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &worker{q: q, opts: opts, fair: surveyrun.NewFairLimiter(opts.Jobs), stop: stop, ending: ctx, leased: make(map[*leasedDir]context.CancelCauseFunc), seen: make(map[int64]bool)}
	// Without these rights, River would fail to fetch jobs again and again, silently.
	if q.opts.Server != nil {
		lacks, err := q.opts.Server.MissingRights(ctx, workRights)
		switch {
		case lacks != nil:
			return lacks
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return q.serverError(ctx, err)
		}
	}
	client, err := w.client()
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return q.serverError(ctx, err)
	}
	var helpers sync.WaitGroup
	done := make(chan struct{}) // closed when no directory is leased any more
	helpers.Go(func() { w.renewLeases(done) })
	helpers.Go(func() { w.sweepRegularly(ctx) })
	helpers.Go(func() { w.wakeRiver(ctx, slices.Collect(maps.Keys(w.repositoryOf))) })
	if opts.UntilIdle {
		helpers.Go(func() { w.stopWhenIdle(ctx) })
	}
	<-ctx.Done()
	w.drain(ctx, client)
	close(done)
	helpers.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) && !errors.Is(cause, errIdle) {
		return cause
	}
	return nil
}

// filled returns the options with defaults for zero values.
func (opts WorkOptions) filled() WorkOptions {
	if opts.Jobs == 0 {
		opts.Jobs = 1
	}
	if opts.Lease == 0 {
		opts.Lease = 30 * time.Second
	}
	if opts.Drain == 0 {
		opts.Drain = time.Minute
	}
	if opts.poll == 0 {
		opts.poll = 30 * time.Second
	}
	if opts.OnEvent == nil {
		opts.OnEvent = func(Event) {}
	}
	return opts
}

// client returns a River client with one queue per repository.
func (w *worker) client() (*river.Client[pgx.Tx], error) {
	queues := make(map[string]river.QueueConfig)
	w.repositoryOf = make(map[string]string)
	for name := range w.opts.Repositories {
		queues[queueOf(name)], w.repositoryOf[queueOf(name)] = river.QueueConfig{MaxWorkers: w.opts.Jobs}, name
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	return river.NewClient(riverpgxv5.New(w.q.pool), &river.Config{
		Queues: queues, Workers: workers, Logger: quiet(), Schema: schema,
		// Jobs have no time limit: leases show which workers are lost.
		JobTimeout: -1, FetchCooldown: cooldown,
		// River polls each queue rarely; wakeRiver polls all of them with one query.
		FetchPollInterval:           w.opts.poll,
		CompletedJobRetentionPeriod: time.Hour, ErrorHandler: w,
		ReindexerIndexNames: []string{}, // only the owner of the tables may reindex
	})
}

// drain waits until the leased directories are finished, at most for the drain time.
func (w *worker) drain(ctx context.Context, client *river.Client[pgx.Tx]) {
	if w.busy() > 0 {
		w.opts.OnEvent(Event{Drained: true})
	}
	ctx = context.WithoutCancel(ctx)
	soft, cancel := context.WithTimeout(ctx, w.opts.Drain)
	defer cancel()
	if err := client.Stop(soft); err != nil {
		// Return the other directories, at most for the time of a lease.
		hard, cancel := context.WithTimeout(ctx, w.opts.Lease)
		defer cancel()
		_ = client.StopAndCancel(hard) // the leases of the rest expire
	}
}
