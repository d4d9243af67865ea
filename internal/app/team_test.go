package app

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ken/internal/cli"
	"ken/internal/ken"
	"ken/internal/pgtest"
	"ken/internal/registry"
)

// The dashboard shows summaries of colleagues without a command in this clone.
func TestServeFollowsTeam(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("KEN_STORE", pgtest.Database(t))
	r := specced(t)
	colleague, err := ken.OpenWithTeam(t.Context(), ken.Options{Dir: r.Clone().Dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := colleague.Registry.Write(t.Context(), []registry.Update{{Path: "api.go", Text: "By a colleague."}}); err != nil {
		t.Fatal(err)
	}
	if err := colleague.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	at, done := make(chan cli.DashboardAddress, 1), make(chan error, 1)
	go func() {
		done <- serve(ctx, r.Dir, cli.ServeOptions{Addr: "127.0.0.1:0", Ready: func(s cli.DashboardAddress) { at <- s }})
	}()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	var where cli.DashboardAddress
	select {
	case where = <-at:
	case err := <-done:
		t.Fatalf("the server ended before it listened: %v", err)
	}
	base, err := url.Parse(where.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, base: "http://" + where.Addr, token: strings.TrimPrefix(base.Fragment, "token=")}
	for deadline := time.Now().Add(patience); ; {
		body := s.gives(http.StatusOK, call{path: "/api/summary?path=api.go"})
		if strings.Contains(body, "By a colleague.") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("it says\n%s", body)
		}
	}
}
