package queue

import (
	"context"
	"maps"
	"slices"
	"time"
)

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
			w.opts.Told(Event{Err: w.q.away(ctx, err), Server: true})
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
			w.opts.Told(Event{Err: w.q.away(ctx, err), Server: true})
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
