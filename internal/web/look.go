package web

import (
	"context"
	"fmt"
	"sync"
)

// looks are the looks at one worktree: the one being taken, and the next.
type looks struct {
	mu        sync.Mutex
	now, next *look
}

// A look is one that several wait for.
type look struct {
	done  chan struct{}
	pulse Pulse
	err   error
}

// look takes a look that begins no earlier than it was asked for, and shares it with
// all who asked meanwhile: a crowd costs as much as two.
func (b *boards) look(ctx context.Context, worktree string) (Pulse, error) {
	b.mu.Lock()
	l := b.pulses[worktree]
	if l == nil {
		l = &looks{}
		b.pulses[worktree] = l
	}
	b.mu.Unlock()
	l.mu.Lock()
	if l.next == nil {
		l.next = &look{done: make(chan struct{})}
		before, mine := l.now, l.next
		b.running.Go(func() {
			if before != nil {
				<-before.done
			}
			l.mu.Lock()
			l.now, l.next = mine, nil
			l.mu.Unlock()
			defer close(mine.done)
			mine.pulse, mine.err = b.pulse(worktree)
		})
	}
	mine := l.next
	l.mu.Unlock()
	select {
	case <-mine.done:
		return mine.pulse, mine.err
	case <-ctx.Done():
		return Pulse{}, ctx.Err()
	}
}

// pulse takes a look. If that goes wrong in a way nobody has thought of, whoever asked is
// told so, and the server stays up.
func (b *boards) pulse(worktree string) (p Pulse, err error) {
	defer saved(&err)
	return b.deps.Pulse(b.ctx, worktree)
}

// saved turns a panic into an error.
func saved(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("ken went wrong: %v", r)
	}
}
