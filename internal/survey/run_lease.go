package survey

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey/excerpt"
)

// runLease is the length of a lease of a run. Every heartbeat extends it, so the leases of a run that died end
// soon.
const runLease = 3 * defaultHeartbeat

// awaitPause is the interval at which a run checks whether another one has released a directory.
const awaitPause = time.Second / 2

// usesLeases reports whether the run leases directories.
func (r *run) usesLeases() bool { return r.runOpts.Dispatcher != nil && !r.makesOutlines() }

// otherLeases returns the valid leases of other runs and of agents.
func (r *run) otherLeases(ctx context.Context) (leasedDirs, error) {
	if !r.usesLeases() {
		return leasedDirs{}, nil
	}
	return r.runOpts.Dispatcher.leasedDirs(ctx, r.byOthers())
}

// byOthers returns a function that reports whether a lease is valid now and belongs to another run or an agent.
func (r *run) byOthers() func(store.Lease) bool {
	now := r.opts.Now()
	return func(l store.Lease) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.leases[l.Path].Token != l.Token && l.Expires.After(now)
	}
}

// waitForRuns waits a moment if another run has leased a directory that this one needs; otherwise ok is false. It
// does not wait for agents: they may take long, or never submit.
func (r *run) waitForRuns(ctx context.Context) (ok bool) {
	if r.runOpts.Ticks == nil || r.result.Stopped != "" || !slices.ContainsFunc(r.result.Leased, func(h LeasedPath) bool { return !h.agent }) {
		return false
	}
	_ = r.runOpts.Ticks.wait(ctx, awaitPause) // checkLimits reports an interrupt
	return true
}

// lease leases a directory. ok is false if others have leased it or a directory with the same basis; then other is
// that lease if it is known. ok is also false if they have described it; then st has the new verdict.
func (r *run) lease(ctx context.Context, st *DirStatus) (other store.Lease, ok bool, err error) {
	if !r.usesLeases() {
		return store.Lease{}, true, nil
	}
	dispatcher := r.runOpts.Dispatcher
	now := r.opts.Now()
	l := store.Lease{Path: st.Dir.Path, Token: dispatcher.token(), Expires: now.Add(runLease).UTC(), Basis: r.basis(st), Recipe: r.writer.Recipe(), Holder: excerpt.OneLine(r.writer.Author())}
	if ok, err := dispatcher.leases.Acquire(ctx, dispatcher.worktree, l, now); err != nil {
		return store.Lease{}, false, err
	} else if !ok { // others leased it first
		held, err := r.otherLeases(ctx)
		other, _ = held.lookup(l.Path, l.Basis.Digest())
		return other, false, err
	}
	r.mu.Lock()
	r.leases[l.Path] = l
	r.mu.Unlock()
	if other, ok, err = r.checkLease(ctx, dispatcher, st, l, r.byOthers); ok || err != nil {
		return other, ok, err
	}
	_, err = r.endLease(context.WithoutCancel(ctx), st, nil)
	return other, false, err
}

// endLease ends the lease of a directory. It stores the record, unless it is nil or others have leased the
// directory; ok reports whether it did.
func (r *run) endLease(ctx context.Context, st *DirStatus, rec *store.DirRecord) (ok bool, err error) {
	r.mu.Lock()
	l, held := r.leases[st.Dir.Path]
	delete(r.leases, st.Dir.Path)
	r.mu.Unlock()
	if !held {
		return false, nil
	}
	dispatcher := r.runOpts.Dispatcher
	if rec != nil {
		if ok, err = dispatcher.leases.Complete(ctx, dispatcher.worktree, l, rec); err != nil {
			return false, fmt.Errorf("store the summary of %s: %w", repo.DirLabel(l.Path), err)
		}
		return ok, nil
	}
	l.Expires = r.opts.Now().UTC() // end the lease
	_, err = dispatcher.leases.Acquire(ctx, dispatcher.worktree, l, l.Expires)
	return false, err
}

// sharedBasis returns the basis of a directory, which it may share with others. It is zero for outlines, which are
// faster to make than to wait for.
func (r *run) sharedBasis(st *DirStatus) fresh.Digest {
	if r.makesOutlines() {
		return fresh.Digest{}
	}
	return r.basis(st).Digest()
}

// resumeWaiting makes the directories ready again that waited for another one with the same basis. If that one has
// a text now, they have it too.
func (r *run) resumeWaiting(basis fresh.Digest) {
	for _, st := range r.waitingForSame[basis] {
		r.queue.again(st)
	}
	delete(r.waitingForSame, basis)
}
