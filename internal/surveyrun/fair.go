package surveyrun

import (
	"context"
	"sync"
)

// Fair shares a number of slots between parties. A slot that comes free goes to whoever
// waits for the party that has the fewest, among equals to the party that was served least
// recently, and within a party to whoever came first. So a party with much to do cannot
// keep one with little waiting for longer than one of its own jobs takes.
type Fair struct {
	mu      sync.Mutex
	free    int
	clock   uint64
	parties map[string]*party
}

type party struct {
	running int
	served  uint64          // when it last got a slot
	waiting []chan struct{} // closed when it is their turn
}

// NewFair returns so many slots, all free.
func NewFair(slots int) *Fair { return &Fair{free: slots, parties: make(map[string]*party)} }

// Enter waits for a slot for a party, until the context is done; then it returns its error.
// Whoever got one calls leave, once.
func (f *Fair) Enter(ctx context.Context, of string) (leave func(), err error) {
	f.mu.Lock()
	p := f.parties[of]
	if p == nil {
		p = &party{}
		f.parties[of] = p
	}
	turn := make(chan struct{})
	p.waiting = append(p.waiting, turn)
	f.serve()
	f.mu.Unlock()
	leave = sync.OnceFunc(func() { f.leave(p) })
	select {
	case <-turn:
		return leave, nil
	case <-ctx.Done():
	}
	f.mu.Lock()
	for i, w := range p.waiting {
		if w == turn {
			p.waiting = append(p.waiting[:i:i], p.waiting[i+1:]...)
			f.mu.Unlock()
			return nil, ctx.Err()
		}
	}
	f.mu.Unlock()
	return leave, nil // it was our turn in that moment
}

func (f *Fair) leave(p *party) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.running--
	f.free++
	f.serve()
}

// serve gives free slots away.
func (f *Fair) serve() {
	for f.free > 0 {
		var next *party
		for _, p := range f.parties {
			if len(p.waiting) > 0 && (next == nil || p.running < next.running || p.running == next.running && p.served < next.served) {
				next = p
			}
		}
		if next == nil {
			return
		}
		f.clock++
		next.served = f.clock
		next.running++
		f.free--
		close(next.waiting[0])
		next.waiting = next.waiting[1:]
	}
}
