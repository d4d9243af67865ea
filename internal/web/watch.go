package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

// How often the server checks for changes while a stream is open.
const (
	minPause    = 500 * time.Millisecond
	maxPause    = 5 * time.Second
	settlePause = 30 * time.Millisecond // after a notification, because changes come in groups
	pauseFactor = 10                    // pause this many times as long as a check took
)

// watch publishes changes while a stream is open.
func (s *Server) watch(ctx context.Context) {
	changed := make(chan struct{}, 1)
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
				case changed <- struct{}{}:
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
			case <-changed:
				sleep(ctx, settlePause)
			case <-s.hub.joined: // it may be about another worktree
			case <-time.After(pause):
			}
		}
		stop()
		s.boards.forget()
	}
}

// refresh publishes the current boards of worktrees. A board that takes longer than
// maxPause is published the next time.
func (s *Server) refresh(ctx context.Context, worktrees []string) {
	var all sync.WaitGroup
	for _, name := range worktrees {
		all.Go(func() {
			v, late, err := s.boards.get(ctx, name, maxPause)
			switch {
			case err != nil:
				s.hub.publish(name, "error-"+digest(err.Error())) // the page fetches itself and shows the error
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

// digest returns a short hash of a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
