package web

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"ken/internal/ken"
)

// At most maxReads requests read worktrees at the same time.
func TestReadersAreBounded(t *testing.T) {
	var now, most atomic.Int32
	started, hold := make(chan struct{}, 40), make(chan struct{})
	deps := boardOf("r")
	deps.Open = func(context.Context, string) (*ken.Repository, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		started <- struct{}{}
		<-hold
		now.Add(-1)
		return nil, errors.New("there is none")
	}
	s := serve(t, deps, defaultLimits)
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() { s.asks(http.MethodGet, "/api/survey", "") })
	}
	for range maxReads {
		<-started
	}
	s.isUp()
	close(hold)
	all.Wait()
	if n := most.Load(); n != maxReads {
		t.Errorf("%d requests read at the same time, want %d", n, maxReads)
	}
	// A cancelled request does not wait for its turn.
	full := make(readLimit)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := full.take(gone, func(context.Context) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("take returned the error %v; want the cancellation", err)
	}
}

// A request that waits or reads too long gets 503.
func TestReadTimeLimit(t *testing.T) {
	for name, room := range map[string]int{"waiting": 0, "reading": 1} {
		synctest.Test(t, func(t *testing.T) {
			err := make(readLimit, room).take(t.Context(), func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
			if statusOf(err) != http.StatusServiceUnavailable {
				t.Errorf("%s too long: %v, want a 503 error", name, err)
			}
		})
	}
}
