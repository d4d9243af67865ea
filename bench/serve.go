package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of ken serve.
const (
	servePageBudget  = 20 * time.Millisecond
	servePageBytes   = 100_000
	serveLargeBudget = time.Second
	serveEventBudget = time.Second
	serveMemory      = 150_000_000
	servePages       = 200

	serveNodes      = 200
	serveManyNodes  = 4000
	serveCommits    = 2000
	serveNewsRounds = 5
)

// The works.
const (
	servePageWork   = "serve, board, warm"
	serveBytesWork  = "serve, board, bytes beyond 100 kB"
	serveLargeWork  = "serve, board of many, warm"
	serveEventWork  = "serve, from a commit to the event"
	serveMissedWork = "serve, 200 open pages, updates missed"
	serveMemoryWork = "serve, 200 open pages, memory"
)

// serveWorks fills the rows of ken serve.
func (b *bench) serveWorks(ctx context.Context) error {
	if b.anyOf(servePageWork, serveBytesWork, serveEventWork, serveMissedWork, serveMemoryWork) {
		progress("%s, %d nodes", servePageWork, serveNodes)
		if err := b.served(ctx, serveNodes, (*serving).ordinary); err != nil {
			return fmt.Errorf("%s: %w", servePageWork, err)
		}
	}
	if b.anyOf(serveLargeWork) {
		progress("%s, %d nodes", serveLargeWork, serveManyNodes)
		if err := b.served(ctx, serveManyNodes, (*serving).large); err != nil {
			return fmt.Errorf("%s: %w", serveLargeWork, err)
		}
	}
	return nil
}

// A serving is a dashboard under measurement.
type serving struct {
	*bench
	dir   string
	base  string
	token string
	pid   int
	nodes int
}

// served serves a repository with so many nodes for as long as do takes.
func (b *bench) served(ctx context.Context, nodes int, do func(*serving, context.Context) error) (err error) {
	dir, err := specRepository(ctx, b.dir, b.env, specPlan{serveCommits, nodes, 4})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, b.ken, "serve", "--json")
	cmd.Dir, cmd.Env = dir, b.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return err
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // it was interrupted
	}()
	var said struct{ URL string }
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		return fmt.Errorf("ken serve said nothing: %w", err)
	}
	s := &serving{bench: b, dir: dir, pid: cmd.Process.Pid, nodes: nodes}
	s.base, s.token, _ = strings.Cut(said.URL, "/#token=")
	if _, err := s.get(ctx, "/api/board"); err != nil { // which waits until there is one
		return err
	}
	return do(s, ctx)
}

// get fetches a page.
func (s *serving) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", path, resp.Status, tail(body))
	}
	return body, err
}

// timed fetches the page of the specs again and again. Each must have the last node.
func (s *serving) timed(ctx context.Context) (wall time.Duration, size int, err error) {
	var times []time.Duration
	for round := range 3*s.rounds + 1 {
		start := time.Now()
		body, err := s.get(ctx, "/specs")
		took := time.Since(start)
		if err != nil {
			return 0, 0, err
		}
		if n := strings.Count(string(body), `<li id="n-`); n < s.nodes {
			return 0, 0, fmt.Errorf("the page shows %d nodes of %d", n, s.nodes)
		}
		size = len(body)
		if round > 0 {
			times = append(times, took)
		}
	}
	return median(times), size, nil
}

func (s *serving) large(ctx context.Context) error {
	wall, _, err := s.timed(ctx)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, row{work: serveLargeWork, files: s.nodes, unit: "nodes", ken: wall, budget: serveLargeBudget})
	return nil
}

func (s *serving) ordinary(ctx context.Context) error {
	wall, size, err := s.timed(ctx)
	if err != nil {
		return err
	}
	s.rows = append(s.rows,
		row{work: servePageWork, files: s.nodes, unit: "nodes", ken: wall, budget: servePageBudget},
		row{work: serveBytesWork, files: s.nodes, unit: "nodes", counted: true, count: max(0, size-servePageBytes)})
	return s.manyStreams(ctx)
}

// manyStreams opens many streams and makes commits: each must be heard of, by all.
func (s *serving) manyStreams(ctx context.Context) error {
	memory := watchMemory(s.pid)
	var pages []*listener
	defer func() {
		for _, p := range pages {
			p.close()
		}
	}()
	for range servePages {
		p, err := s.listen(ctx)
		if err != nil {
			return err
		}
		pages = append(pages, p)
	}
	head, err := command{args: []string{"git", "rev-parse", "HEAD"}, dir: s.dir, env: s.env}.run(ctx)
	if err != nil {
		return err
	}
	defer s.undo(ctx, strings.TrimSpace(string(head.stdout)))
	var heard []time.Duration
	missed := 0
	for round := range serveNewsRounds {
		for _, p := range pages {
			p.news.Store(0)
		}
		name := filepath.Join(s.dir, "serve-bench.txt")
		if err := os.WriteFile(name, []byte(fmt.Sprint(round)), 0o600); err != nil {
			return err
		}
		for _, args := range [][]string{{"git", "add", name}, {"git", "commit", "-q", "-m", "news"}} {
			if _, err := (command{args: args, dir: s.dir, env: s.env}).run(ctx); err != nil {
				return err
			}
		}
		committed := time.Now()
		for _, p := range pages {
			at, ok := p.after(committed, 5*serveEventBudget)
			if !ok {
				missed++
				continue
			}
			heard = append(heard, at.Sub(committed))
		}
	}
	var last time.Duration
	for _, h := range heard {
		last = max(last, h)
	}
	s.rows = append(s.rows,
		row{work: serveEventWork, files: servePages, unit: "pages", ken: last, budget: serveEventBudget},
		row{work: serveMissedWork, counted: true, count: missed},
		row{work: serveMemoryWork, memory: memory(), memoryBudget: serveMemory})
	return nil
}

// undo takes the commits back, so that the repository can be used again.
func (s *serving) undo(ctx context.Context, head string) {
	_, _ = command{args: []string{"git", "reset", "-q", "--hard", head}, dir: s.dir, env: s.env}.run(context.WithoutCancel(ctx))
}

// A listener is one open page's stream.
type listener struct {
	close func()
	news  atomic.Int64 // when it last heard something, in nanoseconds
	wake  chan struct{}
}

func (s *serving) listen(ctx context.Context) (*listener, error) {
	ctx, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/events", nil)
	if err != nil {
		cancel()
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := new(http.Client).Do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	l := &listener{wake: make(chan struct{}, 1)}
	var done sync.WaitGroup
	l.close = func() { cancel(); done.Wait() }
	done.Go(func() {
		defer resp.Body.Close() //nolint:errcheck // it was only read
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "id: ") {
				l.news.Store(time.Now().UnixNano())
				select {
				case l.wake <- struct{}{}:
				default:
				}
			}
		}
	})
	return l, nil
}

// after returns when the page heard something after a moment.
func (l *listener) after(moment time.Time, patience time.Duration) (time.Time, bool) {
	over := time.NewTimer(patience - time.Since(moment))
	defer over.Stop()
	for {
		if at := time.Unix(0, l.news.Load()); at.After(moment) {
			return at, true
		}
		select {
		case <-l.wake:
		case <-over.C:
			return time.Time{}, false
		}
	}
}
