package web

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A stream that opens after the cache was dropped gets the current tag, without a
// request for a page.
func TestReconnectedStreamGetsCurrentTag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &fakeRepo{fp: "1"}
		s := watching(t, g)
		first := s.hub.subscribe([]string{"w"})
		synctest.Wait()
		before := s.hub.unsent(first)["w"]
		if before == "" {
			t.Fatal("the first stream got no tag")
		}
		s.hub.unsubscribe(first)
		time.Sleep(time.Minute) // in a bubble: until all streams are closed
		synctest.Wait()
		if looks := g.looks.Load(); looks == 0 || len(s.boards.at) != 0 {
			t.Fatalf("after %d fingerprints the cache has %d boards, want 0 without a stream", looks, len(s.boards.at))
		}
		g.set("2")
		back := s.hub.subscribe([]string{"w"})
		defer s.hub.unsubscribe(back)
		time.Sleep(time.Minute)
		synctest.Wait()
		if tag := s.hub.unsent(back)["w"]; tag == "" || tag == before {
			t.Errorf("the second stream got the tag %q, want one other than %q", tag, before)
		}
	})
}

// watching returns a server that runs watch until the test ends.
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

// The hub refuses a stream above the limit, and accepts one after another has closed.
func TestStreamsAreBounded(t *testing.T) {
	h := newHub()
	var all []*stream
	for range maxStreams {
		all = append(all, h.subscribe([]string{"w"}))
	}
	if h.subscribe([]string{"w"}) != nil {
		t.Error("subscribe accepted a stream above the limit")
	}
	h.unsubscribe(all[0])
	if h.subscribe([]string{"w"}) == nil {
		t.Error("subscribe refused a stream although one has closed")
	}
}

// The tag of an error has no spaces or line breaks, which could forge an event.
func TestErrorTagIsOneWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &fakeRepo{fp: "1", err: errors.New("no\nid: forged\n\ndata: x")}
		s := watching(t, g)
		h := s.hub.subscribe([]string{"w"})
		synctest.Wait()
		if tag := s.hub.unsent(h)["w"]; tag == "" || strings.ContainsAny(tag, " \n") {
			t.Errorf("the tag is %q, want one word", tag)
		}
		s.hub.unsubscribe(h)
		time.Sleep(time.Minute)
	})
}
