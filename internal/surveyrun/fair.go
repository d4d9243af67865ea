package surveyrun

import (
	"context"
	"sync"
)

// A FairLimiter shares a number of slots between parties, which are repositories. A free slot
// goes to the waiting party with the fewest slots, among equals to the party that was served
// least recently, and within a party to the first that waits. So a party with much work delays
// one with little by no more than one job.
type FairLimiter struct {
	mu      sync.Mutex
	free    int
	clock   uint64
	parties map[string]*party
}

type party struct {
	running int
	served  uint64          // the clock when it last got a slot
	waiting []chan struct{} // closed when they get a slot
}

// NewFairLimiter returns a limiter with free slots.
func NewFairLimiter(slots int) *FairLimiter {
	return &FairLimiter{free: slots, parties: make(map[string]*party)}
}

// Enter waits for a slot of a party. It returns the error of the context when that is done
// first. The caller calls leave to free the slot.
func (f *FairLimiter) Enter(ctx context.Context, of string) (leave func(), err error) {
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
	return leave, nil // the slot came at the same moment
}

func (f *FairLimiter) leave(p *party) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.running--
	f.free++
	f.serve()
}

// serve gives free slots to waiting parties.
func (f *FairLimiter) serve() {
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
