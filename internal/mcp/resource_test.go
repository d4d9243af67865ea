package mcp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Whoever has hung up is not kept in mind: over HTTP each request of an older client is
// a session of its own, which never says goodbye.
func TestWatchForgetsWhoIsGone(t *testing.T) {
	w := &watch{}
	m := newWatched(Deps{Version: "test"}, w)
	s := httptest.NewServer(handlerOf(m))
	defer s.Close()
	for range 20 {
		body := `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"ken://brief"}}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.uris["ken://brief"]); n == 0 || n > 5 {
		t.Errorf("%d who are gone are kept in mind", n)
	}
}
