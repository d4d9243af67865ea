package web

import (
	"fmt"
	"net/http"
	"sync"
	"weak"

	"ken/internal/board"
)

// drawn keeps pages for as long as the board of their worktree is the one that they
// were drawn from. It holds on to none: boards are large.
type drawn struct {
	mu    sync.Mutex
	at    map[string]*sheaf // by worktree
	bytes int               // of all of them
}

// A sheaf is pages that were drawn from one board, by what else they depend on.
type sheaf struct {
	from  weak.Pointer[board.Board]
	pages map[string]drawing
	bytes int
}

type drawing struct {
	body []byte
	tag  string
}

// maxDrawn is how many bytes of pages are kept.
const maxDrawn = 8 << 20

// key names all that a page depends on besides its board, "" for one that depends on
// more, or is about to be replaced.
func (f *frame) key(r *http.Request) string {
	if f.status != http.StatusOK || f.Board == nil || f.Late || f.bare != "" || f.Page == "node" || f.Page == "file" {
		return ""
	}
	return fmt.Sprintf("%s %t %v", r.URL.RequestURI(), f.MayWrite, f.Worktrees)
}

func (d *drawn) find(f *frame, key string) (drawing, bool) {
	if key == "" {
		return drawing{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.at[f.Worktree]
	if s == nil || s.from != weak.Make(f.Board) {
		return drawing{}, false
	}
	p, ok := s.pages[key]
	return p, ok
}

func (d *drawn) keep(f *frame, key string, p drawing) {
	if key == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	size := len(key) + len(p.body)
	s := d.at[f.Worktree]
	if s != nil && s.from != weak.Make(f.Board) {
		d.bytes -= s.bytes
		s = nil
	}
	if d.at == nil || d.bytes+size > maxDrawn {
		d.at, d.bytes, s = make(map[string]*sheaf), 0, nil
	}
	if s == nil {
		s = &sheaf{from: weak.Make(f.Board), pages: make(map[string]drawing)}
		d.at[f.Worktree] = s
	}
	if _, twice := s.pages[key]; !twice {
		s.bytes += size
		d.bytes += size
	}
	s.pages[key] = p
}

// forget lets go of all of them.
func (d *drawn) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at, d.bytes = nil, 0
}
