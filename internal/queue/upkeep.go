package queue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fault"
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

// watch ends the worker once no run is under way.
func (w *worker) watch(ctx context.Context) {
	names := slices.Collect(maps.Keys(w.opts.Repositories))
	tick := time.NewTicker(idlePause)
	defer tick.Stop()
	for {
		var running, wanting []int64
		err := patiently(ctx, func(ctx context.Context) (err error) {
			if running, err = w.runs(ctx, `SELECT id FROM ken.survey_run WHERE repository = ANY ($1) AND state = 'running'`, names); err != nil {
				return err
			}
			w.saw(running...)
			wanting, err = w.runs(ctx, `SELECT id FROM ken.survey_run WHERE id = ANY ($1) AND state = 'incomplete' ORDER BY id`, w.seenRuns())
			return err
		})
		if err == nil && len(running) == 0 {
			w.stop(idle(wanting))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *worker) runs(ctx context.Context, sql string, arg any) ([]int64, error) {
	rows, err := w.q.pool.Query(ctx, sql, arg)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// saw notes runs that were under way.
func (w *worker) saw(ids ...int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		w.seen[id] = true
	}
}

func (w *worker) seenRuns() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.seen))
}

// idle is why a worker ends when no run is under way: of those that were, some may be
// incomplete.
func idle(incomplete []int64) error {
	if len(incomplete) == 0 {
		return errIdle
	}
	names := make([]string, len(incomplete))
	for i, id := range incomplete {
		names[i] = strconv.FormatInt(id, 10)
	}
	word := "run "
	if len(names) > 1 {
		word = "runs "
	}
	return &fault.Error{
		Kind: fault.Stale, Hint: "see why with: ken worker dead " + names[0],
		Err: errors.New(word + strings.Join(names, ", ") + " ended incomplete: directories were given up"),
	}
}

// errIdle ends a worker that was to work until nothing is left.
var errIdle = errors.New("no run is under way")
