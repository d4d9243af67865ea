package app

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"ken/internal/board"
	"ken/internal/queue"
)

// How often runs are asked for, for how long a server may think about it, and for how long it holds
// up who only wants to know whether anything has changed, or met one that did not answer.
const (
	runsFresh   = time.Second
	runsPatient = 2 * time.Second
	runsBriefly = 250 * time.Millisecond
	runsAnswer  = 2 * runsPatient // whoever waits so long gets an answer: the server's, or that there is none
	runsShown   = 5
)

// A runsLook tells how the surveys stand that were handed out from a repository. What it
// tells is at most a second old, unless the server is away: one that stalls holds up nobody twice.
type runsLook struct {
	root    string
	patient time.Duration // how long the server may think; runsPatient when 0

	mu    sync.Mutex
	known *board.Part[board.Runs]
	at    time.Time     // when that was answered
	busy  chan struct{} // closed when the server has answered that is being asked; nil when none is

	asking sync.Mutex // held while the server is asked
	space  *crewSpace
	closed bool
}

// part is what is known of the runs, nil where there is no store that they could be in. It waits
// for a new answer as long as patience lasts.
func (l *runsLook) part(ctx context.Context, patience time.Duration) *board.Part[board.Runs] {
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

// runsLate is the answer until the first one is there: that nothing is known, and not that
// there is no store.
var runsLate = board.RunsPart(nil, errors.New("not known in time"))

// renew asks the server, and tells those who wait for it.
func (l *runsLook) renew(ctx context.Context, busy chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(l.patient, runsPatient))
	defer cancel()
	found := l.ask(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.at, l.busy = found, time.Now(), nil
	close(busy)
}

// ask asks the server.
func (l *runsLook) ask(ctx context.Context) *board.Part[board.Runs] {
	l.asking.Lock()
	defer l.asking.Unlock()
	if l.closed {
		return nil
	}
	if l.space == nil {
		space, err := lookAtCrew(ctx, l.root)
		if errors.Is(err, errNoBase) || errors.Is(err, queue.ErrNone) {
			return nil
		}
		if err != nil {
			return board.RunsPart(nil, err)
		}
		l.space = space
	}
	runs, err := l.space.Runs(ctx, l.space.Repository(), runsShown)
	out := &board.Runs{Runs: runs}
	if err == nil {
		out.Day, err = l.space.Today(ctx)
	}
	return board.RunsPart(out, err)
}

func (l *runsLook) close() {
	l.asking.Lock()
	defer l.asking.Unlock()
	l.closed = true
	if l.space != nil {
		_ = l.space.Close() // it was only asked
		l.space = nil
	}
}
