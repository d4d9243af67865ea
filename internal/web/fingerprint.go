package web

import (
	"context"
	"fmt"
	"sync"
)

// looks are the looks at one worktree: the one being taken, and the next.
type fingerprintCalls struct {
	mu        sync.Mutex
	now, next *fingerprintCall
}

// A look is one that several wait for.
type fingerprintCall struct {
	done chan struct{}
	fp   Fingerprint
	err  error
}

// look takes a look that begins no earlier than it was asked for, and shares it with
// all who asked meanwhile: a crowd costs as much as two.
func (b *boardCache) fingerprint(ctx context.Context, worktree string) (Fingerprint, error) {
	b.mu.Lock()
	l := b.calls[worktree]
	if l == nil {
		l = &fingerprintCalls{}
		b.calls[worktree] = l
	}
	b.mu.Unlock()
	l.mu.Lock()
	if l.next == nil {
		l.next = &fingerprintCall{done: make(chan struct{})}
		before, mine := l.now, l.next
		b.running.Go(func() {
			if before != nil {
				<-before.done
			}
			l.mu.Lock()
			l.now, l.next = mine, nil
			l.mu.Unlock()
			defer close(mine.done)
			mine.fp, mine.err = b.takeFingerprint(worktree)
		})
	}
	mine := l.next
	l.mu.Unlock()
	select {
	case <-mine.done:
		return mine.fp, mine.err
	case <-ctx.Done():
		return Fingerprint{}, ctx.Err()
	}
}

// fp takes a look. If that goes wrong in a way nobody has thought of, whoever asked is
// told so, and the server stays up.
func (b *boardCache) takeFingerprint(worktree string) (p Fingerprint, err error) {
	defer recoverInto(&err)
	return b.deps.Fingerprint(b.ctx, worktree)
}

// recoverInto turns a panic into an error.
func recoverInto(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("internal error: %v", r)
	}
}
