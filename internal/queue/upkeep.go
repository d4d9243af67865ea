package queue

import (
	"context"
	"maps"
	"slices"
	"time"
)

// renewLeases renews the leases of this worker, and cancels the work on directories whose lease
// is lost.
func (w *worker) renewLeases(done <-chan struct{}) {
	tick := time.NewTicker(w.opts.Lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		w.mu.Lock()
		leased := maps.Clone(w.leased)
		w.mu.Unlock()
		if len(leased) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), w.opts.Lease/4)
		lost, err := w.q.renew(ctx, slices.Collect(maps.Keys(leased)), w.opts.Lease)
		cancel()
		if err != nil {
			w.opts.OnEvent(Event{Err: w.q.serverError(ctx, err), Server: true})
			continue // finish checks the lease again
		}
		for t, give := range leased {
			if lost[t.token] {
				give(errLeaseLost)
			}
		}
	}
}

// sweepRegularly sweeps a little more often than leases expire.
func (w *worker) sweepRegularly(ctx context.Context) {
	names := slices.Collect(maps.Keys(w.opts.Repositories))
	tick := time.NewTicker(w.opts.Lease / 3)
	defer tick.Stop()
	for {
		err := withTimeout(ctx, func(ctx context.Context) error { return w.q.sweep(ctx, names, w.opts.Lease) })
		if err != nil && ctx.Err() == nil {
			w.opts.OnEvent(Event{Err: w.q.serverError(ctx, err), Server: true})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// wakeRiver makes River fetch from queues with an available job while this worker has a free
// slot. River notifies only of inserted jobs: not of jobs that become due, nor of each of many
// jobs. One query for all queues is cheaper than one for each.
func (w *worker) wakeRiver(ctx context.Context, queues []string) {
	tick := time.NewTicker(wakePause)
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
		_ = withTimeout(ctx, func(ctx context.Context) error { // River polls itself, later
			_, err := w.q.pool.Exec(ctx, `
				SELECT pg_notify($2, json_build_object('queue', q.name)::text) FROM unnest($1::text[]) AS q (name)
				WHERE EXISTS (SELECT FROM ken.river_job j WHERE j.queue = q.name AND j.state = 'available' AND j.scheduled_at <= now())`,
				queues, schema+".river_insert")
			return err
		})
	}
}
