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

// A worker is this process as a worker of River.
type worker struct {
	river.WorkerDefaults[wakeJob]

	q            *Queue
	opts         WorkOptions
	fair         *surveyrun.FairLimiter
	repositoryOf map[string]string // repositories by River's queues
	stop         context.CancelCauseFunc
	ending       context.Context // done when the worker takes no more directories

	mu     sync.Mutex
	leased map[*leasedDir]context.CancelCauseFunc
	seen   map[int64]bool // runs that were running
}

// Work does a job: it summarises one directory, unless that is no longer ready.
func (w *worker) Work(ctx context.Context, job *river.Job[wakeJob]) error {
	repository := w.repositoryOf[job.Queue]
	patient, cancel := context.WithTimeout(ctx, fairWait)
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
		// Other workers get the new job at once. Without a pause, this one would too.
		select {
		case <-w.ending.Done():
		case <-ctx.Done():
		case <-time.After(unablePause):
		}
	}
	return err
}

// describe leases a directory, summarises it and ends the lease. Unable says why this worker
// cannot.
func (w *worker) describe(ctx context.Context, repository string, job *river.Job[wakeJob]) (unable, err error) {
	by, id, path := w.opts.Repositories[repository], job.Args.Run, repo.Path(job.Args.Path)
	var run surveyrun.Run
	err = w.retryWhileAway(ctx, func(ctx context.Context) error { return scanRun(ctx, w.q.pool, id, &run) })
	if errors.Is(err, pgx.ErrNoRows) || err == nil && run.State != surveyrun.Running {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w.noteRunning(id)
	if unable := by.CheckRun(ctx, run); unable != nil {
		if ctx.Err() != nil {
			return nil, river.JobSnooze(0)
		}
		w.opts.OnEvent(Event{Run: id, Path: path, Err: unable, Unable: true})
		return unable, w.retryWhileAway(ctx, func(ctx context.Context) error { return w.q.reportUnable(ctx, id, path, job.ID, w.opts.Name, unable) })
	}
	var t *leasedDir
	token := rand.Text()
	err = w.retryWhileAway(ctx, func(ctx context.Context) error {
		t, err = w.q.take(ctx, run, path, w.opts.Name, token, w.opts.Lease)
		return err
	})
	if err != nil || t == nil {
		return nil, err
	}
	work, cancel := context.WithCancelCause(ctx)
	w.hold(t, cancel)
	d, err := by.Describe(work, run, t.task, t.below, &dirLease{w.q, t})
	lost := errors.Is(err, errLeaseLost) || errors.Is(context.Cause(work), errLeaseLost)
	w.end(ctx, t, d, err, lost)
	w.release(t)
	cancel(nil)
	return nil, nil
}

// end stores the result of a directory. If the server does not answer, the lease expires.
func (w *worker) end(ctx context.Context, t *leasedDir, d surveyrun.DescribeResult, failed error, lost bool) {
	e := Event{Run: t.run.ID, Path: t.task.Path, Asked: d.Calls > 0}
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.opts.Drain+w.opts.Lease)
	defer cancel()
	silent := false
	if failed == nil {
		e.Err = w.retryWhileAway(keep, func(ctx context.Context) error { return w.q.finish(ctx, t, d) })
		e.Action = surveyrun.ActionReturn
	} else {
		e.Err = failed
		e.Action, e.Delay = surveyrun.ActionAfter(failed, t.failures+1)
		if ctx.Err() != nil || lost {
			e.Action, e.Delay = surveyrun.ActionReturn, 0 // it was interrupted and did not fail
		}
		err := w.retryWhileAway(keep, func(ctx context.Context) error { return w.q.fail(ctx, t, d, e.Action, e.Delay, failed) })
		if err != nil && !lost {
			e.Err = errors.Join(failed, err)
		} else {
			silent = errors.Is(failed, surveyrun.ErrSameInput) // waiting is not worth an event
		}
	}
	if !silent {
		w.opts.OnEvent(e)
	}
	if e.Action == surveyrun.ActionStop {
		w.stop(failed)
	}
}

// retryWhileAway calls f again while the server is away, until the context ends.
func (w *worker) retryWhileAway(ctx context.Context, f func(context.Context) error) error {
	const first, longest = 50 * time.Millisecond, 2 * time.Second
	for pause := first; ; pause = min(2*pause, longest) {
		err := withTimeout(ctx, f)
		if !isTemporary(err) || ctx.Err() != nil {
			return err
		}
		w.opts.OnEvent(Event{Err: w.q.serverError(ctx, err), Server: true})
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// withTimeout calls f with the time limit of one request. A stalled server counts as away.
func withTimeout(ctx context.Context, f func(context.Context) error) error {
	try, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return f(try)
}

func (w *worker) hold(t *leasedDir, cancel context.CancelCauseFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leased[t] = cancel
}

func (w *worker) release(t *leasedDir) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.leased, t)
}

func (w *worker) busy() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.leased)
}

// HandleError implements [river.ErrorHandler]. It does nothing: the sweep repairs what a job
// could not store.
func (w *worker) HandleError(context.Context, *rivertype.JobRow, error) *river.ErrorHandlerResult {
	return nil
}

// HandlePanic implements [river.ErrorHandler].
func (w *worker) HandlePanic(_ context.Context, _ *rivertype.JobRow, panicked any, trace string) *river.ErrorHandlerResult {
	w.stop(fmt.Errorf("bug in ken: %v\n%s", panicked, trace))
	return nil
}
