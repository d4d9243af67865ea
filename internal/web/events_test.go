package web

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A stream that comes back after everything was let go of is told of what has changed,
// although nobody asked for a page.
func TestAStreamThatComesBackIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &fakeRepo{fp: "1"}
		s := watching(t, g)
		first := s.hub.subscribe([]string{"w"})
		synctest.Wait()
		before := s.hub.unsent(first)["w"]
		if before == "" {
			t.Fatal("it was told nothing")
		}
		s.hub.unsubscribe(first)
		time.Sleep(time.Minute) // in a bubble: until nobody looks any more
		synctest.Wait()
		if looks := g.looks.Load(); looks == 0 || len(s.boards.at) != 0 {
			t.Fatalf("after %d looks %d boards are kept for nobody", looks, len(s.boards.at))
		}
		g.set("2")
		back := s.hub.subscribe([]string{"w"})
		defer s.hub.unsubscribe(back)
		time.Sleep(time.Minute)
		synctest.Wait()
		if tag := s.hub.unsent(back)["w"]; tag == "" || tag == before {
			t.Errorf("it is told of %q, and before it was %q", tag, before)
		}
	})
}

// watching returns a server that keeps its streams up to date until the test ends.
func watching(t *testing.T, g *fakeRepo) *Server {
	t.Helper()
	s, err := New(g.deps(), Options{Token: "x"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.boards.ctx = ctx
	done := make(chan struct{})
	go func() { defer close(done); s.watch(ctx) }()
	t.Cleanup(func() { cancel(); <-done; s.boards.wait() })
	return s
}

// Whoever comes when there are enough is told so, and there is room again when one has
// left.
func TestStreamsAreBounded(t *testing.T) {
	h := newHub()
	var all []*stream
	for range maxStreams {
		all = append(all, h.subscribe([]string{"w"}))
	}
	if h.subscribe([]string{"w"}) != nil {
		t.Error("one too many is let in")
	}
	h.unsubscribe(all[0])
	if h.subscribe([]string{"w"}) == nil {
		t.Error("there is no room, and one has left")
	}
}

// A failure is told as one word, whatever its own words are.
func TestAFailureIsToldAsOneWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &fakeRepo{fp: "1", err: errors.New("no\nid: forged\n\ndata: x")}
		s := watching(t, g)
		h := s.hub.subscribe([]string{"w"})
		synctest.Wait()
		if tag := s.hub.unsent(h)["w"]; tag == "" || strings.ContainsAny(tag, " \n") {
			t.Errorf("the tag is %q", tag)
		}
		s.hub.unsubscribe(h)
		time.Sleep(time.Minute)
	})
}
