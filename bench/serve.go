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
	"strings"
	"time"
)

// The limits of ken serve.
const (
	servePageBudget  = 40 * time.Millisecond
	servePageBytes   = 200_000
	serveEventBudget = time.Second
	serveMemory      = 150_000_000
	servePages       = 20
	serveNewsRounds  = 5

	servePageWork = "serve, the page of specs"
)

// serveWorks fills the rows of ken serve.
func (b *bench) serveWorks(ctx context.Context) error {
	if !b.only.MatchString(servePageWork) {
		return nil
	}
	s, err := b.repository(ctx, plan{files: codeFiles, commits: b.commits, specs: specCount})
	if err != nil {
		return err
	}
	progress("%s, %d specs", servePageWork, specCount)
	if err := s.served(ctx); err != nil {
		return fmt.Errorf("%s: %w", servePageWork, err)
	}
	return nil
}

// A serving is a dashboard under measurement.
type serving struct {
	*site
	base  string
	token string
	pid   int
}

// served serves the repository while it is measured.
func (s *site) served(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, s.ken, "serve", "--json")
	cmd.Dir = s.dir
	cmd.Env = s.env
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
	var said struct{ URL, Addr string }
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		return fmt.Errorf("ken serve said nothing: %w", err)
	}
	_, token, _ := strings.Cut(said.URL, "/#token=")
	page := &serving{site: s, base: "http://" + said.Addr, token: token, pid: cmd.Process.Pid}
	if _, err := page.get(ctx, "/api/board"); err != nil { // which waits until there is one
		return err
	}
	return page.measure(ctx)
}

// open asks for a page.
func (s *serving) open(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	return http.DefaultClient.Do(req)
}

// get fetches a page.
func (s *serving) get(ctx context.Context, path string) ([]byte, error) {
	resp, err := s.open(ctx, path)
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

// measure fetches the page of the specs again and again. Each must have the last spec. Then it opens many pages.
func (s *serving) measure(ctx context.Context) error {
	var times []time.Duration
	for round := range 3*s.rounds + 1 {
		start := time.Now()
		body, err := s.get(ctx, "/specs")
		took := time.Since(start)
		if err != nil {
			return err
		}
		n := strings.Count(string(body), `<li id="n-`)
		if n < s.plan.specs || len(body) > servePageBytes {
			return fmt.Errorf("the page has %d specs of %d and %d bytes", n, s.plan.specs, len(body))
		}
		if round > 0 {
			times = append(times, took)
		}
	}
	s.rows = append(s.rows,
		row{work: servePageWork, files: s.plan.specs, unit: "specs", ken: median(times), budget: servePageBudget})
	return s.openPages(ctx)
}

// openPages opens many pages and makes commits. Each page must hear of each.
func (s *serving) openPages(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	memory := watchMemory(s.pid)
	pages := make([]<-chan time.Time, servePages)
	for i := range pages {
		var err error
		if pages[i], err = s.listen(ctx); err != nil {
			return err
		}
	}
	defer func() {
		_ = git(context.WithoutCancel(ctx), s.dir, s.env, nil, "reset", "--quiet", "--soft", "origin/main")
	}()
	var last time.Duration
	missed := 0
	for range serveNewsRounds {
		if err := git(ctx, s.dir, s.env, nil, "commit", "--quiet", "--allow-empty", "--message", "news"); err != nil {
			return err
		}
		committed := time.Now()
		for _, events := range pages {
			took, ok := waitForEvent(events, committed)
			if !ok {
				missed++
			}
			last = max(last, took)
		}
	}
	s.rows = append(s.rows,
		row{work: "serve, from a commit to the event", files: servePages, unit: "pages", ken: last, budget: serveEventBudget},
		row{work: "serve, updates missed", files: servePages, unit: "pages", counted: true, count: missed},
		row{work: "serve, memory", files: servePages, unit: "pages", memory: memory(), memoryBudget: serveMemory})
	return nil
}

// listen opens a page's stream of events, and sends the time of each.
func (s *serving) listen(ctx context.Context) (<-chan time.Time, error) {
	resp, err := s.open(ctx, "/events") //nolint:bodyclose // the goroutine closes it
	if err != nil {
		return nil, err
	}
	events := make(chan time.Time, 1000)
	go func() {
		defer resp.Body.Close() //nolint:errcheck // it was only read
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "id: ") {
				events <- time.Now()
			}
		}
	}()
	return events, nil
}

// waitForEvent returns how long after a moment a page heard of something.
func waitForEvent(events <-chan time.Time, moment time.Time) (took time.Duration, ok bool) {
	over := time.After(5 * serveEventBudget)
	for {
		select {
		case at := <-events:
			if at.After(moment) {
				return at.Sub(moment), true
			}
		case <-over:
			return 0, false
		}
	}
}
