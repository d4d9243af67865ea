package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"ken/internal/board"
	"ken/internal/cache"
	"ken/internal/ken"
	"ken/internal/queue"
	"ken/internal/worker"
)

const (
	runsMaxAge    = time.Second            // how long an answer is used
	runsTimeout   = 2 * time.Second        // how long the server may take
	runsShortWait = 250 * time.Millisecond // how long a caller waits after a request without an answer
	runsFullWait  = 2 * runsTimeout        // after this time there is an answer, or the server gave none
	runsShown     = 5                      // the number of runs in an answer
)

// A runsCache answers with the runs of a repository, at most a second old. A server that does not
// answer delays a caller only once.
type runsCache struct {
	root    string
	patient time.Duration // how long the server may take; runsTimeout when 0

	mu    sync.Mutex
	known *board.Part[board.Runs]
	at    time.Time     // of the last answer
	busy  chan struct{} // closed at the end of the current request; nil when there is none

	asking sync.Mutex // locked during a request
	server *worker.Runs
	closed bool
}

// part returns the runs, nil when the repository has no database for them. It waits for a new
// answer for patience.
func (r *runsCache) part(ctx context.Context, patience time.Duration) *board.Part[board.Runs] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy == nil && time.Since(r.at) < runsMaxAge {
		return r.known
	}
	if r.busy == nil {
		r.busy = make(chan struct{})
		go r.renew(context.WithoutCancel(ctx), r.busy)
	}
	if r.known != nil && r.known.Known == nil {
		patience = min(patience, runsShortWait)
	}
	busy := r.busy
	r.mu.Unlock()
	select {
	case <-busy:
	case <-time.After(patience):
	case <-ctx.Done():
	}
	r.mu.Lock()
	if r.known == nil && r.at.IsZero() {
		return runsLate
	}
	return r.known
}

// runsLate is the answer before the first one: unknown, which differs from no database.
var runsLate = board.RunsPart(nil, errors.New("no answer from the server in time"))

// renew asks the server, and wakes the callers that wait.
func (r *runsCache) renew(ctx context.Context, busy chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(r.patient, runsTimeout))
	defer cancel()
	found := r.ask(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known, r.at, r.busy = found, time.Now(), nil
	close(busy)
}

// ask asks the server for the runs.
func (r *runsCache) ask(ctx context.Context) *board.Part[board.Runs] {
	r.asking.Lock()
	defer r.asking.Unlock()
	if r.closed {
		return nil
	}
	if r.server == nil {
		server, err := worker.OpenRunsReadOnly(ctx, r.root)
		if errors.Is(err, worker.ErrNoDatabase) || errors.Is(err, queue.ErrNoRuns) {
			return nil
		}
		if err != nil {
			return board.RunsPart(nil, err)
		}
		r.server = server
	}
	runs, err := r.server.Runs(ctx, r.server.Repository(), runsShown)
	out := &board.Runs{Runs: runs}
	if err == nil {
		out.Day, err = r.server.Today(ctx)
	}
	return board.RunsPart(out, err)
}

func (r *runsCache) close() {
	r.asking.Lock()
	defer r.asking.Unlock()
	r.closed = true
	if r.server != nil {
		_ = r.server.Close() // it only reads
		r.server = nil
	}
}

// runsKey returns the cache key of the last answer of the team's server about this repository.
func runsKey(w *ken.Repository) *cache.Key {
	key := w.Cache.Key("runs")
	fmt.Fprintf(key, "%q %q", w.StoreAddress(), w.Config.Team.Repository)
	return key
}

// lastRuns returns the surveys that workers run, nil without a team's store. It asks the server only if this command
// has just reached it; otherwise it returns the last answer, since a server that does not answer must not delay every
// command.
func lastRuns(ctx context.Context, w *ken.Repository) *board.Part[board.Runs] {
	if w.Team == nil {
		return nil
	}
	key := runsKey(w)
	if !w.Team.Visited() {
		var last board.Runs
		stored, _ := w.Cache.Load(key)
		if json.Unmarshal(stored, &last) != nil {
			return nil
		}
		return board.RunsPart(&last, nil)
	}
	asked := &runsCache{root: w.Git.Root()}
	defer asked.close()
	ctx, cancel := context.WithTimeout(ctx, runsTimeout)
	defer cancel()
	part := asked.ask(ctx)
	if part != nil && part.Known != nil {
		if text, err := json.Marshal(part.Known); err == nil {
			w.Cache.Save(key, text)
		}
	}
	return part
}
