package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A bench is one run of the program.
type bench struct {
	options
	tmp   string // of what is built in this run
	empty string // the empty Go program
	env   []string
	rows  []row
}

const (
	gitStatus  = "git status"
	md5sum     = "md5sum -P2"
	kenVersion = "ken version"

	slowRounds  = 5   // of work that takes seconds
	shortRounds = 20  // of work that takes milliseconds and has to be prepared
	startRounds = 100 // a process of few milliseconds wants many
)

// build builds ken and the empty program with the same flags.
func (b *bench) build(ctx context.Context) error {
	source := filepath.Join(b.tmp, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		return err
	}
	b.empty = filepath.Join(b.tmp, "empty")
	if err := goBuild(ctx, b.empty, source); err != nil {
		return err
	}
	if b.ken == "" {
		b.ken = filepath.Join(b.tmp, "ken")
		return goBuild(ctx, b.ken, "ken/cmd/ken")
	}
	var err error
	b.ken, err = filepath.Abs(b.ken)
	return err
}

func goBuild(ctx context.Context, out, what string) error {
	tags, err := os.ReadFile("internal/outline/syntax/tags") // as the Makefile has it
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", strings.TrimSpace(string(tags)), "-trimpath",
		"-buildvcs=false", "-ldflags=-s -w", "-o", out, what)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", what, err, tail(msg))
	}
	return nil
}

// environment returns an environment without the user's git configuration, for both sides. GIT_OPTIONAL_LOCKS stays
// unset, as it is for users.
func environment(home string) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "XDG_") && !strings.HasPrefix(kv, "KEN_") {
			env = append(env, kv)
		}
	}
	return append(env, "HOME="+home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
}

// measure fills the table.
func (b *bench) measure(ctx context.Context) error {
	for _, files := range b.sizes {
		if err := b.measureFiles(ctx, files); err != nil {
			return fmt.Errorf("%d files: %w", files, err)
		}
	}
	for _, group := range []struct {
		plan  plan
		of    int
		unit  string
		works []work
	}{
		{plan{files: 10_000, commits: b.commits, specs: specCount}, b.commits, "commits", specWorks},
		{plan{files: 10_000, commits: 1000, pages: 1000}, 1000, "documents", docsWorks},
	} {
		works := b.selected(group.works)
		if len(works) == 0 {
			continue
		}
		s, err := b.repository(ctx, group.plan)
		if err != nil {
			return err
		}
		s.of = group.of
		s.unit = group.unit
		if err := s.measureAll(ctx, works); err != nil {
			return err
		}
	}
	for _, works := range []func(context.Context) error{b.serveWorks, b.shareWorks, b.smallWorks} {
		if err := works(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A work is a kind of row: a command of ken, and the command that it is compared with.
type work struct {
	name    string
	against string
	atMost  float64       // of the other side; 0 for no limit
	budget  time.Duration // absolute; 0 for no limit
	// rounds is the least number of rounds, or slowRounds for the most.
	rounds    int
	processor bool // compare processor time
	// prepare and finish run once, and are not timed. They may be nil.
	prepare, finish func(*site, context.Context) error
	compare         func(*site) comparison
	memory          int64 // limit of a row about the memory of ken alone, with nothing cached; 0 for no such row
	noGit           bool  // adds a row that counts the git processes of ken, of which there are none
}

// selected returns the works that -run selects.
func (b *bench) selected(works []work) []work {
	return slices.DeleteFunc(slices.Clone(works), func(w work) bool { return !b.only.MatchString(w.name) })
}

// A site is one repository under measurement.
type site struct {
	*bench
	plan plan
	dir  string
	of   int // what the rows are of
	unit string
}

func (s *site) measureAll(ctx context.Context, works []work) error {
	for _, w := range works {
		progress("%s, %d %s", w.name, s.of, s.unit)
		if err := s.measureWork(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// measureWork adds the rows of a work.
func (s *site) measureWork(ctx context.Context, w work) (err error) {
	if w.prepare != nil {
		if err := w.prepare(s, ctx); err != nil {
			return err
		}
	}
	if w.finish != nil {
		defer func() { err = errors.Join(err, w.finish(s, ctx)) }()
	}
	d := w.compare(s)
	d.processor = w.processor
	d.rounds = max(s.rounds, w.rounds)
	if w.rounds == slowRounds {
		d.rounds = min(s.rounds, slowRounds)
	}
	ken, other, err := d.measure(ctx)
	if err != nil {
		return err
	}
	s.add(row{work: w.name, ken: ken, against: w.against, other: other, atMost: w.atMost, budget: w.budget})
	if w.memory > 0 {
		if err := s.forget(ctx, 0); err != nil {
			return err
		}
		alone, err := d.ken.alone(ctx)
		if err != nil {
			return err
		}
		s.add(row{work: w.name + ", memory", memory: alone, memoryBudget: w.memory})
	}
	if w.noGit {
		processes, err := s.gitProcesses(ctx, d.ken)
		if err != nil {
			return err
		}
		s.add(row{work: w.name + ", git processes", counted: true, count: processes})
	}
	return nil
}

func (s *site) add(r row) {
	r.files = s.of
	r.unit = s.unit
	s.rows = append(s.rows, r)
}

func (s *site) command(args ...string) command {
	return command{args: append([]string{s.ken}, args...), dir: s.dir, env: s.env}
}

// shell returns a command whose output is thrown away.
func (s *site) shell(line string) command {
	return command{args: []string{"sh", "-c", line + " >" + os.DevNull}, dir: s.dir, env: s.env}
}

func (s *site) git(args ...string) command {
	return command{args: append([]string{"git"}, args...), dir: s.dir, env: s.env}
}

func (s *site) gitStatus() command { return s.git("status", "--porcelain=v2", "--branch", "-z") }

// hook returns a hook of an agent that edits a file, "" for no session.
func (s *site) hook(session, verb, file string) command {
	call := map[string]any{"cwd": s.dir, "tool_name": "Edit", "tool_input": map[string]string{"file_path": file}}
	if session != "" {
		call["session_id"] = session
	}
	said, err := json.Marshal(call)
	if err != nil {
		panic(err) // strings always encode
	}
	line := `printf %s "$1" | "$0" hook "$2"`
	return command{args: []string{"sh", "-c", line, s.ken, string(said), verb}, dir: s.dir, env: s.env}
}

// forget deletes the caches and the store of ken.
func (s *site) forget(context.Context, int) error {
	return os.RemoveAll(filepath.Join(s.dir, ".git", "ken"))
}

// trusted verifies the repository.
func (s *site) trusted(ctx context.Context) error {
	if _, err := s.command("verify").run(ctx); err != nil {
		return err
	}
	return s.mustTrust(ctx)
}

// mustTrust returns an error unless nothing changed since the last check.
func (s *site) mustTrust(ctx context.Context) error {
	var status struct {
		State   string
		Reasons []string
	}
	if err := s.ask(ctx, &status, "status", "--json"); err != nil {
		return err
	}
	if status.State != "trust" {
		return fmt.Errorf("the state is %q (%s), want trust", status.State, strings.Join(status.Reasons, ", "))
	}
	return nil
}

// ask runs ken and decodes its JSON document.
func (s *site) ask(ctx context.Context, into any, args ...string) error {
	r, err := s.command(args...).run(ctx)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(r.stdout, into); err != nil {
		return fmt.Errorf("ken %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// edit writes a text over a file.
func (s *site) edit(name, text string) error {
	return os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644)
}

// restore writes the text of the plan to a file and makes it old again.
func (s *site) restore(ctx context.Context, file int) error {
	name := s.plan.path(file)
	if err := s.edit(name, s.plan.text(file, 0, 0)); err != nil {
		return err
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(s.dir, name), old, old); err != nil {
		return err
	}
	return git(ctx, s.dir, s.env, nil, "update-index", "--refresh")
}

// gitProcesses counts how often a command starts git, with a wrapper of git that comes first in PATH.
func (b *bench) gitProcesses(ctx context.Context, c command) (int, error) {
	real, err := exec.LookPath("git")
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp(b.tmp, "git-")
	if err != nil {
		return 0, err
	}
	calls := filepath.Join(dir, "calls")
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s'\nexec '%s' \"$@\"\n", calls, real)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		return 0, err
	}
	c.env = append(c.env[:len(c.env):len(c.env)], "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	if _, err := c.run(ctx); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(calls)
	if os.IsNotExist(err) {
		return 0, nil
	}
	return bytes.Count(text, []byte{'\n'}), err
}
