package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

// How minPause it is looked whether anything has changed, while somebody listens.
const (
	minPause    = 500 * time.Millisecond
	maxPause    = 5 * time.Second
	settlePause = 30 * time.Millisecond // after a nudge: changes come in bunches
	pauseFactor = 10                    // looking takes no more than one part in so many of the time
)

// watch keeps the hub up to date while somebody listens.
func (s *Server) watch(ctx context.Context) {
	nudge := make(chan struct{}, 1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.hub.joined:
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
		for names := s.hub.worktrees(); ctx.Err() == nil && len(names) > 0; names = s.hub.worktrees() {
			start := time.Now()
			s.refresh(ctx, names)
			pause := min(max(pauseFactor*time.Since(start), minPause), maxPause)
			select {
			case <-ctx.Done():
			case <-nudge:
				sleep(ctx, settlePause)
			case <-s.hub.joined: // it may look at what nobody else does
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
			v, late, err := s.boards.get(ctx, name, maxPause)
			switch {
			case err != nil:
				s.hub.publish(name, "error-"+digest(err.Error())) // a page that looks again says which
			case v != nil && !late:
				s.hub.publish(name, v.tag)
			}
		})
	}
	all.Wait()
}

func sleep(ctx context.Context, d time.Duration) {
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
