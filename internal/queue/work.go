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

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// A Describer describes directories of one repository, whose objects it has.
type Describer interface {
	// Able returns why a run cannot be worked on here, nil when it can: the commit may not
	// be there, or its recipe be another.
	Able(ctx context.Context, run surveyrun.Run) error
	// Describe describes a directory, of which and of those right below it the portions
	// say how they stand. Every call is paid for by the hold.
	Describe(ctx context.Context, run surveyrun.Run, of survey.Portion, below []survey.Portion, hold Hold) (Described, error)
}

// A Hold is what a worker has on a directory while it describes it.
type Hold interface {
	surveyrun.Till
	// Claim has what is to be described be this directory's alone for as long as it is held:
	// the same is not described in another place of the repository meanwhile. It returns
	// [surveyrun.ErrTwin] while it is. Whoever has claimed it looks again whether there is a text.
	Claim(ctx context.Context, basis fresh.Digest) error
}

// WorkOptions says how a worker works.
type WorkOptions struct {
	Name         string               // of the worker, that others see
	Repositories map[string]Describer // by their identities
	Jobs         int                  // directories at once; 1 when 0
	Lease        time.Duration        // how long a directory stays in the hands of one that vanished; 30 seconds when 0
	Drain        time.Duration        // how long a worker that is to end may finish what it has in hand; a minute when 0
	UntilIdle    bool                 // it ends once no run of the repositories is under way
	// Told hears what happens, if it is not nil.
	Told func(Event)

	poll time.Duration // how often each queue is looked at, beside nudge; 30 seconds when 0
}

// An Event is something that a worker tells of.
type Event struct {
	Run     int64
	Path    repo.Path
	Asked   bool           // somebody was asked, and not just looked
	Err     error          // why it was not described, nil when it was
	Fate    surveyrun.Fate // with an error
	Delay   time.Duration  // until it is tried again
	Server  bool           // it is the server that Err is about
	Unable  bool           // this worker cannot describe it
	Drained bool           // what is in hand is finished, and nothing else begun
}

// How a worker bears with others.
const (
	fairPatience = 3 * time.Second // how long a job waits for its repository's turn, before others may have it
	fairPause    = time.Second     // for how long others may
	unablePause  = 2 * time.Second // before another of a repository is looked at after one that cannot be described here
	idlePause    = 300 * time.Millisecond
	nudgePause   = time.Second
	tryPatience  = 15 * time.Second // how long a server may think about one thing
)

// Work describes directories until the context ends, or no run is left if that is wanted. It
// returns why no directory could be described here any more, nil when it was told to end. That
// no run is left is an error of [fault.Stale] when one that was under way ended incomplete.
func (q *Queue) Work(ctx context.Context, opts WorkOptions) error {
	opts = opts.filled()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &worker{q: q, opts: opts, fair: surveyrun.NewFair(opts.Jobs), stop: stop, ending: ctx, hands: make(map[*taken]context.CancelCauseFunc), seen: make(map[int64]bool)}
	// River would ask for jobs that it is refused, over and over, and say nothing.
	if q.opts.Server != nil {
		lacks, err := q.opts.Server.Lacks(ctx, workRights)
		switch {
		case lacks != nil:
			return lacks
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return q.away(ctx, err)
		}
	}
	client, err := w.client()
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return q.away(ctx, err)
	}
	var helpers sync.WaitGroup
	done := make(chan struct{}) // when nothing is in hand any more
	helpers.Go(func() { w.beat(done) })
	helpers.Go(func() { w.tidy(ctx) })
	helpers.Go(func() { w.nudge(ctx, slices.Collect(maps.Keys(w.of))) })
	if opts.UntilIdle {
		helpers.Go(func() { w.watch(ctx) })
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

// filled returns the options with what zero stands for.
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
	if opts.Told == nil {
		opts.Told = func(Event) {}
	}
	return opts
}

// client is River's, with a queue to each repository.
func (w *worker) client() (*river.Client[pgx.Tx], error) {
	queues := make(map[string]river.QueueConfig)
	w.of = make(map[string]string)
	for name := range w.opts.Repositories {
		queues[queueOf(name)], w.of[queueOf(name)] = river.QueueConfig{MaxWorkers: w.opts.Jobs}, name
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	return river.NewClient(riverpgxv5.New(w.q.pool), &river.Config{
		Queues: queues, Workers: workers, Logger: quiet(), Schema: schema,
		// A job lasts as long as it needs: leases tell who is gone.
		JobTimeout: -1, FetchCooldown: cooldown,
		// Each queue would be looked at so often; all of them are looked after by nudge.
		FetchPollInterval:           w.opts.poll,
		CompletedJobRetentionPeriod: time.Hour, ErrorHandler: w,
		ReindexerIndexNames: []string{}, // that takes the tables' owner
	})
}

// drain lets what is in hand come to its end, for as long as it may take.
func (w *worker) drain(ctx context.Context, client *river.Client[pgx.Tx]) {
	if w.busy() > 0 {
		w.opts.Told(Event{Drained: true})
	}
	ctx = context.WithoutCancel(ctx)
	soft, cancel := context.WithTimeout(ctx, w.opts.Drain)
	defer cancel()
	if err := client.Stop(soft); err != nil {
		// What is left is handed back, which takes as long as the server does.
		hard, cancel := context.WithTimeout(ctx, w.opts.Lease)
		defer cancel()
		_ = client.StopAndCancel(hard) // what is not handed back by then, its lease gives back
	}
}
