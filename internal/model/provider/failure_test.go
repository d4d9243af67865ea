package provider_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ken/internal/fault"
	"ken/internal/model"
	"ken/internal/model/modeltest"
	"ken/internal/model/provider"
)

// Every error response has its reason. ken retries temporary ones, six attempts in all, and no others.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		api, kind, message string
		status             int
		reason             model.Reason
		again              bool
	}{
		{api: "anthropic", status: 400, reason: model.BadRequest},
		{api: "anthropic", status: 400, reason: model.TooLong, message: "prompt is too long: 1000001 tokens > 1000000 maximum"},
		{api: "anthropic", status: 400, reason: model.NoCredit, message: "Your credit balance is too low to access the Anthropic API."},
		{api: "anthropic", status: 400, reason: model.NoCredit, message: "You have reached your specified API usage limits. You will regain access on 2026-12-01."},
		{api: "anthropic", status: 401, reason: model.Unauthorized},
		{api: "anthropic", status: 402, reason: model.NoCredit},
		{api: "anthropic", status: 403, reason: model.Unauthorized},
		{api: "anthropic", status: 404, reason: model.NoModel},
		{api: "anthropic", status: 413, reason: model.TooLong},
		{api: "anthropic", status: 429, reason: model.RateLimited, again: true},
		{api: "anthropic", status: 500, reason: model.Down, again: true},
		{api: "anthropic", status: 502, reason: model.Down, again: true},
		{api: "anthropic", status: 504, reason: model.Down, again: true},
		{api: "anthropic", status: 529, reason: model.Overloaded, again: true},
		{api: "openai", status: 400, reason: model.BadRequest},
		{api: "openai", status: 400, reason: model.TooLong, kind: "context_length_exceeded"},
		{api: "openai", status: 400, reason: model.TooLong, message: "This model's maximum context length is 8192 tokens."},
		{api: "openai", status: 401, reason: model.Unauthorized},
		{api: "openai", status: 404, reason: model.NoModel},
		{api: "openai", status: 408, reason: model.Down, again: true},
		{api: "openai", status: 409, reason: model.Down, again: true},
		{api: "openai", status: 429, reason: model.RateLimited, again: true},
		{api: "openai", status: 429, reason: model.NoCredit, kind: "insufficient_quota"},
		{api: "openai", status: 500, reason: model.Down, again: true},
		{api: "openai", status: 503, reason: model.Overloaded, again: true},
	} {
		t.Run(fmt.Sprintf("%s %d %v", tt.api, tt.status, tt.reason), func(t *testing.T) {
			srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{Status: tt.status, Type: tt.kind, Message: "\x1b[31mso\n" + tt.message}))
			m, w := open(t, srv, tt.api)
			var retries []model.Retry
			r, err := m.Turn(t.Context(), hello, model.Listener{Retry: func(r model.Retry) error { retries = append(retries, r); return nil }})
			if got := reasonOf(t, err); got != tt.reason {
				t.Errorf("Turn returned the error %[2]v with the reason %[1]v; want %[3]v", got, err, tt.reason)
			}
			if r.Usage != (model.Usage{}) || !r.Cost.Known() || r.Cost.USD != 0 {
				t.Errorf("a refusal cost %+v", r.Usage)
			}
			want := 1
			if tt.again {
				want = 6
			}
			if n := len(srv.Turns()); n != want || len(retries) != want-1 {
				t.Errorf("%d attempts, %d retries told, want %d", n, len(retries), want)
			}
			// Half of each wait is random, and the random number is 0 here.
			var waits []time.Duration
			for i := range want - 1 {
				waits = append(waits, time.Second<<i/2)
			}
			if d := cmp.Diff(waits, w.all()); d != "" {
				t.Errorf("waits (-want +got):\n%s", d)
			}
		})
	}
}

// ken understands the errors of a proxy, which has other error formats, by their status.
func TestRefusalsByProxies(t *testing.T) {
	for status, want := range map[int]model.Reason{
		401: model.Unauthorized, 404: model.NoModel, 413: model.TooLong, 418: model.BadRequest,
		429: model.RateLimited, 502: model.Down, 503: model.Overloaded, 529: model.Overloaded,
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<h1>so it is</h1>", status)
		}))
		for _, api := range apis {
			m := elsewhere(t, api, srv.URL, provider.Options{Attempts: 1})
			_, err := m.Turn(t.Context(), hello, model.Listener{})
			if got := reasonOf(t, err); got != want || !strings.Contains(err.Error(), "so it is") {
				t.Errorf("%s, status %d: Turn returned the error %v with the reason %v; want %v and the body", api, status, err, got, want)
			}
		}
		srv.Close()
	}
}

// ken waits as long as the server asks, within limits.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, time.November, 15, 10, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		header, value string
		want          time.Duration // 0: no more attempts
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.5", time.Second / 2},
		{"Retry-After", now.Add(30 * time.Second).Format(http.TimeFormat), 30 * time.Second},
		{"Retry-After", now.Add(-30 * time.Second).Format(http.TimeFormat), time.Second / 2},
		{"Retry-After", "-3", time.Second / 2},
		{"Retry-After", "NaN", time.Second / 2},
		{"Retry-After", "soon", time.Second / 2},
		{"Retry-After", "1e300", 0},
		{"Retry-After", "121", 0},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
		{"X-Should-Retry", "false", 0},
	} {
		t.Run(tt.header+" "+tt.value, func(t *testing.T) {
			srv := modeltest.Start(t, modeltest.Say(
				modeltest.Answer{Status: 429, Header: http.Header{tt.header: {tt.value}}},
				modeltest.Answer{Text: "so"},
			))
			m, w := open(t, srv, "anthropic", func(o *provider.Options) { o.Now = func() time.Time { return now } })
			r, err := m.Turn(t.Context(), hello, model.Listener{})
			if tt.want == 0 {
				if reasonOf(t, err) != model.RateLimited || len(w.all()) != 0 {
					t.Errorf("Turn returned the error %v after the waits %v; want the rate limit and no wait", err, w.all())
				}
				return
			}
			if err != nil || r.Text != "so" {
				t.Fatalf("Turn returned %+v, %v; want the text so", r, err)
			}
			if d := cmp.Diff([]time.Duration{tt.want}, w.all()); d != "" {
				t.Errorf("waits (-want +got):\n%s", d)
			}
		})
	}
}

// ken does not start a wait that would exceed the time of the turn.
func TestNoWaitBeyondTurn(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{Status: 429, Header: http.Header{"Retry-After": {"100"}}}))
	m, w := open(t, srv, "openai", func(o *provider.Options) { o.Total = time.Minute })
	_, err := m.Turn(t.Context(), hello, model.Listener{})
	if reasonOf(t, err) != model.RateLimited || len(w.all()) != 0 {
		t.Errorf("Turn returned the error %v after the waits %v; want the rate limit and no wait", err, w.all())
	}
}

// An error in the stream has the same effect as an error response, except for its cost.
func TestErrorsInStream(t *testing.T) {
	for _, tt := range []struct {
		api, kind string
		reason    model.Reason
		again     bool
	}{
		{"anthropic", "overloaded_error", model.Overloaded, true},
		{"anthropic", "api_error", model.Down, true},
		{"anthropic", "rate_limit_error", model.RateLimited, true},
		{"anthropic", "invalid_request_error", model.BadRequest, false},
		{"openai", "server_error", model.Down, true},
		{"openai", "invalid_request_error", model.BadRequest, false},
	} {
		t.Run(tt.api+" "+tt.kind, func(t *testing.T) {
			srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{Text: strings.Repeat("half ", 100), Error: tt.kind, Message: "sorry"}))
			m, _ := open(t, srv, tt.api, func(o *provider.Options) { o.Attempts = 2 })
			var heard bytes.Buffer
			r, err := m.Turn(t.Context(), hello, model.Listener{
				Text:  func(s string) { heard.WriteString(s) },
				Retry: func(model.Retry) error { heard.Reset(); return nil },
			})
			if got := reasonOf(t, err); got != tt.reason || !strings.Contains(err.Error(), "sorry") {
				t.Errorf("Turn returned the error %[2]v with the reason %[1]v; want %[3]v and the text of the server", got, err, tt.reason)
			}
			if r.Text != "" {
				t.Errorf("half an answer passes for one: %q", r.Text)
			}
			attempts := 1
			if tt.again {
				attempts = 2
			}
			if r.Usage.Requests != attempts || !r.Usage.Estimated || r.Usage.Output < int64(attempts)*100 || r.Usage.Input == 0 || r.Cost.USD <= 0 {
				t.Errorf("the usage is %+v at %v; want an estimate for %d requests", r.Usage, r.Cost, attempts)
			}
			if heard.String() != strings.Repeat("half ", 100) {
				t.Errorf("heard %q since the last retry", heard.String())
			}
		})
	}
}

// Wherever a connection breaks, the turn ends with the complete answer, once, and with the cost of both attempts.
// The test breaks it at every byte without a network, and at some with one.
func TestBrokenAnywhere(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			testBroken(t, api, 1, func(h http.Handler) http.RoundTripper { return inProcess{h} })
		})
		t.Run(api+" over a network", func(t *testing.T) { testBroken(t, api, 61, func(http.Handler) http.RoundTripper { return nil }) })
	}
}

func testBroken(t *testing.T, api string, step int, network func(http.Handler) http.RoundTripper) {
	t.Helper()
	whole := modeltest.Answer{Thinking: "hm", Text: "it is “so”", Calls: []model.Call{
		{ID: "a", Name: "list", Args: args(`{"x":"y"}`)}, {ID: "b", Name: "list"},
	}, Usage: model.Usage{Input: 100, Output: 40}}
	length, begins, ends := 0, 0, 0
	measure := whole
	measure.Mangle = func(b []byte) []byte {
		length = len(b)
		begins = bytes.Index(b, []byte("\n\n")) + 2 // from here on the model has done work
		// From here on the answer is complete.
		ends = bytes.Index(b, []byte(`"stop_reason":"tool_use"`))
		if api == "openai" {
			ends = bytes.Index(b, []byte(`"finish_reason":"tool_calls"`))
		}
		ends += bytes.Index(b[ends:], []byte("\n\n")) + 2
		return b
	}
	cut := 0
	srv := modeltest.Start(t, func(turn modeltest.Turn) modeltest.Answer {
		if turn.N == 0 {
			return measure
		}
		a := whole
		if turn.Asked() == "break" {
			a.Cuts, a.Cut = true, cut
		}
		return a
	})
	m, _ := open(t, srv, api, func(o *provider.Options) { o.HTTP = network(srv) })
	want, err := m.Turn(t.Context(), hello, model.Listener{})
	if err != nil {
		t.Fatal(err)
	}

	for cut = 0; cut <= length; cut += step {
		req := model.Request{Messages: []model.Message{model.Ask("break")}}
		var heard bytes.Buffer
		retries := 0
		r, err := m.Turn(t.Context(), req, model.Listener{
			Text: func(s string) { heard.WriteString(s) },
			Retry: func(r model.Retry) error {
				heard.Reset()
				if retries++; r.Reason != model.Down {
					t.Errorf("cut at %d: %v", cut, r.Err)
				}
				req.Messages[0] = model.Ask("well?") // the same slice, so the next attempt succeeds
				return nil
			},
		})
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", cut, length, err)
		}
		if broke := cut < ends; (retries == 1) != broke {
			t.Errorf("cut at %d of %d, whole from %d on: %d retries", cut, length, ends, retries)
		}
		usage := r.Usage
		r.Usage, r.Cost = want.Usage, want.Cost
		if !reflect.DeepEqual(want, r) || heard.String() != want.Text {
			t.Fatalf("cut at %d: heard %q; %s", cut, heard.String(), cmp.Diff(want, r))
		}
		attempts := 1 + retries
		if cut < begins {
			attempts = 1
		}
		if usage.Requests != attempts || attempts == 2 && usage.Input <= 100 || usage.Input < 1 || usage.Output < 1 {
			t.Errorf("cut at %d: spent %+v", cut, usage)
		}
		if api == "anthropic" && attempts == 2 && usage.Input != 200 {
			t.Errorf("cut at %d: both attempts were counted by the provider, yet we say %+v", cut, usage)
		}
	}
}

// inProcess is a network in memory: it calls the handler. A handler that aborts leaves a stream without an end.
type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	aborted := func() (aborted bool) {
		defer func() { aborted = recover() != nil }()
		p.ServeHTTP(w, r)
		return false
	}()
	resp := w.Result()
	if aborted {
		resp.Body = io.NopCloser(io.MultiReader(resp.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
	}
	return resp, nil
}

// Cancelling the context of the caller ends the turn at any point, and the cost is reported.
func TestCancelled(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{Text: strings.Repeat("on and ", 20), Cuts: true, Cut: 1500, Hang: true}))
			m, _ := open(t, srv, api)
			ctx, cancel := context.WithCancel(t.Context())
			r, err := m.Turn(ctx, hello, model.Listener{Text: func(string) { cancel() }})
			if reasonOf(t, err) != model.Cancelled || !errors.Is(err, context.Canceled) || fault.KindOf(err) != fault.Interrupted {
				t.Errorf("Turn returned the error %v; want the cancellation", err)
			}
			if r.Usage.Requests != 1 || r.Usage.Input == 0 || r.Usage.Output == 0 {
				t.Errorf("the usage is %+v; want one request with input and output", r.Usage)
			}
			if n := len(srv.Turns()); n != 1 {
				t.Errorf("the server got %d requests; want 1", n)
			}
		})
	}
	t.Run("while waiting", func(t *testing.T) {
		srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{Status: 529}))
		m, _ := open(t, srv, "anthropic", func(o *provider.Options) { o.Sleep = nil })
		ctx, cancel := context.WithCancel(t.Context())
		_, err := m.Turn(ctx, hello, model.Listener{Retry: func(model.Retry) error { cancel(); return nil }})
		if reasonOf(t, err) != model.Cancelled {
			t.Errorf("Turn returned the error %v; want the reason %v", err, model.Cancelled)
		}
	})
	t.Run("before", func(t *testing.T) {
		srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{}))
		m, _ := open(t, srv, "anthropic")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := m.Turn(ctx, hello, model.Listener{})
		if reasonOf(t, err) != model.Cancelled || len(srv.Turns()) != 0 {
			t.Errorf("Turn returned the error %v after %d requests; want the cancellation without a request", err, len(srv.Turns()))
		}
	})
}
