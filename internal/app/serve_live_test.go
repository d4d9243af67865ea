package app

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// An event is an event of a stream.
type event struct{ Worktree, Tag string }

// A heardStream is an open stream.
type heardStream struct {
	t      *testing.T
	events chan event
	close  func()
}

// listen opens a stream.
func (s *served) listen(query string) *heardStream {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/events"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := new(http.Client).Do(req) //nolint:bodyclose // the goroutine does
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("the stream: %s", resp.Status)
	}
	h := &heardStream{t: s.t, events: make(chan event, 100)}
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer close(h.events)
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var e event
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					s.t.Errorf("the event %s is not JSON: %v", data, err)
				}
				h.events <- e
			}
		}
	}()
	h.close = func() { cancel(); <-over }
	s.t.Cleanup(h.close)
	return h
}

// patience limits how long a test waits.
const patience = 2 * time.Minute

// next returns the next event.
func (h *heardStream) next(what string) event {
	h.t.Helper()
	select {
	case e, ok := <-h.events:
		if !ok {
			h.t.Fatalf("the stream ended before an event for %s", what)
		}
		return e
	case <-time.After(patience):
		h.t.Fatalf("no event arrived for %s", what)
		return event{}
	}
}

// other returns the first tag that differs from the given one.
func (h *heardStream) other(than, what string) string {
	h.t.Helper()
	for {
		if e := h.next(what); e.Tag != than {
			return e.Tag
		}
	}
}

// tag returns the tag of the current board.
func (s *served) tag(query string) string {
	s.t.Helper()
	resp, _ := s.do(call{path: "/api/board" + query})
	return strings.Trim(resp.Header.Get("ETag"), `"`)
}

// A stream that reconnects to a restarted server gets the current tag.
func TestServeStreamAfterRestart(t *testing.T) {
	r := specced(t)
	first := serveRepo(t, r, nil)
	before := first.tag("")
	first.stop()
	r.Write("api.go", "package api\n\nfunc More() {}\n")
	r.Commit("more")
	again := serveRepo(t, r, nil)
	if got := again.listen("").other("", "the board"); got == before {
		t.Error("the stream got the tag that it has already")
	}
}

// A stream gets events for the worktrees that it names.
func TestServeStreamsWorktreesByName(t *testing.T) {
	r := specced(t)
	linked := r.Path("../linked")
	r.Git("worktree", "add", "-q", "-b", "side", linked)
	s := serveRepo(t, r, nil)
	side := s.listen("?w=linked&w=nowhere")
	e := side.next("the linked worktree")
	if e.Worktree != "linked" {
		t.Errorf("the event is about %s", e.Worktree)
	}
	r.Git("-C", linked, "commit", "-q", "--allow-empty", "-m", "more")
	side.other(e.Tag, "a commit there")
}

// A stream gets an event when the repository cannot be read any more.
func TestServeStreamsErrors(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	h := s.listen("")
	first := h.next("what there is").Tag
	r.Git("config", "core.repositoryformatversion", "99\nid: forged")
	tag := h.other(first, "a repository that cannot be read")
	if strings.ContainsAny(tag, "\n ") {
		t.Errorf("the tag is %q", tag)
	}
}

// A stream gets an event after each commit.
func TestServeStreamsEachCommit(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	h := s.listen("")
	tag := h.next("what there is").Tag
	for i := range 5 {
		r.Write("api.go", strings.Repeat("// more\n", i)+"package api\n")
		r.Commit("more")
		tag = h.other(tag, "a commit")
	}
}
