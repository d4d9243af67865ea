package term

import (
	"fmt"
	"sync"
	"time"
)

// patience is how long work may take before a person wants to know how far it is.
const patience = 500 * time.Millisecond

// A Progress shows on Err how far some work is, once it takes long enough to be
// felt and only where a person is watching. It is safe for concurrent use.
type Progress struct {
	io    *IO
	what  string
	mu    sync.Mutex
	begun time.Time
	shown time.Time
}

// Progress begins to watch work, described as in "reading files".
func (o *IO) Progress(what string) *Progress {
	return &Progress{io: o, what: what, begun: time.Now()}
}

// Update says that done of total are done.
func (p *Progress) Update(done, total int) {
	if !p.io.Live {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.begun) < patience || now.Sub(p.shown) < patience/5 {
		return
	}
	p.shown = now
	fmt.Fprintf(p.io.Err, "\r\x1b[K%s: %d of %d", p.what, done, total)
}

// Done wipes the line, if one was shown.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.shown.IsZero() {
		fmt.Fprint(p.io.Err, "\r\x1b[K")
		p.shown = time.Time{}
	}
}
