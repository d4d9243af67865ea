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

// preempted leases have something happen before each is taken.
type preempted struct {
	*world

	before func()
}

func (p preempted) Take(ctx context.Context, worktree string, l store.Lease, now time.Time) (bool, error) {
	p.before()
	return p.world.Take(ctx, worktree, l, now)
}

// Who loses a directory to somebody who was faster, there or in another place, is told who has it.
func TestNextTellsWhoWasFaster(t *testing.T) {
	for _, at := range []repo.Path{"a", "b"} {
		w := newWorld("a/x.go", "b/x.go")
		w.content["b/x.go"] = w.content["a/x.go"]
		var other store.Lease
		faster := sync.OnceFunc(func() {
			handed, err := dispatchers(w)().Next(t.Context(), survey.NextOptions{Lasting: time.Hour})
			if err != nil || handed.Item == nil || handed.Item.Path != "a" {
				t.Errorf("%+v, %v", handed, err)
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
		dispatcher := survey.NewDispatcher(w.survey(nil), preempted{w, faster}, "", func() string { n++; return fmt.Sprint("s", n) })
		got, err := dispatcher.Next(t.Context(), survey.NextOptions{Lasting: time.Minute})
		if err != nil || got.Item != nil || got.Remaining != 3 {
			t.Fatalf("%s: %+v, %v", at, got, err)
		}
		if len(got.Held) != 1 || got.Held[0].Path != string(at) || !got.Held[0].Until.Equal(other.Expires) {
			t.Errorf("%s is held until %s, and told is %+v", at, other.Expires, got.Held)
		}
	}
}

// A tie is a and b, which are the same, and of which two take one each in the same moment, and then
// look who else is there.
type tie struct {
	*world

	tokens              atomic.Int64
	looked, taken, seen sync.WaitGroup // by both, for the first time
	looks               int            // since
	mu                  sync.Mutex
	first               map[string]bool // tokens
	gone                chan time.Time  // closed once one of the two has let go
	closeGone           func()
}

func newTie() *tie {
	e := &tie{world: newWorld("a/x.go", "b/x.go"), first: make(map[string]bool), gone: make(chan time.Time)}
	e.content["b/x.go"] = e.content["a/x.go"]
	e.closeGone = sync.OnceFunc(func() { close(e.gone) })
	e.looked.Add(2)
	e.taken.Add(2)
	e.seen.Add(2)
	return e
}

func (e *tie) Take(ctx context.Context, worktree string, l store.Lease, now time.Time) (bool, error) {
	e.mu.Lock()
	over, first := e.first[l.Token], len(e.first) < 2
	if first && !over {
		e.first[l.Token] = true
	}
	e.mu.Unlock()
	if over {
		defer e.closeGone()
	} else if first {
		e.looked.Done()
		e.looked.Wait()
		defer e.taken.Wait()
		defer e.taken.Done()
	}
	return e.world.Take(ctx, worktree, l, now)
}

func (e *tie) Leases(ctx context.Context, worktree string) (map[repo.Path]store.Lease, error) {
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
	return e.world.Leases(ctx, worktree)
}

// dispatcher is one that looks at a directory before all others, and waits until one has let go.
func (e *tie) dispatcher(first repo.Path) *survey.Dispatcher {
	s := survey.New(e.world, e.world, survey.Options{Ranks: map[repo.Path]survey.Rank{first: survey.RankPriority}})
	d := survey.NewDispatcher(s, e, "", func() string { return fmt.Sprint("t", e.tokens.Add(1)) })
	d.Ticks = func(time.Duration) (<-chan time.Time, func()) { return e.gone, func() {} }
	return d
}

// Of two that take directories with the same input at the same time one has it: not both, and not neither.
func TestTwinsInTheSameMoment(t *testing.T) {
	t.Run("agents", func(t *testing.T) {
		e := newTie()
		var got [2]*survey.NextItem
		var agents sync.WaitGroup
		for i, path := range []repo.Path{"a", "b"} {
			agents.Go(func() {
				var err error
				if got[i], err = e.dispatcher(path).Next(t.Context(), survey.NextOptions{Lasting: time.Hour}); err != nil {
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
			t.Fatalf("%+v and %+v", got[0], got[1])
		}
		if held := got[1].Held; len(held) != 1 || held[0].Path != got[0].Item.Path {
			t.Errorf("%s is handed out, and who lost is told of %+v", got[0].Item.Path, held)
		}
	})
	t.Run("runs", func(t *testing.T) {
		e := newTie()
		var s scribe
		var runs sync.WaitGroup
		for _, path := range []repo.Path{"a", "b"} {
			runs.Go(func() {
				dispatcher := e.dispatcher(path)
				if ran, err := dispatcher.Run(t.Context(), &s, survey.RunOptions{Within: path, Dispatcher: dispatcher}); err != nil {
					t.Errorf("%+v, %v", ran, err)
				}
			})
		}
		runs.Wait()
		if asked := s.paths(); len(asked) != 1 {
			t.Errorf("asked about %v", asked)
		}
	})
}
