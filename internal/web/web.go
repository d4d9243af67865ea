// Package web is the dashboard: pages that are made on the server, a JSON interface that
// mirrors --json, and a stream of events that tells open pages when to look again.
//
// It decides nothing about a repository. What is shown is a [board.Board], made and
// kept for as long as a cheap look at the repository says that nothing has moved; what
// opens a repository, takes that look and watches for changes comes in from outside.
// The package does decide who may ask: see guard.go.
package web

import (
	"context"
	"embed"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"ken/internal/board"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/workflow"
)

// Deps is what the dashboard needs from outside.
type Deps struct {
	Version string
	// Worktrees lists the checkouts of the repository, the one that was asked from
	// marked.
	Worktrees func(ctx context.Context) ([]Worktree, error)
	// Board sums up one of them; tell gets what there is so far, part by part.
	Board func(ctx context.Context, worktree string, tell func(*board.Board)) (*board.Board, error)
	// Fingerprint takes a cheap look: while it is the same, so is the board.
	Fingerprint func(ctx context.Context, worktree string) (Fingerprint, error)
	// Watch calls nudge soon after something may have changed, until ctx ends. It
	// need not notice everything; nil when there is no such thing.
	Watch func(ctx context.Context, nudge func())
	// Open opens a worktree.
	Open func(ctx context.Context, worktree string) (Workspace, error)
	// OpenState opens the state directory of a worktree.
	OpenState func(ctx context.Context, worktree string) (StateSpace, error)
	// MCP serves agents; nil when nobody does.
	MCP http.Handler
}

// A Worktree is a checkout of the repository.
type Worktree struct {
	Name string
	Here bool
	Dir  string // where it lies
	// AtHand is whether commands that are pasted where the server was started begin at
	// its root. Others have to name it.
	AtHand bool
}

// A Fingerprint is a cheap look at a repository.
type Fingerprint struct {
	Key   string // of everything that a board is made from
	Specs string // of the spec files alone, whose words a board does not have
	Texts string // of where summaries are kept, for the same reason
}

// A Workspace is an open worktree, as a page needs it.
type Workspace interface {
	Spec() *spec.Reader
	// Show tells what is said of a directory and those below it, and writes nothing.
	Show(ctx context.Context, within repo.Path) (*survey.Shown, error)
	// Summaries tells what is said of files, in the order asked, and writes nothing.
	Summaries(ctx context.Context, paths []repo.Path) ([]registry.Knowledge, error)
	Close() error
}

// A StateSpace is an open state directory, as a page needs it.
type StateSpace interface {
	Keeper() *workflow.Keeper
	Close() error
}

//go:embed assets templates
var files embed.FS

// A Server is one dashboard.
type Server struct {
	deps    Deps
	limits  limits
	guard   *guard
	boards  *boardCache
	hub     *hub
	pages   *pages
	stories *storyCache

	// writing is held by whoever changes the repository: of two that would, the second
	// sees what the first did.
	writing sync.Mutex
	reads   readLimit
}

// New returns a dashboard. Its addresses are those that it will be reached under.
func New(deps Deps, opts Options) (*Server, error) {
	if opts.Token == "" {
		return nil, errors.New("serve: without a token anybody could write")
	}
	p, err := loadPages()
	if err != nil {
		return nil, err
	}
	s := &Server{deps: deps, limits: defaultLimits, guard: newGuard(opts), pages: p, hub: newHub(), stories: newStoryCache(), reads: make(readLimit, maxReads)}
	s.boards = newBoardCache(deps)
	s.boards.tell = s.hub.publish
	return s, nil
}

// limits is how long anything may take.
type limits struct {
	header  time.Duration // to send the head of a request
	request time.Duration // to send all of it
	answer  time.Duration // to begin to be answered, once a request is there
	write   time.Duration // for a reader to take in one more piece
}

var defaultLimits = limits{header: 5 * time.Second, request: 15 * time.Second, answer: time.Minute, write: 10 * time.Second}

// How much there may be of it.
const (
	shutdownTime   = 3 * time.Second
	maxHeader      = 32 << 10
	maxBody        = 256 << 10
	maxMessage     = 8 << 20 // of an agent, which may describe many files at once
	maxConnections = 512
	boardTime      = 45 * time.Second       // how long a program waits for a board
	firstPaint     = 250 * time.Millisecond // how long a page does
	heartbeat      = 15 * time.Second
	writeChunk     = 64 << 10
)

// Serve answers on a listener until ctx ends, then lets what is under way finish.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.boards.ctx = ctx
	var watching sync.WaitGroup
	watching.Go(func() { s.watch(ctx) })
	var silent sync.Map // connections that have not sent a byte
	srv := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: s.limits.header,
		ReadTimeout:       s.limits.request,
		MaxHeaderBytes:    maxHeader,
		ConnState: func(conn net.Conn, state http.ConnState) {
			if state == http.StateNew {
				silent.Store(conn, nil)
			} else {
				silent.Delete(conn)
			}
		},
	}
	// Each connection carries one request, so the limits above end it. A client that
	// holds all connections makes others wait, but cannot keep them out.
	srv.SetKeepAlivesEnabled(false)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(netutil.LimitListener(l, maxConnections)) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		s.hub.close() // streams would never finish
		// Browsers open connections ahead of time, and Shutdown waits for those.
		silent.Range(func(conn, _ any) bool {
			_ = conn.(net.Conn).Close()
			return true
		})
		end, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer stop()
		if srv.Shutdown(end) != nil {
			err = srv.Close()
		}
	}
	cancel()
	s.hub.close()
	watching.Wait()
	s.boards.wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// handler returns what answers requests, behind the guard.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page(s.boardPage))
	mux.HandleFunc("GET /node/{id}", s.page(s.nodePage))
	mux.HandleFunc("GET /node/{id}/patch/{commit}", s.page(s.patchPage))
	mux.HandleFunc("GET /map", s.page(s.mapPage))
	mux.HandleFunc("GET /files", s.page(s.filesPage))
	mux.HandleFunc("GET /file", s.page(s.filePage))
	mux.HandleFunc("GET /state", s.page(s.statePage))
	mux.HandleFunc("GET /worktrees", s.page(s.worktreesPage))
	mux.HandleFunc("GET /sessions", func(w http.ResponseWriter, r *http.Request) {
		to := url.URL{Path: "/worktrees", RawQuery: r.URL.RawQuery}
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
	})
	mux.HandleFunc("GET /login", s.page(s.loginPage))
	mux.HandleFunc("GET /assets/{name}", s.asset)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n"))
	})
	s.handleAPI(mux)
	if s.deps.MCP != nil {
		mux.Handle("/mcp", s.deps.MCP)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoPage) })
	return s.guard.protect(s.limits.answer, mux, s.fail)
}
