package survey_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
)

// hookedLeases calls a function before each lease is taken.
type hookedLeases struct {
	*memoryRepo

	before func()
}

func (h hookedLeases) Acquire(ctx context.Context, worktree string, l store.Lease, now time.Time) (bool, error) {
	h.before()
	return h.memoryRepo.Acquire(ctx, worktree, l, now)
}

// If another agent leases the directory first, or one with the same input, Next names its lease.
func TestNextNamesTheLeaseOfAnotherAgent(t *testing.T) {
	for _, at := range []repo.Path{"a", "b"} {
		w := newMemoryRepo("a/x.go", "b/x.go")
		w.content["b/x.go"] = w.content["a/x.go"]
		var other store.Lease
		faster := sync.OnceFunc(func() {
			leased, err := dispatchers(w)().Next(t.Context(), survey.NextOptions{Duration: time.Hour})
			if err != nil || leased.Item == nil || leased.Item.Path != "a" {
				t.Errorf("Next returned %+v, %v; want a lease of a", leased, err)
				return
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			other = w.leases["a"]
			other.Path = at
			delete(w.leases, "a")
			w.leases[at] = other
		})
		n := 0
		dispatcher := survey.NewDispatcher(w.survey(nil), hookedLeases{w, faster}, "", func() string { n++; return fmt.Sprint("s", n) })
		got, err := dispatcher.Next(t.Context(), survey.NextOptions{Duration: time.Minute})
		if err != nil || got.Item != nil || got.Remaining != 3 {
			t.Fatalf("%s leased by another agent: Next returned %+v, %v; want no item and 3 remaining", at, got, err)
		}
		if len(got.Leased) != 1 || got.Leased[0].Path != string(at) || !got.Leased[0].Until.Equal(other.Expires) {
			t.Errorf("%s is leased until %s, and Leased is %+v", at, other.Expires, got.Leased)
		}
	}
}

// twoAgents has two directories with the same input, a and b. Two agents lease one each at the same moment, and
// then read the leases.
type twoAgents struct {
	*memoryRepo

	tokens              atomic.Int64
	looked, taken, seen sync.WaitGroup // done when both agents have reached the step
	looks               int            // number of reads after both leases
	mu                  sync.Mutex
	first               map[string]bool // tokens of the first leases
	released            chan time.Time  // closed when an agent has released its lease
	closeReleased       func()
}

func newTwoAgents() *twoAgents {
	e := &twoAgents{memoryRepo: newMemoryRepo("a/x.go", "b/x.go"), first: make(map[string]bool), released: make(chan time.Time)}
	e.content["b/x.go"] = e.content["a/x.go"]
	e.closeReleased = sync.OnceFunc(func() { close(e.released) })
	e.looked.Add(2)
	e.taken.Add(2)
	e.seen.Add(2)
	return e
}

func (e *twoAgents) Acquire(ctx context.Context, worktree string, l store.Lease, now time.Time) (bool, error) {
	e.mu.Lock()
	over, first := e.first[l.Token], len(e.first) < 2
	if first && !over {
		e.first[l.Token] = true
	}
	e.mu.Unlock()
	if over {
		defer e.closeReleased()
	} else if first {
		e.looked.Done()
		e.looked.Wait()
		defer e.taken.Wait()
		defer e.taken.Done()
	}
	return e.memoryRepo.Acquire(ctx, worktree, l, now)
}

func (e *twoAgents) Leases(ctx context.Context, worktree string) (map[repo.Path]store.Lease, error) {
	e.mu.Lock()
	first := len(e.first) == 2 && e.looks < 2
	if first {
		e.looks++
	}
	e.mu.Unlock()
	if first {
		defer e.seen.Wait()
		defer e.seen.Done()
	}
	return e.memoryRepo.Leases(ctx, worktree)
}

// dispatcher returns a dispatcher that prefers a directory, and whose waits last until an agent has released its
// lease.
func (e *twoAgents) dispatcher(first repo.Path) *survey.Dispatcher {
	s := survey.New(e.memoryRepo, e.memoryRepo, survey.Options{Ranks: map[repo.Path]survey.Rank{first: survey.RankPriority}})
	d := survey.NewDispatcher(s, e, "", func() string { return fmt.Sprint("t", e.tokens.Add(1)) })
	d.Ticks = func(time.Duration) (<-chan time.Time, func()) { return e.released, func() {} }
	return d
}

// If two agents or runs lease directories with the same input at the same moment, exactly one of them keeps its
// lease.
func TestSameInputLeasedAtTheSameMoment(t *testing.T) {
	t.Run("agents", func(t *testing.T) {
		e := newTwoAgents()
		var got [2]*survey.NextItem
		var agents sync.WaitGroup
		for i, path := range []repo.Path{"a", "b"} {
			agents.Go(func() {
				var err error
				if got[i], err = e.dispatcher(path).Next(t.Context(), survey.NextOptions{Duration: time.Hour}); err != nil {
					t.Error(err)
				}
			})
		}
		agents.Wait()
		if t.Failed() {
			return
		}
		if got[0].Item == nil {
			got[0], got[1] = got[1], got[0]
		}
		if got[0].Item == nil || got[1].Item != nil {
			t.Fatalf("Next returned %+v and %+v; want one item", got[0], got[1])
		}
		if held := got[1].Leased; len(held) != 1 || held[0].Path != got[0].Item.Path {
			t.Errorf("%s is leased, and the other agent gets Held %+v", got[0].Item.Path, held)
		}
	})
	t.Run("runs", func(t *testing.T) {
		e := newTwoAgents()
		var s scriptedWriter
		var runs sync.WaitGroup
		for _, path := range []repo.Path{"a", "b"} {
			runs.Go(func() {
				dispatcher := e.dispatcher(path)
				if ran, err := dispatcher.Run(t.Context(), &s, survey.RunOptions{Within: path, Dispatcher: dispatcher}); err != nil {
					t.Errorf("the run returned %+v, %v", ran, err)
				}
			})
		}
		runs.Wait()
		if asked := s.paths(); len(asked) != 1 {
			t.Errorf("the runs described %v, want one directory", asked)
		}
	})
}
