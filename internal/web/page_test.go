package web

import (
	"fmt"
	"net/http"
	"testing"

	"ken/internal/board"
)

// Pages are kept while their board is the newest, up to so many bytes, and no board is
// kept for their sake.
func TestDrawnPagesAreBounded(t *testing.T) {
	var d drawn
	one, other := &board.Board{}, &board.Board{Repository: "other"}
	of := func(b *board.Board) *frame { return &frame{Worktree: "w", Board: b} }
	d.keep(of(one), "a", drawing{body: []byte("A")})
	d.keep(of(one), "b", drawing{body: []byte("B")})
	if p, ok := d.find(of(one), "a"); !ok || string(p.body) != "A" {
		t.Errorf("%s, %t", p.body, ok)
	}
	if _, ok := d.find(of(other), "a"); ok {
		t.Error("a page of another board is found")
	}
	d.keep(of(other), "c", drawing{body: []byte("C")})
	if len(d.at["w"].pages) != 1 || d.bytes != 2 {
		t.Errorf("of the board that was, pages are kept: %d of %d bytes", len(d.at["w"].pages), d.bytes)
	}
	for i := range 100 {
		d.keep(of(other), fmt.Sprint(i), drawing{body: make([]byte, 1<<20)})
		if d.bytes > maxDrawn {
			t.Fatalf("%d bytes are kept", d.bytes)
		}
	}
	d.forget()
	if d.bytes != 0 || d.at != nil {
		t.Error("they are not forgotten")
	}
}

// A page that is drawn late is not kept: it says so, and soon it is not.
func TestLatePagesAreNotKept(t *testing.T) {
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	f := &frame{status: http.StatusOK, Board: &board.Board{}, Page: "board"}
	if f.key(r) == "" {
		t.Error("no page is kept")
	}
	f.Late = true
	if f.key(r) != "" {
		t.Error("a late one is kept")
	}
}
