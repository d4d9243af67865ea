package web

import (
	"context"
	"fmt"
	"sync"
)

// fingerprintCalls are the running and the next call for a fingerprint.
type fingerprintCalls struct {
	mu        sync.Mutex
	now, next *fingerprintCall
}

// A fingerprintCall is shared by all requests that wait for it.
type fingerprintCall struct {
	done chan struct{}
	fp   Fingerprint
	err  error
}

// fingerprint returns a fingerprint that was taken after this call began. Simultaneous
// callers share one, so any number of callers cost at most two.
func (b *boardCache) fingerprint(ctx context.Context) (Fingerprint, error) {
	l := &b.calls
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
			mine.fp, mine.err = b.takeFingerprint()
		})
	}
	mine := l.next
	l.mu.Unlock()
	select {
	case <-mine.done:
		return mine.fp, mine.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// takeFingerprint calls Deps.Fingerprint. It turns a panic into an error.
func (b *boardCache) takeFingerprint() (p Fingerprint, err error) {
	defer recoverInto(&err)
	return b.deps.Fingerprint(b.ctx)
}

// recoverInto turns a panic into an error, so that the server stays up.
func recoverInto(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("internal error: %v", r)
	}
}
