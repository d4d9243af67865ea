package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ken/internal/model"
	"ken/internal/model/modeltest"
	"ken/internal/pgtest"
)

// The limits of workers: four of them, with one job each, against one. The model takes the same time for each
// directory.
const (
	workersAtMost  = 1 / 3.5
	workersLatency = 200 * time.Millisecond
	workersMany    = 4

	workersWork = "survey run --workers, 4 workers"
	earlyWork   = "a parent before its child"
)

// workerDirectories are 400, at most four deep.
func workerDirectories() []string {
	dirs := []string{"."}
	var grow func(at string, widths ...int)
	grow = func(at string, widths ...int) {
		if len(widths) == 0 {
			return
		}
		for i := range widths[0] {
			d := path.Join(at, fmt.Sprintf("%s%d", vocabulary[25+len(widths)], i))
			dirs = append(dirs, d)
			grow(d, widths[1:]...)
		}
	}
	grow(".", 5, 3, 5, 4)
	for i := range 4 {
		dirs = append(dirs, fmt.Sprintf("extra%d", i))
	}
	return dirs
}

// workerWorks fills the rows of ken worker.
func (b *bench) workerWorks(ctx context.Context) (err error) {
	if !b.anyOf(workersWork, earlyWork) {
		return nil
	}
	server, err := pgtest.Run()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	dirs := workerDirectories()
	repo := filepath.Join(b.tmp, "workers")
	for _, d := range dirs {
		if err := os.MkdirAll(filepath.Join(repo, d), 0o755); err != nil {
			return err
		}
		text := fmt.Sprintf("// Package x is %s.\npackage x\n\n// X says where it is.\nconst X = %q\n", d, d)
		if err := os.WriteFile(filepath.Join(repo, d, "x.go"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "first"},
	} {
		if _, err := (command{args: append([]string{"git"}, args...), dir: repo, env: b.env}).run(ctx); err != nil {
			return err
		}
	}
	s := &workerSite{bench: b, repo: repo, dirs: dirs}
	took := make(map[int]time.Duration)
	for _, n := range []int{1, workersMany} {
		progress("survey by %d workers, %d directories", n, len(dirs))
		name, err := server.Create(ctx)
		if err != nil {
			return err
		}
		if took[n], err = s.survey(ctx, server.Address("postgres", "", name), n); err != nil {
			return fmt.Errorf("%d workers: %w", n, err)
		}
	}
	b.rows = append(
		b.rows,
		row{work: workersWork, files: len(dirs), unit: "directories", ken: took[workersMany], against: "1 worker", other: took[1], atMost: workersAtMost},
		row{work: earlyWork, files: len(dirs), unit: "directories", counted: true, count: s.early},
	)
	return nil
}

// A workerSite is a repository that is surveyed by workers.
type workerSite struct {
	*bench

	repo string
	dirs []string

	mu    sync.Mutex
	done  map[string]bool
	early int // directories that were asked about before one in them
}

// survey has n workers describe everything, and returns how long that took by the server's
// clock, from the handing out to the end.
func (s *workerSite) survey(ctx context.Context, address string, n int) (time.Duration, error) {
	s.done = make(map[string]bool)
	srv, stop := modeltest.Run(s.describe)
	defer stop()
	env := append(append(s.env[:len(s.env):len(s.env)], srv.Env()...), "KEN_STORE="+address)
	// Each survey has its own clone, because a clone knows the results of its last survey.
	home := filepath.Join(s.tmp, fmt.Sprintf("home%d", n))
	if _, err := (command{args: []string{"git", "clone", "-q", s.repo, home}, dir: s.tmp, env: s.env}).run(ctx); err != nil {
		return 0, err
	}
	ken := func(args ...string) ([]byte, error) {
		r, err := command{args: append([]string{s.ken}, args...), dir: home, env: env}.run(ctx)
		return r.stdout, err
	}
	if _, err := ken("worker", "runs"); err != nil { // the tables are there
		return 0, err
	}
	workers, end := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer end()
	for i := range n {
		clone := filepath.Join(s.tmp, fmt.Sprintf("clone%d-%d", n, i))
		if _, err := (command{args: []string{"git", "clone", "-q", "--bare", s.repo, clone}, dir: s.tmp, env: s.env}).run(ctx); err != nil {
			return 0, err
		}
		cmd := exec.CommandContext(workers, s.ken, "worker", "--jobs", "1")
		cmd.Dir, cmd.Env = clone, env
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		said, err := cmd.StderrPipe()
		if err != nil {
			return 0, err
		}
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		ready := make(chan struct{})
		all.Go(func() {
			line := make([]byte, 1)
			_, _ = said.Read(line) // its first word is that it is ready
			close(ready)
			_ = cmd.Wait() // it was told to end
		})
		<-ready
	}
	out, err := ken("survey", "run", "--workers", "--provider", "anthropic", "--model", "m1", "--json")
	if err != nil {
		return 0, err
	}
	var run struct {
		State       string
		Directories struct{ Done int }
		Begun       time.Time `json:"begun_at"`
		Ended       time.Time `json:"ended_at"`
	}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&run); err != nil {
		return 0, err
	}
	if run.State != "done" || run.Directories.Done != len(s.dirs) || len(s.done) != len(s.dirs) {
		return 0, fmt.Errorf("%d of %d directories were described: %s", run.Directories.Done, len(s.dirs), out)
	}
	return run.Ended.Sub(run.Begun), nil
}

// describe answers after a while, and counts who was asked too early.
func (s *workerSite) describe(turn modeltest.Turn) modeltest.Answer {
	var dir string
	for line := range strings.Lines(turn.Asked()) {
		if d, ok := strings.CutPrefix(line, "Directory: "); ok {
			dir = strings.TrimSpace(d)
		}
	}
	s.mu.Lock()
	for _, d := range s.dirs {
		if d != "." && path.Dir(d) == dir && !s.done[d] {
			s.early++
		}
	}
	s.mu.Unlock()
	time.Sleep(workersLatency)
	s.mu.Lock()
	s.done[dir] = true
	s.mu.Unlock()
	args, err := json.Marshal(map[string]string{"summary": "What " + dir + " is for."})
	if err != nil {
		panic(err) // a string always encodes
	}
	return modeltest.Answer{Calls: []model.Call{{ID: "call_1", Name: "submit", Args: args}}}
}
