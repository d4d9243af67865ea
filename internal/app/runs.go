package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"ken/internal/board"
	"ken/internal/ken"
	"ken/internal/queue"
	"ken/internal/worker"
)

// How long an answer is fresh, how long the server may take, and how long a caller waits that only
// checks for changes, or whose last request had no answer.
const (
	runsFresh   = time.Second
	runsPatient = 2 * time.Second
	runsBriefly = 250 * time.Millisecond
	runsAnswer  = 2 * runsPatient // after this time there is an answer, or the server gave none
	runsShown   = 5
)

// A runsCache answers with the runs of a repository, at most a second old. A server that does not
// answer delays a caller only once.
type runsCache struct {
	root    string
	patient time.Duration // how long the server may take; runsPatient when 0

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
func (l *runsCache) part(ctx context.Context, patience time.Duration) *board.Part[board.Runs] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy == nil && time.Since(l.at) < runsFresh {
		return l.known
	}
	if l.busy == nil {
		l.busy = make(chan struct{})
		go l.renew(context.WithoutCancel(ctx), l.busy)
	}
	if l.known != nil && l.known.Known == nil {
		patience = min(patience, runsBriefly)
	}
	busy := l.busy
	l.mu.Unlock()
	select {
	case <-busy:
	case <-time.After(patience):
	case <-ctx.Done():
	}
	l.mu.Lock()
	if l.known == nil && l.at.IsZero() {
		return runsLate
	}
	return l.known
}

// runsLate is the answer before the first one: unknown, which differs from no database.
var runsLate = board.RunsPart(nil, errors.New("no answer from the server in time"))

// renew asks the server, and wakes the callers that wait.
func (l *runsCache) renew(ctx context.Context, busy chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(l.patient, runsPatient))
	defer cancel()
	found := l.ask(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.at, l.busy = found, time.Now(), nil
	close(busy)
}

// ask asks the server for the runs.
func (l *runsCache) ask(ctx context.Context) *board.Part[board.Runs] {
	l.asking.Lock()
	defer l.asking.Unlock()
	if l.closed {
		return nil
	}
	if l.server == nil {
		server, err := worker.OpenRunsReadOnly(ctx, l.root)
		if errors.Is(err, worker.ErrNoDatabase) || errors.Is(err, queue.ErrNoRuns) {
			return nil
		}
		if err != nil {
			return board.RunsPart(nil, err)
		}
		l.server = server
	}
	runs, err := l.server.Runs(ctx, l.server.Repository(), runsShown)
	out := &board.Runs{Runs: runs}
	if err == nil {
		out.Day, err = l.server.Today(ctx)
	}
	return board.RunsPart(out, err)
}

func (l *runsCache) close() {
	l.asking.Lock()
	defer l.asking.Unlock()
	l.closed = true
	if l.server != nil {
		_ = l.server.Close() // it only reads
		l.server = nil
	}
}

// lastRuns returns the surveys that workers run, nil without a team's store. It asks the server only if this command
// has just reached it; otherwise it returns the last answer, since a server that does not answer must not delay every
// command.
func lastRuns(ctx context.Context, w *ken.Repository) *board.Part[board.Runs] {
	if w.Team == nil {
		return nil
	}
	key := w.Cache.Key("runs")
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
	part := asked.part(ctx, runsAnswer)
	if part != nil && part.Known != nil {
		if text, err := json.Marshal(part.Known); err == nil {
			w.Cache.Save(key, text)
		}
	}
	return part
}
