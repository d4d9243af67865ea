package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A hub tells streams the tag of each worktree's board. It keeps only the newest tag,
// so a slow stream gets the current state and misses nothing.
type hub struct {
	mu      sync.Mutex
	tags    map[string]string // of the newest boards, by worktree
	streams map[*stream]bool
	closed  chan struct{} // closed when the server stops
	joined  chan struct{} // receives when a stream opens
	once    sync.Once
}

// A stream is one open event stream. The server checks its worktrees while it is open,
// even if no page was requested.
type stream struct {
	worktrees []string
	wake      chan struct{}     // receives when there may be unsent tags
	sent      map[string]string // last sent tag, by worktree
}

// maxStreams is below maxConnections, so that streams cannot take all connections.
const maxStreams = 256

func newHub() *hub {
	return &hub{tags: make(map[string]string), streams: make(map[*stream]bool), closed: make(chan struct{}), joined: make(chan struct{}, 1)}
}

func (h *hub) close() { h.once.Do(func() { close(h.closed) }) }

// publish stores the tag of a worktree's board and wakes the streams.
func (h *hub) publish(worktree, tag string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tags[worktree] == tag {
		return
	}
	h.tags[worktree] = tag
	for s := range h.streams {
		select {
		case s.wake <- struct{}{}:
		default: // it is awake already
		}
	}
}

// subscribe opens a stream for some worktrees. It returns nil if there are too many.
func (h *hub) subscribe(worktrees []string) *stream {
	s := &stream{worktrees: worktrees, wake: make(chan struct{}, 1), sent: make(map[string]string)}
	s.wake <- struct{}{} // send the current tags
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.streams) >= maxStreams {
		return nil
	}
	h.streams[s] = true
	select {
	case h.joined <- struct{}{}:
	default:
	}
	return s
}

// unsubscribe closes a stream.
func (h *hub) unsubscribe(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s)
}

// unsent returns the tags that a stream has not sent, and marks them as sent.
func (h *hub) unsent(s *stream) map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := make(map[string]string)
	for _, name := range s.worktrees {
		if tag := h.tags[name]; tag != s.sent[name] {
			s.sent[name], news[name] = tag, tag
		}
	}
	return news
}

// worktrees lists the worktrees of all streams.
func (h *hub) worktrees() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := make(map[string]bool)
	for s := range h.streams {
		for _, name := range s.worktrees {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// errStreams makes a page poll.
var errStreams = statusErr(http.StatusServiceUnavailable, "too many event streams", "poll /api/board with its ETag")

// events serves an event stream. Each event has a worktree and the tag of its board.
// The first events have the current tags.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	about, err := s.streamWorktrees(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	stream := s.hub.subscribe(about)
	if stream == nil {
		w.Header().Set("Connection", "close")
		s.fail(w, r, errStreams)
		return
	}
	defer s.hub.unsubscribe(stream)
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	say := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(s.limits.write))
		_, err := w.Write([]byte(text))
		return err == nil && control.Flush() == nil
	}
	if !say("retry: 1000\n\n") {
		return
	}
	for {
		text := ": keep-alive\n\n"
		select {
		case <-r.Context().Done():
			return
		case <-s.hub.closed:
			return
		case <-stream.wake:
			text = ""
			for name, tag := range s.hub.unsent(stream) {
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

// streamWorktrees returns the existing worktrees that a request names with w, or the
// server's own if it names none.
func (s *Server) streamWorktrees(r *http.Request) (names []string, err error) {
	list, err := s.deps.Worktrees(r.Context())
	if err != nil {
		return nil, err
	}
	asked := r.URL.Query()["w"]
	for _, t := range list {
		if slices.Contains(asked, t.Name) || t.Here && (len(asked) == 0 || slices.Contains(asked, "")) {
			names = append(names, t.Name)
		}
	}
	return names, nil
}
