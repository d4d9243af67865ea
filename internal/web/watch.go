package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

// How often it is looked whether anything has changed, while somebody listens.
const (
	often  = 500 * time.Millisecond
	seldom = 5 * time.Second
	settle = 30 * time.Millisecond // after a nudge: changes come in bunches
	share  = 10                    // looking takes no more than one part in so many of the time
)

// watch keeps the hub up to date while somebody listens.
func (s *Server) watch(ctx context.Context) {
	nudge := make(chan struct{}, 1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.hub.came:
		}
		inner, stop := context.WithCancel(ctx)
		if s.deps.Watch != nil {
			go s.deps.Watch(inner, func() {
				select {
				case nudge <- struct{}{}:
				default:
				}
			})
		}
		for names := s.hub.watched(); ctx.Err() == nil && len(names) > 0; names = s.hub.watched() {
			start := time.Now()
			s.refresh(ctx, names)
			pause := min(max(share*time.Since(start), often), seldom)
			select {
			case <-ctx.Done():
			case <-nudge:
				rest(ctx, settle)
			case <-s.hub.came: // it may look at what nobody else does
			case <-time.After(pause):
			}
		}
		stop()
		s.boards.forget()
	}
}

// refresh looks at worktrees, and tells which boards they have. One that takes long is
// told of the next time, and does not hold up the others for more than that.
func (s *Server) refresh(ctx context.Context, worktrees []string) {
	var all sync.WaitGroup
	for _, name := range worktrees {
		all.Go(func() {
			v, late, err := s.boards.get(ctx, name, seldom)
			switch {
			case err != nil:
				s.hub.tell(name, "error-"+digest(err.Error())) // a page that looks again says which
			case v != nil && !late:
				s.hub.tell(name, v.tag)
			}
		})
	}
	all.Wait()
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// digest stands for a text where the text itself may not.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
