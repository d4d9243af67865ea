package provider_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ken/internal/model"
	"ken/internal/model/modeltest"
	"ken/internal/model/provider"
)

// After a timeout, ken gives up on the server and tries again.
func TestServerTimeout(t *testing.T) {
	t.Parallel()
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			srv := modeltest.Start(t, modeltest.Say(
				modeltest.Answer{Text: "half an answer, and then", Cuts: true, Cut: 900, Hang: true},
				modeltest.Answer{Text: "so"},
			))
			m, _ := open(t, srv, api, func(o *provider.Options) { o.Idle = 3 * time.Second })
			var why model.Retry
			r, err := m.Turn(t.Context(), hello, model.Listener{Retry: func(r model.Retry) error { why = r; return nil }})
			if err != nil || r.Text != "so" {
				t.Fatalf("Turn returned %+v, %v; want the text of the second attempt", r, err)
			}
			if why.Reason != model.Down || !strings.Contains(why.Err.Error(), "silent") {
				t.Errorf("the retry is %+v; want it because the server was silent", why)
			}
		})
	}
}

// A turn ends in its time, even if the server keeps sending.
func TestTotalTime(t *testing.T) {
	t.Parallel()
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for r.Context().Err() == nil {
					if _, err := w.Write([]byte(": still here\n\n")); err != nil {
						return
					}
					_ = http.NewResponseController(w).Flush()
					select {
					case <-r.Context().Done():
					case <-time.After(5 * time.Millisecond):
					}
				}
			}))
			defer srv.Close()
			m := elsewhere(t, api, srv.URL, provider.Options{Total: 200 * time.Millisecond, Idle: time.Hour})
			_, err := m.Turn(t.Context(), hello, model.Listener{})
			if reasonOf(t, err) != model.Down || model.NotCharged(err) || !strings.Contains(err.Error(), "200ms") {
				t.Errorf("Turn returned the error %v; want a charged timeout after 200ms", err)
			}
		})
	}
}

// elsewhere returns a model at an address, without a key.
func elsewhere(t testing.TB, api, url string, opts provider.Options) *provider.Model {
	t.Helper()
	opts.Getenv = env()
	m, err := provider.New(provider.Config{Provider: api, Model: "m", BaseURL: url, Allowed: true}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// An invalid response is an error, and ken does not retry it.
func TestInvalidResponse(t *testing.T) {
	html := http.Header{"Content-Type": {"text/html"}}
	var many strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&many, `{"index":%d},`, i)
	}
	many.WriteString(`{"index":0}`)
	for name, a := range map[string]modeltest.Answer{
		"a page":         {Body: []byte("<html>\x1b[2J Sign in"), Header: html},
		"not JSON":       {Body: []byte("data: {oops\n\n")},
		"no type at all": {Body: []byte("data: 17\n\n")},
		"a list":         {Body: []byte("event: message_start\ndata: []\n\n")},
		"wrong types":    {Body: []byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":\"x\",\"choices\":{}}\n\n")},
		"calls on end": {
			Body: []byte(`data: {"type":"x","choices":[{"delta":{"tool_calls":[` + many.String() + `]}}]}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"),
		},
		"JSON in one line": {Body: []byte(`[]`), Header: http.Header{"Content-Type": {"application/json"}}},
		"no kind":          {Body: []byte("\x00\x01\x02"), Header: http.Header{"Content-Type": {"nonsense;;"}}},
	} {
		for _, api := range apis {
			t.Run(api+" "+name, func(t *testing.T) {
				srv := modeltest.Start(t, modeltest.Say(a))
				m, _ := open(t, srv, api)
				_, err := m.Turn(t.Context(), hello, model.Listener{})
				if reasonOf(t, err) != model.BadAnswer {
					t.Errorf("Turn returned the error %v; want the reason %v", err, model.BadAnswer)
				}
				if n := len(srv.Turns()); n != 1 {
					t.Errorf("the server got %d requests; want 1", n)
				}
			})
		}
	}
}

// An endless response does not fill the memory: neither in one line, nor in many, nor as an error.
func TestHugeAnswers(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]string{
		"one line":     "data: ",
		"one event":    "",
		"many events":  "data: {\"type\":\"ping\"}\n\n",
		"many answers": "event: ping\ndata: {\"type\":\"ping\",\"choices\":[]}\n\n",
	} {
		for _, api := range apis {
			for _, status := range []int{200, 500} {
				t.Run(name+" "+api+" "+http.StatusText(status), func(t *testing.T) {
					left := make(chan int64, 1)
					srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Content-Type", "text/event-stream")
						w.WriteHeader(status)
						piece := []byte(strings.Repeat("data: x\n", 4096))
						switch name {
						case "one line":
							piece = bytes.Repeat([]byte("x"), 32<<10)
						case "many events", "many answers":
							piece = []byte(strings.Repeat(start, 1024))
						}
						_, err := w.Write([]byte(start))
						sent := int64(0)
						for err == nil && sent < 1<<30 {
							var n int
							n, err = w.Write(piece)
							sent += int64(n)
						}
						left <- sent
					}))
					defer srv.Close()
					m := elsewhere(t, api, srv.URL, provider.Options{Attempts: 1, MaxBytes: 1 << 20})
					_, err := m.Turn(t.Context(), hello, model.Listener{})
					want := model.BadAnswer
					if status == 500 {
						want = model.Down
					}
					if got := reasonOf(t, err); got != want {
						t.Errorf("Turn returned the error %[2]v with the reason %[1]v; want %[3]v", got, err, want)
					}
					if n := <-left; n > 64<<20 {
						t.Errorf("%d bytes were taken", n)
					}
				})
			}
		}
	}
}

// ken does not follow a redirect, least of all with a key.
func TestRedirects(t *testing.T) {
	for _, api := range apis {
		for _, status := range []int{301, 302, 303, 307, 308} {
			visited := false
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visited = true }))
			srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{Status: status, Header: http.Header{"Location": {other.URL + "/v1/messages"}}}))
			m, _ := open(t, srv, api)
			_, err := m.Turn(t.Context(), hello, model.Listener{})
			if reasonOf(t, err) != model.BadAnswer || visited {
				t.Errorf("%s, status %d: Turn returned the error %v, visited the other server: %t; want a bad answer and no visit", api, status, err, visited)
			}
			other.Close()
		}
	}
}

// Servers write event streams in several ways.
func TestStreamVariants(t *testing.T) {
	for name, mangle := range map[string]func(string) string{
		"CRLF":           func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"CR":             func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
		"comments":       func(s string) string { return ": hello\n\n" + strings.ReplaceAll(s, "\n\n", "\n: x\n\n:\n\n") },
		"other fields":   func(s string) string { return strings.ReplaceAll(s, "data:", "id: 7\nretry: 3\nfoo\ndata:") },
		"no spaces":      func(s string) string { return strings.ReplaceAll(s, "data: ", "data:") },
		"a mark":         func(s string) string { return "\xef\xbb\xbf" + s },
		"no event names": func(s string) string { return strings.ReplaceAll(s, "event: ", "x: ") },
		"other events":   func(s string) string { return "event: novelty\ndata: {\"type\":\"novelty\"}\n\n" + s },
	} {
		for _, api := range apis {
			t.Run(api+" "+name, func(t *testing.T) {
				srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{
					Text: "a\u0000b\x1b[31m “c”\r\n", Calls: []model.Call{{ID: "1", Name: "list", Args: args(`{"a":1}`)}},
					Mangle: func(b []byte) []byte { return []byte(mangle(string(b))) },
				}))
				m, _ := open(t, srv, api)
				r, err := m.Turn(t.Context(), hello, model.Listener{})
				if err != nil {
					t.Fatal(err)
				}
				if r.Text != "a\u0000b\x1b[31m “c”\r\n" || len(r.Calls) != 1 || string(r.Calls[0].Args) != `{"a":1}` {
					t.Errorf("Turn returned %+v; want the text with its control characters and one call", r)
				}
			})
		}
	}
}

// ken does not retry if no server listens on this machine.
func TestServerNotRunning(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	w := &waiter{}
	m := elsewhere(t, "openai", "http://"+addr, provider.Options{Sleep: w.sleep})
	_, err = m.Turn(t.Context(), hello, model.Listener{})
	if reasonOf(t, err) != model.Down || !model.NotCharged(err) || len(w.all()) != 0 || !strings.Contains(err.Error(), addr) {
		t.Errorf("Turn returned the error %v after the waits %v; want the address, no charge and no wait", err, w.all())
	}
}

// A request that the caller cancels before the first byte of the answer was sent and may be
// charged: it counts as a request, with an estimate of its input.
func TestCancelledRequestCounts(t *testing.T) {
	for _, api := range apis {
		for name, headers := range map[string]bool{"before the headers": false, "after the headers": true} {
			t.Run(api+" "+name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				over := make(chan struct{})
				srv := modeltest.Start(t, func(modeltest.Turn) modeltest.Answer {
					if headers {
						time.AfterFunc(50*time.Millisecond, cancel)
						return modeltest.Answer{Hang: true, Cuts: true}
					}
					cancel()
					<-over
					return modeltest.Answer{}
				})
				m, _ := open(t, srv, api)
				r, err := m.Turn(ctx, hello, model.Listener{})
				close(over)
				if reasonOf(t, err) != model.Cancelled {
					t.Fatalf("Turn returned the error %v; want the reason %v", err, model.Cancelled)
				}
				if r.Usage.Requests != 1 || r.Usage.Input == 0 || !r.Usage.Estimated {
					t.Errorf("usage %+v; it should count one request with an estimated input", r.Usage)
				}
			})
		}
	}
}
