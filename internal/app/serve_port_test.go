package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"ken/internal/cli"
	"ken/internal/dashboard"
	"ken/internal/git"
	"ken/internal/testrepo"
)

// A dashboardRun is one call of serve.
type dashboardRun struct {
	at    cli.DashboardAddress
	taken uint16 // the port that was in use, 0 if none
	stop  func()
}

// runServe calls serve and waits for the address.
func runServe(t *testing.T, dir string, opts cli.ServeOptions) *dashboardRun {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	run := &dashboardRun{}
	ready, done := make(chan cli.DashboardAddress, 1), make(chan error, 1)
	opts.Ready = func(s cli.DashboardAddress) { ready <- s }
	opts.Taken = func(port uint16) { run.taken = port }
	go func() { done <- serve(ctx, dir, opts) }()
	select {
	case run.at = <-ready:
	case err := <-done:
		t.Fatalf("ken serve ended before it had an address: %v", err)
	}
	run.stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve returned the error %v", err)
		}
	}
	t.Cleanup(func() { cancel() })
	return run
}

// A repository keeps its port, and a second ken serve gives the address of the first.
func TestServeKeepsPort(t *testing.T) {
	r := specced(t)
	first := runServe(t, r.Dir, cli.ServeOptions{})
	if first.at.Running || first.taken != 0 {
		t.Fatalf("the first server is %+v; port %d was in use", first.at, first.taken)
	}
	second := runServe(t, r.Path(".spec"), cli.ServeOptions{})
	if !second.at.Running || second.at.URL != first.at.URL {
		t.Errorf("the second ken serve says %+v, want the address of the first, %+v", second.at, first.at)
	}
	second.stop() // it has ended by itself
	linked := r.Path("../linked")
	r.Git("worktree", "add", "-q", "-b", "side", linked)
	third := runServe(t, linked, cli.ServeOptions{})
	if want := strings.Replace(first.at.URL, "/#", "/?w=linked#", 1); !third.at.Running || third.at.URL != want {
		t.Errorf("ken serve in a linked worktree says %+v, want %s", third.at, want)
	}
	named := runServe(t, r.Dir, cli.ServeOptions{Addr: "127.0.0.1:0"})
	if named.at.Running || named.at.Addr == first.at.Addr {
		t.Errorf("with an address of its own the server is %+v", named.at)
	}
	named.stop()
	first.stop()
	again := runServe(t, r.Dir, cli.ServeOptions{})
	if again.at.Running || again.at.Addr != first.at.Addr {
		t.Errorf("after a restart the server is %+v, want the address %s", again.at, first.at.Addr)
	}
	if again.at.URL == first.at.URL || !strings.Contains(again.at.URL, ".localhost:") {
		t.Errorf("after a restart the page is at %s, before it was at %s; want a new name", again.at.URL, first.at.URL)
	}
	again.stop()
}

// A program that has the port of the repository is not taken for its dashboard, even if
// it asks the real one for the proof.
func TestServeOnTakenPort(t *testing.T) {
	for name, real := range map[string]bool{"another program": false, "a program that passes the challenge on": true} {
		t.Run(name, func(t *testing.T) {
			r := testrepo.New(t)
			r.Write("a.go", "package a\n")
			r.Commit("begin")
			g, err := git.Open(t.Context(), r.Dir)
			if err != nil {
				t.Fatal(err)
			}
			l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", dashboard.Port(g.CommonDir())))
			if err != nil {
				t.Fatal(err)
			}
			var answer http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
			if real {
				behind := runServe(t, r.Dir, cli.ServeOptions{Addr: "127.0.0.1:0"})
				defer behind.stop()
				to := &url.URL{Scheme: "http", Host: behind.at.Addr}
				answer = &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) }}
			} else if _, err := dashboard.Token(g.CommonDir(), false); err != nil {
				t.Fatal(err)
			}
			impostor := httptest.NewUnstartedServer(answer)
			_ = impostor.Listener.Close()
			impostor.Listener = l
			impostor.Start()
			defer impostor.Close()
			run := runServe(t, r.Dir, cli.ServeOptions{})
			if run.at.Running || run.taken != dashboard.Port(g.CommonDir()) || run.at.Addr == l.Addr().String() {
				t.Errorf("the server is %+v, and port %d was reported as in use; want another port than %s", run.at, run.taken, l.Addr())
			}
			run.stop()
		})
	}
}

// Browsers look for the name of a dashboard at both loopback addresses. If another program has one of them, ken uses
// another port.
func TestServeHasBothLoopbackAddresses(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("begin")
	g, err := git.Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	listen := func(host, port string) (net.Listener, error) {
		return new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(host, port))
	}
	own := fmt.Sprint(dashboard.Port(g.CommonDir()))
	hosts, addrs := []string{"127.0.0.1"}, []string{"", "127.0.0.1:0", "0.0.0.0:0", ":0"}
	if other, err := listen("::1", own); err == nil { // this machine has IPv6
		hosts, addrs = append(hosts, "::1"), append(addrs, "[::1]:0")
		run := runServe(t, r.Dir, cli.ServeOptions{})
		if run.taken == 0 || run.at.Addr == "127.0.0.1:"+own {
			t.Errorf("the server is %+v, where another program has [::1]:%s", run.at, own)
		}
		run.stop()
		err := serve(t.Context(), r.Dir, cli.ServeOptions{Addr: "127.0.0.1:" + own})
		if err == nil || !strings.Contains(err.Error(), "listen on [::1]:"+own) {
			t.Errorf("with the address of another program, ken serve returned %v", err)
		}
		_ = other.Close()
	}
	for _, addr := range addrs {
		run := runServe(t, r.Dir, cli.ServeOptions{Addr: addr})
		_, port, _ := net.SplitHostPort(run.at.Addr)
		for _, host := range hosts {
			if l, err := listen(host, port); err == nil {
				_ = l.Close()
				t.Errorf("ken serve --addr %q: another program could listen on %s, port %s", addr, host, port)
			}
			resp, err := http.Get("http://" + net.JoinHostPort(host, port) + "/healthz") //nolint:noctx // it answers at once
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("ken serve --addr %q does not answer at %s: %v", addr, host, err)
			}
			if err == nil {
				_ = resp.Body.Close()
			}
		}
		run.stop()
	}
}
