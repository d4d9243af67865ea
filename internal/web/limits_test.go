package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ken/internal/board"
	"ken/internal/ken"
	"ken/internal/workflow"
)

// serving is a running dashboard.
type serving struct {
	t       *testing.T
	addr    string
	connect func(context.Context) (net.Conn, error)
	stop    func() // stops the server; the end of the test does so too
	clients sync.WaitGroup
}

// serve starts a dashboard on a loopback address.
func serve(t *testing.T, deps Deps, within limits) *serving {
	t.Helper()
	return serveWith(t, deps, within, func(*Options) {})
}

// serveWith is serve with other options.
func serveWith(t *testing.T, deps Deps, within limits, change func(*Options)) *serving {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	}, deps, within, change)
}

// serveInBubble is serve for synctest.Test. Connections are in memory, so that time
// limits follow the clock of the bubble.
func serveInBubble(t *testing.T, deps Deps, within limits) *serving {
	t.Helper()
	l := &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	return serveOn(t, l, l.connect, deps, within, func(*Options) {})
}

// memoryListener accepts connections within the process.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *memoryListener) connect(context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *memoryListener) Addr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:80"))
}

func serveOn(
	t *testing.T, l net.Listener, connect func(context.Context) (net.Conn, error), deps Deps, within limits, change func(*Options),
) *serving {
	t.Helper()
	if deps.Worktrees == nil {
		deps.Worktrees = func(context.Context) ([]Worktree, error) { return []Worktree{{Name: "w", Here: true}}, nil }
	}
	opts := Options{Addr: netip.MustParseAddrPort(l.Addr().String()), Token: "the-token", Start: "the-start"}
	change(&opts)
	s, err := New(deps, opts)
	if err != nil {
		t.Fatal(err)
	}
	s.limits = within
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return &serving{t: t, addr: l.Addr().String(), connect: connect, stop: stop}
}

// patience bounds every wait.
const patience = 2 * time.Minute

// dial opens a connection and sends the beginning of a request.
func (s *serving) dial(begin string) net.Conn {
	s.t.Helper()
	conn, err := s.connect(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, strings.ReplaceAll(begin, "HOST", s.addr)); err != nil {
		s.t.Fatal(err)
	}
	return conn
}

// asks sends a request and returns the status and the body of the answer.
func (s *serving) asks(method, path, body string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.addr+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer the-token")
	req.Header.Set("Content-Type", "application/json")
	req.Close = true
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return s.connect(ctx) }}
	resp, err := (&http.Client{Timeout: patience, Transport: transport}).Do(req)
	if err != nil {
		s.t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Error(err)
	}
	return resp.StatusCode, string(b)
}

// isUp checks that the server answers another client.
func (s *serving) isUp() {
	s.t.Helper()
	if status, _ := s.asks(http.MethodGet, "/healthz", ""); status != http.StatusOK {
		s.t.Errorf("another client got status %d, want 200", status)
	}
}

// endless is a limit that the test does not reach.
const endless = time.Hour

// The server disconnects a client that does not finish the header.
func TestSlowHeaderIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, (&fakeRepo{}).deps(), limits{header: 50 * time.Millisecond, request: endless, answer: endless, write: endless})
		conn := s.dial("GET / HTTP/1.1\r\nHost: HOST\r\nX: ")
		if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("the server still waits for the rest of the header; it should disconnect")
		}
		s.isUp()
	})
}

// The server does not answer invalid requests with 200.
func TestInvalidRequestsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, boardOf("r"), limits{header: 50 * time.Millisecond, request: endless, answer: endless, write: endless})
		for _, raw := range []string{
			"\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00",
			"GET http://evil.example/ HTTP/1.1\r\nHost: HOST\r\n\r\n", "POST /api/login HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\n",
			"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\n\r\n",
		} {
			line, _ := bufio.NewReader(s.dial(raw)).ReadString('\n')
			if strings.Contains(line, " 200 ") {
				t.Errorf("%q is answered with %q", raw, line)
			}
		}
		s.isUp()
	})
}

// The server disconnects a client that does not finish the body, also at /mcp.
func TestSlowBodyIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &fakeRepo{}
		deps := g.deps()
		deps.MCP = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
		s := serveInBubble(t, deps, limits{header: endless, request: 50 * time.Millisecond, answer: endless, write: endless})
		for _, path := range []string{"/api/login", "/mcp"} {
			conn := s.dial("POST " + path + " HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer the-token\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
			if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: the server still waits for the body; it should disconnect", path)
			}
		}
		s.isUp()
	})
}

// An answer of /mcp may take any time once the request is complete.
func TestMCPAnswersHaveNoTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const whole = 50 * time.Millisecond
		deps := (&fakeRepo{}).deps()
		deps.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-r.Context().Done():
			case <-time.After(4 * whole):
				_, _ = io.WriteString(w, "at last")
			}
		})
		s := serveInBubble(t, deps, limits{header: endless, request: whole, answer: whole, write: endless})
		if _, got := s.asks(http.MethodPost, "/mcp", "{}"); got != "at last" {
			t.Errorf("the answer is %q, want \"at last\"", got)
		}
	})
}

// The server disconnects a client that does not read the answer.
func TestSlowReaderIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const large = 1 << 20 // larger than all buffers
		s := serveInBubble(t, boardOf(strings.Repeat("x", large)), limits{header: endless, request: endless, answer: endless, write: 50 * time.Millisecond})
		s.asks(http.MethodGet, "/api/board", "")
		conn := s.dial("GET /api/board HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer the-token\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		time.Sleep(time.Second) // the client does not read
		n, err := io.Copy(io.Discard, resp.Body)
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the client could read %d bytes, %v; the server should have disconnected", n, err)
		}
		s.isUp()
	})
}

// boardOf returns Deps with one board.
func boardOf(name string) Deps {
	return Deps{
		Fingerprint: func(context.Context) (Fingerprint, error) { return "1", nil },
		Board: func(context.Context, string, func(*board.Board)) (*board.Board, error) {
			return &board.Board{Repository: name, Worktrees: []board.Worktree{{Name: "w", Here: true}}}, nil
		},
	}
}

// Shutdown does not wait for a connection without a request.
func TestShutdownClosesUnusedConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, boardOf("r"), defaultLimits)
		s.dial("")
		s.isUp() // the connection is accepted now
		start := time.Now()
		s.stop()
		if took := time.Since(start); took >= shutdownTime {
			t.Errorf("shutdown took %v; it should not wait for a connection without a request", took)
		}
	})
}

// Shutdown closes streams.
func TestShutdownClosesStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, boardOf("r"), defaultLimits)
		conn := s.dial("GET /events HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer the-token\r\n\r\n")
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, " 200 ") {
			t.Fatalf("the stream begins with %q, %v", line, err)
		}
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		start := time.Now()
		s.stop()
		if took := time.Since(start); took >= shutdownTime {
			t.Errorf("shutdown took %v; it should not wait for a stream", took)
		}
		if _, err := s.connect(t.Context()); err == nil {
			t.Error("after shutdown the server still accepts connections")
		}
	})
}

// The server keeps a bounded number of connections without the token.
func TestConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, boardOf("r"), defaultLimits)
		var open atomic.Int32
		for range maxConnections + 10 {
			go func() {
				conn, err := s.connect(t.Context())
				if err != nil {
					return // the server has stopped
				}
				open.Add(1)
				defer open.Add(-1)
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
		synctest.Wait()
		if n := open.Load(); n != maxUnproven {
			t.Errorf("%d connections without the token are open at once, want %d", n, maxUnproven)
		}
	})
}

// Clients with the token wait while all connections are in use.
func TestConnectionsWithTokenAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deps := boardOf("r")
		deps.MCP = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		s := serveInBubble(t, deps, defaultLimits)
		var open atomic.Int32
		for range maxConnections + 10 {
			go func() {
				conn, err := s.connect(t.Context())
				if err != nil {
					return // the server has stopped
				}
				open.Add(1)
				defer open.Add(-1)
				_, _ = io.WriteString(conn, "GET /mcp HTTP/1.1\r\nHost: "+s.addr+"\r\nAuthorization: Bearer the-token\r\n\r\n")
				_, _ = io.Copy(io.Discard, conn)
			}()
			synctest.Wait() // until the server has read the token
		}
		if n := open.Load(); n != maxConnections {
			t.Errorf("the server accepted %d connections at once, want %d", n, maxConnections)
		}
	})
}

// A client that opens more connections than the server accepts makes others wait, and
// does not lock others out.
func TestOneClientCannotExhaustTheServer(t *testing.T) {
	const request = "GET /healthz HTTP/1.1\r\nHost: HOST\r\n\r\n"
	for name, client := range map[string]func(*serving){
		"sends nothing":        func(s *serving) { s.dial("") },
		"sends half a request": func(s *serving) { s.dial("GET / HTTP/1.1\r\nHost: HOST\r\nX: ") },
		"reads no answer":      func(s *serving) { s.dial(request) },
		"asks again and again": func(s *serving) {
			conn := s.dial(request)
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			s.clients.Go(func() {
				for {
					time.Sleep(time.Second)
					if _, err := io.WriteString(conn, strings.ReplaceAll(request, "HOST", s.addr)); err != nil {
						return // the server has hung up
					}
				}
			})
		},
		"opens streams": func(s *serving) {
			conn := s.dial("GET /events HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer the-token\r\n\r\n")
			go func() { _, _ = io.Copy(io.Discard, conn) }()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serveInBubble(t, boardOf("r"), defaultLimits)
				start := time.Now()
				for range 2 * maxConnections {
					client(s)
				}
				s.isUp()
				// Those with the token wait for each other.
				if took := time.Since(start); took > 0 && name != "opens streams" {
					t.Errorf("/healthz waited %v for other clients", took)
				}
				if status, _ := s.asks(http.MethodGet, "/api/board", ""); status != http.StatusOK {
					t.Errorf("GET /api/board: status %d, want 200", status)
				}
				s.stop()
				s.clients.Wait()
			})
		})
	}
}

// The server answers the next request after a panic.
func TestPanicDoesNotStopServer(t *testing.T) {
	var armed atomic.Value
	armed.Store("")
	boom := func(where string) {
		if armed.Load() == where {
			panic("in " + where)
		}
	}
	deps := Deps{
		Fingerprint: func(context.Context) (Fingerprint, error) {
			boom("pulse")
			return Fingerprint(armed.Load().(string)), nil
		},
		Board: func(context.Context, string, func(*board.Board)) (*board.Board, error) {
			boom("board")
			return &board.Board{Worktrees: []board.Worktree{{Name: "w"}}}, nil
		},
		Open: func(context.Context, string) (*ken.Repository, error) {
			boom("ack")
			return nil, errors.New("there is none")
		},
		OpenState: func(context.Context, string) (*workflow.Manager, error) {
			boom("restore")
			return nil, errors.New("there is none")
		},
	}
	s := serve(t, deps, defaultLimits)
	for where, ask := range map[string][3]string{
		"pulse":   {http.MethodGet, "/api/board"},
		"board":   {http.MethodGet, "/api/board"},
		"ack":     {http.MethodPost, "/api/spec/a/ack", `{"reason":"x"}`},
		"restore": {http.MethodPost, "/api/state/restore", `{"snapshot":"x"}`},
	} {
		armed.Store(where)
		req, _ := http.NewRequestWithContext(t.Context(), ask[0], "http://"+s.addr+ask[1], strings.NewReader(ask[2]))
		req.Header.Set("Authorization", "Bearer the-token")
		req.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(req); err == nil { // else the server disconnected
			if resp.StatusCode != http.StatusInternalServerError {
				t.Errorf("panic in %s: %s, want 500", where, resp.Status)
			}
			resp.Body.Close()
		}
		armed.Store("")
		if status, _ := s.asks(ask[0], ask[1], ask[2]); status != http.StatusOK && status != http.StatusInternalServerError {
			t.Errorf("after a panic in %s: status %d, want 200 or 500", where, status)
		}
	}
}
