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

// stopWhenIdle ends the worker when no run is running.
func (w *worker) stopWhenIdle(ctx context.Context) {
	names := slices.Collect(maps.Keys(w.opts.Repositories))
	tick := time.NewTicker(idlePause)
	defer tick.Stop()
	for {
		var running, wanting []int64
		err := withTimeout(ctx, func(ctx context.Context) (err error) {
			if running, err = w.runs(ctx, `SELECT id FROM ken.survey_run WHERE repository = ANY ($1) AND state = 'running'`, names); err != nil {
				return err
			}
			w.noteRunning(running...)
			wanting, err = w.runs(ctx, `SELECT id FROM ken.survey_run WHERE id = ANY ($1) AND state = 'incomplete' ORDER BY id`, w.seenRuns())
			return err
		})
		if err == nil && len(running) == 0 {
			w.stop(idleError(wanting))
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

// noteRunning remembers runs that were running.
func (w *worker) noteRunning(ids ...int64) {
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

// idleError returns the reason to end a worker when no run is running. It names the incomplete
// runs among those that were running.
func idleError(incomplete []int64) error {
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
		Kind: fault.Stale, Hint: "see the errors with: ken worker dead " + names[0],
		Err: errors.New(word + strings.Join(names, ", ") + " ended incomplete: some directories failed too often"),
	}
}

// errIdle ends a worker with WorkOptions.UntilIdle.
var errIdle = errors.New("no run is running")
