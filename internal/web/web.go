// Package web is the dashboard: pages rendered on the server, an HTTP API that mirrors
// --json, and an event stream that tells open pages when to fetch themselves again.
//
// The package contains no rules about a repository. It shows a [board.Board], cached
// while a fingerprint of the repository stays the same. Deps opens repositories, takes
// fingerprints and watches for changes. The package does decide who has access: see
// guard.go.
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
	"ken/internal/ken"
	"ken/internal/workflow"
)

// Deps are the functions that the dashboard needs from the program.
type Deps struct {
	Version string
	// Worktrees lists the checkouts of the repository.
	Worktrees func(ctx context.Context) ([]Worktree, error)
	// Board builds the board of a worktree. It calls onPart with the unfinished board
	// whenever a part is ready.
	Board func(ctx context.Context, worktree string, onPart func(*board.Board)) (*board.Board, error)
	// Fingerprint returns the current fingerprint of the repository.
	Fingerprint func(context.Context) (Fingerprint, error)
	// Watch calls notify soon after something may have changed, until ctx ends. It may miss
	// changes. It may be nil.
	Watch func(ctx context.Context, notify func())
	// Open opens a worktree for reading: features record no check until ReadOnly is nil.
	Open func(ctx context.Context, worktree string) (*ken.Repository, error)
	// OpenState opens the state directory of a worktree.
	OpenState func(ctx context.Context, worktree string) (*workflow.Manager, error)
	// Close ends what runs in the background. It may be nil.
	Close func()
	// Editor is the address that opens a file in the user's editor, with {path} and
	// {line}. "" means [DefaultEditor].
	Editor string
	// Remote returns the remote of a worktree. It may be nil.
	Remote func(ctx context.Context, worktree string) (Remote, error)
	// MCP serves agents. It may be nil.
	MCP http.Handler
}

// A Worktree is a checkout of the repository.
type Worktree struct {
	Name string
	Here bool
	Dir  string // its root directory
	// IsStartDir reports whether the server was started in Dir, so that commands need no -C.
	IsStartDir bool
}

// A Fingerprint changes when anything changes that pages depend on, in any worktree. It is computed from file stats,
// without reading contents.
type Fingerprint string

//go:embed assets templates
var files embed.FS

// A Server is one dashboard.
type Server struct {
	deps      Deps
	limits    limits
	guard     *guard
	boards    *boardCache
	hub       *hub
	pages     *pages
	histories *historyCache

	// writing is locked by requests that change the repository, so the second of two sees
	// what the first did.
	writing sync.Mutex
	reads   readLimit

	searches searches
	reviews  reviewCache
}

// New returns a dashboard. It fails without a token.
func New(deps Deps, opts Options) (*Server, error) {
	if opts.Token == "" {
		return nil, errors.New("serve: no token")
	}
	p, err := loadPages()
	if err != nil {
		return nil, err
	}
	s := &Server{deps: deps, limits: defaultLimits, guard: newGuard(opts), pages: p, hub: newHub(), histories: newHistoryCache(), reads: make(readLimit, maxReads)}
	s.reviews.review, s.searches.find = s.reviewWorktree, s.findInWorktree
	s.boards = newBoardCache(deps)
	s.boards.onPart = s.hub.publish
	return s, nil
}

// limits are the longest times that the steps of a request may take.
type limits struct {
	header  time.Duration // to send the header of a request
	request time.Duration // to send the whole request
	answer  time.Duration // until the answer begins
	write   time.Duration // to read one chunk of the answer
}

var defaultLimits = limits{header: 5 * time.Second, request: 15 * time.Second, answer: time.Minute, write: 10 * time.Second}

// Other limits.
const (
	shutdownTime   = 3 * time.Second
	maxHeader      = 32 << 10
	maxBody        = 256 << 10
	maxMessage     = 8 << 20 // of a call to /mcp, which may have many summaries
	maxConnections = 512
	boardTime      = 45 * time.Second       // how long an API request waits for a board
	firstPaint     = 250 * time.Millisecond // how long a page waits for a board
	heartbeat      = 15 * time.Second
	writeChunk     = 64 << 10
)

// Serve answers on listeners until ctx ends, then waits for running requests.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.boards.ctx = ctx
	var watching sync.WaitGroup
	watching.Go(func() { s.watch(ctx) })
	srv := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: s.limits.header,
		ReadTimeout:       s.limits.request,
		MaxHeaderBytes:    maxHeader,
	}
	limiter := &connLimiter{}
	limiter.attach(srv)
	// Each connection carries one request, so the limits above end it.
	srv.SetKeepAlivesEnabled(false)
	done := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { done <- srv.Serve(netutil.LimitListener(l, maxConnections)) }()
	}
	var err error
	select {
	case err = <-done:
		_ = srv.Close() // the other listeners
	case <-ctx.Done():
		s.hub.close()      // streams do not end by themselves
		limiter.closeAll() // browsers open connections ahead of time, and Shutdown would wait for them
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
	if s.deps.Close != nil {
		s.deps.Close()
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// handler returns the routes behind the guard.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page(s.homePage))
	mux.HandleFunc("GET /attention/summary", s.page(s.summaryDetailPage))
	mux.HandleFunc("GET /attention/drift", s.page(s.driftDetailPage))
	mux.HandleFunc("GET /attention/mention", s.page(s.mentionPage))
	mux.HandleFunc("GET /specs", s.page(s.specsPage))
	mux.HandleFunc("GET /documents", s.page(s.documentsPage))
	mux.HandleFunc("GET /review", s.page(s.reviewPage))
	mux.HandleFunc("GET /review/change", s.page(s.reviewPartPage))
	mux.HandleFunc("GET /node/{id}", s.page(s.nodePage))
	mux.HandleFunc("GET /node/{id}/patch/{commit}", s.page(s.patchPage))
	mux.HandleFunc("GET /map", s.page(s.mapPage))
	mux.HandleFunc("GET /files", s.page(s.filesPage))
	mux.HandleFunc("GET /file", s.page(s.filePage))
	mux.HandleFunc("GET /brief", s.page(s.briefPage))
	mux.HandleFunc("GET /state", s.page(s.statePage))
	mux.HandleFunc("GET /worktrees", s.page(func(r *http.Request) (*pageData, error) { return s.newPage(r, "worktrees", "Worktrees") }))
	mux.HandleFunc("GET /sessions", func(w http.ResponseWriter, r *http.Request) {
		to := url.URL{Path: "/worktrees", RawQuery: r.URL.RawQuery}
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
	})
	mux.HandleFunc("GET /login", s.page(s.loginPage))
	mux.HandleFunc("GET /assets/{name}", s.asset)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /healthz", s.guard.healthz)
	s.handleAPI(mux)
	if s.deps.MCP != nil {
		mux.Handle("/mcp", s.deps.MCP)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoPage) })
	return s.guard.protect(s.limits.answer, mux, s.fail)
}
