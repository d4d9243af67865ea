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

// A hub tells streams which board each worktree has. It keeps the newest of each and
// no more: a stream that was slow gets what is true by then, and misses nothing.
type hub struct {
	mu      sync.Mutex
	tags    map[string]string // of boards, by worktree
	streams map[*stream]bool
	closed  chan struct{} // closed at the end
	joined  chan struct{} // has something when there is a new stream
	once    sync.Once
}

// A stream is one that somebody listens to. While it is open, its worktrees are looked
// at, whether or not a page was asked for: it may be all that is left of one.
type stream struct {
	worktrees []string
	wake      chan struct{}     // has something when there may be news
	sent      map[string]string // tags, by worktree
}

// maxStreams is how many there may be. Fewer than connections, so that those who only
// listen never keep out those who ask.
const maxStreams = 256

func newHub() *hub {
	return &hub{tags: make(map[string]string), streams: make(map[*stream]bool), closed: make(chan struct{}), joined: make(chan struct{}, 1)}
}

func (h *hub) close() { h.once.Do(func() { close(h.closed) }) }

// tell makes a board known.
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
		default: // it has something to fetch already
		}
	}
}

// listen enters a stream about some worktrees, nil if there are too many.
func (h *hub) subscribe(worktrees []string) *stream {
	s := &stream{worktrees: worktrees, wake: make(chan struct{}, 1), sent: make(map[string]string)}
	s.wake <- struct{}{} // what there is already
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

// leave ends a stream.
func (h *hub) unsubscribe(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s)
}

// news returns the tags that a stream has not been told, and takes it that it now is.
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

// watched lists the worktrees that a stream is about.
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

// errStreams is for whoever comes when there is no room; pages then ask by themselves.
var errStreams = statusErr(http.StatusServiceUnavailable, "too many event streams", "poll /api/board with its ETag")

// events is the stream. Each event names a worktree and the tag of its board; the
// first ones tell what is known already.
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
		text := ": still here\n\n"
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

// streamWorktrees returns the worktrees that a stream is asked about: those named by w that
// there are, and else the one that the server was started in.
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
