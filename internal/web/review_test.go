package web

import (
	"errors"
	"testing"
	"time"

	"ken/internal/review"
)

// newServer returns a server without worktrees.
func newServer(t *testing.T) *Server {
	t.Helper()
	s, err := New(Deps{}, Options{Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.boards.wait)
	return s
}

// A slow review delays no request: the cache returns the previous one and late, and the new
// one when it is ready. It judges each state once.
func TestSlowReviewReturnsPreviousOne(t *testing.T) {
	files := 1
	hold := make(chan struct{}, 10)
	hold <- struct{}{}
	s := newServer(t)
	s.reviews.review = func(string) (*review.Review, error) {
		<-hold
		return &review.Review{Files: files}, nil
	}
	get := func(key string, patience time.Duration) (*review.Review, bool) {
		t.Helper()
		r, late, err := s.reviews.get(t.Context(), s, "w", Fingerprint(key), patience)
		if err != nil {
			t.Fatal(err)
		}
		return r, late
	}
	if r, late := get("1", time.Minute); late || r.Files != 1 {
		t.Fatalf("the first review is %+v, late %t", r, late)
	}
	if r, late := get("1", time.Minute); late || r.Files != 1 { // a second judgement would block
		t.Fatalf("the same review is %+v, late %t", r, late)
	}
	files = 2
	if r, late := get("2", time.Millisecond); !late || r.Files != 1 {
		t.Errorf("while the second review runs, get returned %+v, late %t; want the previous one and late", r, late)
	}
	hold <- struct{}{}
	if r, late := get("2", time.Minute); late || r.Files != 2 {
		t.Errorf("after the second review get returned %+v, late %t", r, late)
	}
}

// A review that failed is tried again by the next request.
func TestFailedReviewIsTriedAgain(t *testing.T) {
	failed := errors.New("no such commit")
	calls := 0
	s := newServer(t)
	s.reviews.review = func(string) (*review.Review, error) {
		if calls++; calls == 1 {
			return nil, failed
		}
		return &review.Review{}, nil
	}
	if _, _, err := s.reviews.get(t.Context(), s, "w", "1", time.Minute); !errors.Is(err, failed) {
		t.Errorf("the first review failed with %v, want %v", err, failed)
	}
	if r, late, err := s.reviews.get(t.Context(), s, "w", "1", time.Minute); err != nil || late || r == nil {
		t.Errorf("the second review is %+v, late %t, %v", r, late, err)
	}
}
