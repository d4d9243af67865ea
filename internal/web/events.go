package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// A hub tells streams which board each worktree has. It keeps the newest of each and
// no more: a stream that was slow gets what is true by then, and misses nothing.
type hub struct {
	mu      sync.Mutex
	tags    map[string]string // of boards, by worktree
	streams map[chan struct{}]bool
	gone    chan struct{} // closed at the end
	came    chan struct{} // has something when there is a first stream
	once    sync.Once
}

func newHub() *hub {
	return &hub{tags: make(map[string]string), streams: make(map[chan struct{}]bool), gone: make(chan struct{}), came: make(chan struct{}, 1)}
}

func (h *hub) close() { h.once.Do(func() { close(h.gone) }) }

// tell makes a board known.
func (h *hub) tell(worktree, tag string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tags[worktree] == tag {
		return
	}
	h.tags[worktree] = tag
	for s := range h.streams {
		select {
		case s <- struct{}{}:
		default: // it has something to fetch already
		}
	}
}

// listen enters a stream, and returns how it leaves.
func (h *hub) listen() (wake chan struct{}, leave func()) {
	wake = make(chan struct{}, 1)
	wake <- struct{}{} // what there is already
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams[wake] = true
	select {
	case h.came <- struct{}{}:
	default:
	}
	return wake, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.streams, wake)
	}
}

// since adds to told what has changed, and returns it.
func (h *hub) since(told map[string]string) map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := make(map[string]string)
	for name, tag := range h.tags {
		if told[name] != tag {
			told[name], news[name] = tag, tag
		}
	}
	return news
}

func (h *hub) listeners() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.streams)
}

// events is the stream. Each event names a worktree and the tag of its board; the
// first ones tell what is known already.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	wake, leave := s.hub.listen()
	defer leave()
	told := make(map[string]string)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	say := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(eventWriteLimit))
		_, err := w.Write([]byte(text))
		return err == nil && control.Flush() == nil
	}
	if !say("retry: 1000\n\n") {
		return
	}
	for {
		text := ": still here\n\n"
		select {
		case <-r.Context().Done():
			return
		case <-s.hub.gone:
			return
		case <-wake:
			text = ""
			for name, tag := range s.hub.since(told) {
				b, err := json.Marshal(map[string]string{"worktree": name, "tag": tag})
				if err != nil {
					return
				}
				text += fmt.Sprintf("event: board\nid: %s\ndata: %s\n\n", tag, b)
			}
			if text == "" {
				continue
			}
		case <-beat.C:
		}
		if !say(text) {
			return
		}
	}
}

// How often it is looked whether anything has changed, while somebody listens.
const (
	often   = 500 * time.Millisecond
	seldom  = 5 * time.Second
	settle  = 30 * time.Millisecond // after a nudge: changes come in bunches
	share   = 10                    // looking takes no more than one part in so many of the time
	waiting = 10 * time.Minute      // for a board that takes long
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
		for ctx.Err() == nil && s.hub.listeners() > 0 {
			start := time.Now()
			s.refresh(ctx)
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

// refresh looks at every worktree that a page is open on.
func (s *Server) refresh(ctx context.Context) {
	for _, name := range s.boards.watched() {
		v, late, err := s.boards.get(ctx, name, waiting)
		switch {
		case err != nil:
			s.hub.tell(name, "error "+err.Error())
		case v != nil && !late:
			s.hub.tell(name, v.tag)
		}
	}
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
