package survey

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ken/internal/repo"
	"ken/internal/store"
)

// defaultBeat is how often a run shows that it is alive.
const defaultBeat = 5 * time.Second

// runLease is how long a directory stays in the hands of a run that has died. One that
// lives holds on to it with every beat.
const runLease = 3 * defaultBeat

// awaitPause is how often a run looks whether another one is done with what it waits for.
const awaitPause = time.Second / 2

// TickerFunc returns what is sent to once in each pause, until stop is called.
type TickerFunc func(pause time.Duration) (ticks <-chan time.Time, stop func())

// wait waits for one tick, or until the context is done, whose error it returns. Without ticks it
// does not wait.
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

// pulse has the run show that it is alive, and hold on to what it works on, until stop is
// called.
func (r *run) pulse(ctx context.Context) (stop func()) {
	if r.how.Ticks == nil {
		return func() {}
	}
	beat := r.how.Beat
	if beat == 0 {
		beat = defaultBeat
	}
	stopped, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticks, stop := r.how.Ticks(beat)
		defer stop()
		for {
			select {
			case <-stopped:
				return
			case <-ticks:
				r.beat(ctx)
			}
		}
	}()
	return func() { close(stopped); <-gone }
}

func (r *run) beat(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.how.Progress != nil {
		p := r.last
		p.Path, p.Err = "", nil
		r.how.Progress(p)
	}
	for path, l := range r.mine {
		// Who could not hold on learns of it when the text is handed in.
		l.Expires = r.opts.Now().Add(runLease).UTC()
		if ok, err := r.how.Dispatcher.leases.Take(ctx, r.how.Dispatcher.worktree, l, r.opts.Now()); ok && err == nil {
			r.mine[path] = l
		}
	}
}

// busy notes how many directories are under way.
func (r *run) busy(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.UnderWay = n
	if r.queue != nil {
		r.last.Done, r.last.Total = r.queue.finished, r.queue.total
	}
}

// tell tells of a directory that is done.
func (r *run) tell(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	underWay := r.last.UnderWay
	r.last = p
	r.last.UnderWay = underWay
	if r.how.Progress != nil {
		r.how.Progress(p)
	}
}

// leased reports whether directories are taken under leases.
func (r *run) leased() bool { return r.how.Dispatcher != nil && !outlines(r.writer) }

// others returns what is in the hands of others now.
func (r *run) others(ctx context.Context) (leasedDirs, error) {
	if !r.leased() {
		return leasedDirs{}, nil
	}
	return r.how.Dispatcher.leasedDirs(ctx, r.foreign())
}

// foreign tells the leases of others that hold now.
func (r *run) foreign() func(store.Lease) bool {
	now := r.opts.Now()
	return func(l store.Lease) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.mine[l.Path].Token != l.Token && l.Expires.After(now)
	}
}

// awaits waits a moment if another run is at something that this one needs; ok is false
// if none is. Agents are not waited for: they take their time, and may never come back.
func (r *run) awaits(ctx context.Context) (ok bool) {
	if r.how.Ticks == nil || r.ran.Stopped != "" || !slices.ContainsFunc(r.ran.Held, func(h HeldPath) bool { return !h.agent }) {
		return false
	}
	_ = r.how.Ticks.wait(ctx, awaitPause) // the limits see that it was stopped
	return true
}

// hold takes a directory for this run; ok is false when somebody else has it, who has met as far
// as that is known, or has described it: then its standing says so.
func (r *run) hold(ctx context.Context, st *DirStatus) (met store.Lease, ok bool, err error) {
	if !r.leased() {
		return store.Lease{}, true, nil
	}
	dispatcher, now := r.how.Dispatcher, r.opts.Now()
	l := store.Lease{Path: st.Dir.Path, Token: dispatcher.token(), Expires: now.Add(runLease).UTC(), Basis: r.basis(st), Recipe: r.writer.Recipe(), Holder: oneLine(r.writer.Author())}
	if ok, err := dispatcher.leases.Take(ctx, dispatcher.worktree, l, now); err != nil {
		return store.Lease{}, false, err
	} else if !ok { // somebody was faster
		held, err := r.others(ctx)
		met, _ = held.of(l.Path, l.Basis.Digest())
		return met, false, err
	}
	r.mu.Lock()
	r.mine[l.Path] = l
	r.mu.Unlock()
	if met, ok, err = r.free(ctx, dispatcher, st, l, r.writer, r.foreign); ok || err != nil {
		return met, ok, err
	}
	_, err = r.letGo(context.WithoutCancel(ctx), st, nil)
	return met, false, err
}

// exclusive leases a question about the whole repository, the plan or the overview, so that runs at
// the same time pay for it once. It waits while another run has it. The caller calls release.
func (r *run) exclusive(ctx context.Context, at repo.Path, basis store.DirBasis) (release func(), err error) {
	if !r.leased() || r.how.Ticks == nil {
		return func() {}, nil
	}
	dispatcher := r.how.Dispatcher
	for {
		now := r.opts.Now()
		l := store.Lease{Path: at, Token: dispatcher.token(), Expires: now.Add(runLease).UTC(), Basis: basis, Recipe: r.writer.Recipe()}
		ok, err := dispatcher.leases.Take(ctx, dispatcher.worktree, l, now)
		if err != nil {
			return nil, err
		}
		if ok {
			r.mu.Lock()
			r.mine[at] = l
			r.mu.Unlock()
			return func() {
				// If this fails, the lease ends by itself.
				_, _ = r.letGo(context.WithoutCancel(ctx), &DirStatus{Dir: &Directory{Path: at}}, nil)
			}, nil
		}
		if err := r.how.Ticks.wait(ctx, awaitPause); err != nil {
			return nil, err
		}
	}
}

// letGo ends the lease of a directory, and keeps its record with it if there is one and
// nobody has taken over; ok reports whether it did.
func (r *run) letGo(ctx context.Context, st *DirStatus, rec *store.DirRecord) (ok bool, err error) {
	r.mu.Lock()
	l, held := r.mine[st.Dir.Path]
	delete(r.mine, st.Dir.Path)
	r.mu.Unlock()
	if !held {
		return false, nil
	}
	dispatcher := r.how.Dispatcher
	if rec != nil {
		if ok, err = dispatcher.leases.Settle(ctx, dispatcher.worktree, l, rec); err != nil {
			return false, fmt.Errorf("store the summary of %s: %w", repo.DirLabel(l.Path), err)
		}
		return ok, nil
	}
	l.Expires = r.opts.Now().UTC() // it is over
	_, err = dispatcher.leases.Take(ctx, dispatcher.worktree, l, l.Expires)
	return false, err
}
