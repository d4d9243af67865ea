package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"ken/internal/board"
	"ken/internal/queue"
)

// How often runs are asked for, and for how long a server may think about it.
const (
	runsFresh   = time.Second
	runsPatient = 2 * time.Second
	runsShown   = 5
)

// A runsLook tells how the surveys stand that were handed out from a repository. What it
// knows is at most a second old, and a server that stalls holds nobody up twice.
type runsLook struct {
	root string

	mu    sync.Mutex
	known *board.Part[board.Runs]
	at    time.Time // when it was asked for
	busy  bool

	asking sync.Mutex // held while the server is asked
	space  *crewSpace
	closed bool
}

// part is what is known of the runs, nil where there is no store that they could be in.
func (l *runsLook) part(ctx context.Context) *board.Part[board.Runs] {
	l.mu.Lock()
	if l.busy || time.Since(l.at) < runsFresh {
		defer l.mu.Unlock()
		return l.known
	}
	l.busy, l.at = true, time.Now()
	known, first := l.known, l.known == nil
	l.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), runsPatient)
		defer cancel()
		found := l.ask(ctx)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.known, l.busy = found, false
	}()
	if !first {
		return known
	}
	<-done
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known
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
