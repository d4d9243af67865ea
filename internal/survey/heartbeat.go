package survey

import (
	"context"
	"time"
)

// defaultHeartbeat is the interval of heartbeats without RunOptions.Heartbeat.
const defaultHeartbeat = 5 * time.Second

// A TickerFunc returns a channel that gets a tick after each pause, until the caller calls stop.
type TickerFunc func(pause time.Duration) (ticks <-chan time.Time, stop func())

// wait waits for one tick, or until the context is done. It returns the error of the context. Without ticks it does
// not wait.
func (t TickerFunc) wait(ctx context.Context, pause time.Duration) error {
	if t != nil {
		ticks, stop := t(pause)
		defer stop()
		select {
		case <-ctx.Done():
		case <-ticks:
		}
	}
	return ctx.Err()
}

// startHeartbeat calls Progress and extends the leases of the run at every heartbeat, until the caller calls stop.
func (r *run) startHeartbeat(ctx context.Context) (stop func()) {
	if r.runOpts.Ticks == nil {
		return func() {}
	}
	interval := r.runOpts.Heartbeat
	if interval == 0 {
		interval = defaultHeartbeat
	}
	stopped := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticks, stop := r.runOpts.Ticks(interval)
		defer stop()
		for {
			select {
			case <-stopped:
				return
			case <-ticks:
				r.sendHeartbeat(ctx)
			}
		}
	}()
	return func() { close(stopped); <-done }
}

// sendHeartbeat calls Progress and extends the leases of the run.
func (r *run) sendHeartbeat(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runOpts.Progress != nil {
		p := r.last
		p.Path, p.Err = "", nil
		r.runOpts.Progress(p)
	}
	for path, l := range r.leases {
		// If this fails, storing the text will report that the lease is gone.
		l.Expires = r.opts.Now().Add(runLease).UTC()
		if ok, err := r.runOpts.Dispatcher.leases.Acquire(ctx, r.runOpts.Dispatcher.worktree, l, r.opts.Now()); ok && err == nil {
			r.leases[path] = l
		}
	}
}

// setUnderWay sets the number of directories that are being described.
func (r *run) setUnderWay(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.UnderWay = n
	if r.queue != nil {
		r.last.Done, r.last.Total = r.queue.finished, r.queue.total
	}
}

// reportProgress calls Progress for a directory that is done.
func (r *run) reportProgress(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	underWay := r.last.UnderWay
	r.last = p
	r.last.UnderWay = underWay
	if r.runOpts.Progress != nil {
		r.runOpts.Progress(p)
	}
}
