package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ken/internal/fault"
	"ken/internal/model"
	"ken/internal/model/modeltest"
	"ken/internal/model/provider"
)

var _ model.Model = (*provider.Model)(nil)

// apis are the providers that modeltest implements.
var apis = []string{provider.Anthropic, provider.OpenAI}

// A waiter is a clock with waits that take no time.
type waiter struct {
	mu    sync.Mutex
	waits []time.Duration
}

func (w *waiter) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits = append(w.waits, d)
	return ctx.Err()
}

func (w *waiter) all() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.waits)
}

// env returns an environment with only these variables.
func env(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// open returns a model of srv. It records waits and does not wait.
func open(t testing.TB, srv *modeltest.Server, api string, change ...func(*provider.Options)) (*provider.Model, *waiter) {
	t.Helper()
	w := &waiter{}
	opts := provider.Options{Getenv: env(srv.Env()...), Sleep: w.sleep, Rand: func() float64 { return 0 }}
	for _, f := range change {
		f(&opts)
	}
	m, err := provider.New(provider.Config{
		Provider: api, Model: "m-1",
		Prices: map[string]model.Price{"m-1": {Input: 10, Cached: 1, Written: 12, Output: 100}},
	}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m, w
}

// hello is the simplest request.
var hello = model.Request{System: "be brief", Messages: []model.Message{model.Ask("hello?")}}

// reasonOf returns why a turn failed. The error must have a hint and no line break.
func reasonOf(t testing.TB, err error) model.Reason {
	t.Helper()
	f, ok := errors.AsType[*model.Failure](err)
	if !ok {
		t.Fatalf("error %v is not a failure", err)
	}
	if fault.HintOf(err) == "" {
		t.Errorf("error %v has no hint", err)
	}
	for _, s := range []string{err.Error(), fault.HintOf(err)} {
		if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("%q holds control characters", s)
		}
	}
	return f.Reason
}

func args(s string) json.RawMessage { return json.RawMessage(s) }
