package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"ken/internal/crew"
	"ken/internal/repo"
	"ken/internal/survey"
)

// A Describer describes directories of one repository, whose objects it has.
type Describer interface {
	// Able returns why a run cannot be worked on here, nil when it can: the commit may not
	// be there, or its recipe be another.
	Able(ctx context.Context, run crew.Run) error
	// Describe describes a directory, of which and of those right below it the portions
	// say how they stand. Every call is paid for by the till.
	Describe(ctx context.Context, run crew.Run, of survey.Portion, below []survey.Portion, till crew.Till) (Described, error)
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
}

// An Event is something that a worker tells of.
type Event struct {
	Run     int64
	Path    repo.Path
	Asked   bool          // somebody was asked, and not just looked
	Err     error         // why it was not described, nil when it was
	Fate    crew.Fate     // with an error
	Delay   time.Duration // until it is tried again
	Server  bool          // it is the server that Err is about
	Unable  bool          // this worker cannot describe it
	Drained bool          // what is in hand is finished, and nothing else begun
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
// returns why no directory could be described here any more, nil when it was told to end.
func (q *Queue) Work(ctx context.Context, opts WorkOptions) error {
	opts = opts.filled()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &worker{q: q, opts: opts, fair: crew.NewFair(opts.Jobs), stop: stop, ending: ctx, hands: make(map[*taken]context.CancelCauseFunc)}
	client, err := w.client()
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return away(err)
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
		FetchPollInterval:           30 * time.Second,
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

// errIdle ends a worker that was to work until nothing is left.
var errIdle = errors.New("no run is under way")

// A worker is this process, as River sees it.
type worker struct {
	river.WorkerDefaults[wake]

	q      *Queue
	opts   WorkOptions
	fair   *crew.Fair
	of     map[string]string // repositories by River's queues
	stop   context.CancelCauseFunc
	ending context.Context // done when no more is to be begun

	mu    sync.Mutex
	hands map[*taken]context.CancelCauseFunc
}

// Work does a job: it describes one directory, unless that is not ready any more.
func (w *worker) Work(ctx context.Context, job *river.Job[wake]) error {
	repository := w.of[job.Queue]
	patient, cancel := context.WithTimeout(ctx, fairPatience)
	defer cancel()
	defer context.AfterFunc(w.ending, cancel)()
	leave, err := w.fair.Enter(patient, repository)
	if err != nil {
		return river.JobSnooze(fairPause)
	}
	if w.ending.Err() != nil {
		leave()
		return river.JobSnooze(0)
	}
	unable, err := w.describe(ctx, repository, job)
	leave()
	if unable != nil {
		// Others have it at once; this one would get it again and again.
		select {
		case <-w.ending.Done():
		case <-ctx.Done():
		case <-time.After(unablePause):
		}
	}
	return err
}

// describe takes a directory, has it described, and ends it. Unable is why that cannot be
// done here.
func (w *worker) describe(ctx context.Context, repository string, job *river.Job[wake]) (unable, err error) {
	by, id, path := w.opts.Repositories[repository], job.Args.Run, repo.Path(job.Args.Path)
	var run crew.Run
	err = w.insist(ctx, func(ctx context.Context) error { return scanRun(ctx, w.q.pool, id, &run) })
	if errors.Is(err, pgx.ErrNoRows) || err == nil && run.State != crew.Running {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if unable := by.Able(ctx, run); unable != nil {
		if ctx.Err() != nil {
			return nil, river.JobSnooze(0)
		}
		w.opts.Told(Event{Run: id, Path: path, Err: unable, Unable: true})
		return unable, w.insist(ctx, func(ctx context.Context) error { return w.q.missing(ctx, id, path, job.ID, w.opts.Name, unable) })
	}
	var t *taken
	token := rand.Text()
	err = w.insist(ctx, func(ctx context.Context) error {
		t, err = w.q.take(ctx, run, path, w.opts.Name, token, w.opts.Lease)
		return err
	})
	if err != nil || t == nil {
		return nil, err
	}
	work, cancel := context.WithCancelCause(ctx)
	w.hold(t, cancel)
	d, err := by.Describe(work, run, t.of, t.below, &till{w.q, t})
	lost := errors.Is(err, errFenced) || errors.Is(context.Cause(work), errFenced)
	w.end(ctx, t, d, err, lost)
	w.letGo(t)
	cancel(nil)
	return nil, nil
}

// end puts down what came of a directory. If it cannot, the lease will run out.
func (w *worker) end(ctx context.Context, t *taken, d Described, failed error, lost bool) {
	e := Event{Run: t.run.ID, Path: t.of.Path, Asked: d.Calls > 0}
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.opts.Drain+w.opts.Lease)
	defer cancel()
	if failed == nil {
		e.Err = w.insist(keep, func(ctx context.Context) error { return w.q.finish(ctx, t, d) })
		e.Fate = crew.Back
	} else {
		e.Err = failed
		e.Fate, e.Delay = crew.FateOf(failed, t.tries+1)
		if ctx.Err() != nil || lost {
			e.Fate, e.Delay = crew.Back, 0 // it was stopped, and did not fail
		}
		err := w.insist(keep, func(ctx context.Context) error { return w.q.fail(ctx, t, d, e.Fate, e.Delay, failed) })
		if err != nil && !lost {
			e.Err = errors.Join(failed, err)
		}
	}
	w.opts.Told(e)
	if e.Fate == crew.Stop {
		w.stop(failed)
	}
}

// insist tries again while the server is away, until the context ends.
func (w *worker) insist(ctx context.Context, f func(context.Context) error) error {
	const first, longest = 50 * time.Millisecond, 2 * time.Second
	for pause := first; ; pause = min(2*pause, longest) {
		err := patiently(ctx, f)
		if !passes(err) || ctx.Err() != nil {
			return err
		}
		w.opts.Told(Event{Err: away(err), Server: true})
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// patiently tries something once. A server that stalls is one that is away.
func patiently(ctx context.Context, f func(context.Context) error) error {
	try, cancel := context.WithTimeout(ctx, tryPatience)
	defer cancel()
	return f(try)
}

func (w *worker) hold(t *taken, cancel context.CancelCauseFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hands[t] = cancel
}

func (w *worker) letGo(t *taken) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.hands, t)
}

func (w *worker) busy() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.hands)
}

// beat holds on to what is in hand. Whoever has lost a directory stops describing it.
func (w *worker) beat(done <-chan struct{}) {
	tick := time.NewTicker(w.opts.Lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		w.mu.Lock()
		hands := maps.Clone(w.hands)
		w.mu.Unlock()
		if len(hands) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), w.opts.Lease/4)
		lost, err := w.q.renew(ctx, slices.Collect(maps.Keys(hands)), w.opts.Lease)
		cancel()
		if err != nil {
			w.opts.Told(Event{Err: away(err), Server: true})
			continue // who has really lost one is fenced off in the end
		}
		for t, give := range hands {
			if lost[t.token] {
				give(errFenced)
			}
		}
	}
}

// tidy sweeps up after others, a little more often than leases run out.
func (w *worker) tidy(ctx context.Context) {
	names := slices.Collect(maps.Keys(w.opts.Repositories))
	tick := time.NewTicker(w.opts.Lease / 3)
	defer tick.Stop()
	for {
		err := patiently(ctx, func(ctx context.Context) error { return w.q.sweep(ctx, names, w.opts.Lease) })
		if err != nil && ctx.Err() == nil {
			w.opts.Told(Event{Err: away(err), Server: true})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// nudge has River look at queues where a job is left lying while this worker has a hand free:
// it tells of jobs that are inserted, but not of those whose time has come, nor of all that
// come at once. One question for all queues is cheaper than one for each.
func (w *worker) nudge(ctx context.Context, queues []string) {
	tick := time.NewTicker(nudgePause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if w.busy() >= w.opts.Jobs {
			continue
		}
		_ = patiently(ctx, func(ctx context.Context) error { // River looks by itself, later
			_, err := w.q.pool.Exec(ctx, `
				SELECT pg_notify($2, json_build_object('queue', q.name)::text) FROM unnest($1::text[]) AS q (name)
				WHERE EXISTS (SELECT FROM ken.river_job j WHERE j.queue = q.name AND j.state = 'available' AND j.scheduled_at <= now())`,
				queues, schema+".river_insert")
			return err
		})
	}
}

// watch ends the worker once no run is under way.
func (w *worker) watch(ctx context.Context) {
	names := slices.Collect(maps.Keys(w.opts.Repositories))
	tick := time.NewTicker(idlePause)
	defer tick.Stop()
	for {
		var left bool
		err := patiently(ctx, func(ctx context.Context) error {
			return w.q.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM ken.survey_run WHERE repository = ANY ($1) AND state = 'running')`, names).Scan(&left)
		})
		if err == nil && !left {
			w.stop(errIdle)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// HandleError implements [river.ErrorHandler]: what a job could not tell the server, the
// sweep finds.
func (w *worker) HandleError(context.Context, *rivertype.JobRow, error) *river.ErrorHandlerResult {
	return nil
}

// HandlePanic implements [river.ErrorHandler].
func (w *worker) HandlePanic(_ context.Context, _ *rivertype.JobRow, panicked any, trace string) *river.ErrorHandlerResult {
	w.stop(fmt.Errorf("this is a fault of ken: %v\n%s", panicked, trace))
	return nil
}
