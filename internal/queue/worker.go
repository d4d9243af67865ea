package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"ken/internal/repo"
	"ken/internal/surveyrun"
)

// A worker is this process, as River sees it.
type worker struct {
	river.WorkerDefaults[wake]

	q      *Queue
	opts   WorkOptions
	fair   *surveyrun.Fair
	of     map[string]string // repositories by River's queues
	stop   context.CancelCauseFunc
	ending context.Context // done when no more is to be begun

	mu    sync.Mutex
	hands map[*taken]context.CancelCauseFunc
	seen  map[int64]bool // runs that were under way
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
	var run surveyrun.Run
	err = w.insist(ctx, func(ctx context.Context) error { return scanRun(ctx, w.q.pool, id, &run) })
	if errors.Is(err, pgx.ErrNoRows) || err == nil && run.State != surveyrun.Running {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w.saw(id)
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
	silent := false
	if failed == nil {
		e.Err = w.insist(keep, func(ctx context.Context) error { return w.q.finish(ctx, t, d) })
		e.Fate = surveyrun.Back
	} else {
		e.Err = failed
		e.Fate, e.Delay = surveyrun.FateOf(failed, t.tries+1)
		if ctx.Err() != nil || lost {
			e.Fate, e.Delay = surveyrun.Back, 0 // it was stopped, and did not fail
		}
		err := w.insist(keep, func(ctx context.Context) error { return w.q.fail(ctx, t, d, e.Fate, e.Delay, failed) })
		if err != nil && !lost {
			e.Err = errors.Join(failed, err)
		} else {
			silent = errors.Is(failed, surveyrun.ErrTwin) // nothing has happened
		}
	}
	if !silent {
		w.opts.Told(e)
	}
	if e.Fate == surveyrun.Stop {
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
		w.opts.Told(Event{Err: w.q.away(ctx, err), Server: true})
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
