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
	"strings"
	"time"
)

// The limits of ken spec.
const (
	specColdAtMost   = 1.0
	specOneAtMost    = 10.0
	specWarmAtMost   = 3.0
	specGrowthAtMost = 12.0
	specMemoryBudget = 300_000_000
	specHookBudget   = 50 * time.Millisecond
	specManyBudget   = 100 * time.Millisecond // of a hook, with specMany nodes

	specNodes = 200
	specFew   = 400
	specMany  = 4_000
	// specShort is how long the history is where the number of nodes matters.
	specShort = 1_000

	gitLogAll = "git log --raw -c"
	gitLogOne = "git log -1"
)

// specWorks fills the rows of ken spec.
func (b *bench) specWorks(ctx context.Context) error {
	if b.anyOf(specColdWork, specMemoryWork, specOneWork, specWarmWork, specGitWork, specGateWork, specBeforeWork, specAfterWork) {
		dir, err := specRepository(ctx, b.dir, b.env, specPlan{b.commits, specNodes, 24})
		if err != nil {
			return err
		}
		s := specSite{bench: b, dir: dir, nodes: specNodes}
		if err := s.measure(ctx); err != nil {
			return fmt.Errorf("spec%s: %w", s.name, err)
		}
	}
	if err := b.specHooks(ctx); err != nil {
		return err
	}
	return b.specGrowth(ctx)
}

// specHooks measures hooks with many nodes. A hook asks about a few paths only.
func (b *bench) specHooks(ctx context.Context) error {
	if !b.anyOf(specGateWork, specBeforeWork, specAfterWork) {
		return nil
	}
	dir, err := specRepository(ctx, b.dir, b.env, specPlan{specShort, specMany, 2})
	if err != nil {
		return err
	}
	s := specSite{bench: b, dir: dir, nodes: specMany}
	return s.works(ctx, specShort, []specWork{{specGateWork, s.gate}, {specBeforeWork, s.before}, {specAfterWork, s.after}})
}

// anyOf reports whether -run selects any of these works.
func (b *bench) anyOf(works ...string) bool {
	for _, w := range works {
		if b.only.MatchString(w) {
			return true
		}
	}
	return false
}

// The works on one repository.
const (
	specColdWork   = "spec ls, cold"
	specMemoryWork = "spec ls, cold, memory"
	specOneWork    = "spec ls, one new commit"
	specWarmWork   = "spec ls, warm"
	specGitWork    = "spec ls, warm, git processes"
	specGateWork   = "hook pre-commit, 10 files"
	specBeforeWork = "hook pre-tool-use, specs"
	specAfterWork  = "hook post-tool-use, specs"
	specGrowthWork = "spec ls, warm, ten times the nodes"
)

// A specSite is one repository with specs under measurement.
type specSite struct {
	*bench
	dir   string
	nodes int
	name  string // of a real repository; "" for the generated one
}

// A specWork is a measurement on a site.
type specWork struct {
	name string
	do   func(ctx context.Context, commits int) error
}

func (s specSite) hookBudget() time.Duration {
	if s.nodes > specNodes {
		return specManyBudget
	}
	return specHookBudget
}

func (s specSite) measure(ctx context.Context) error {
	commits, err := s.commitCount(ctx)
	if err != nil {
		return err
	}
	return s.works(ctx, commits, []specWork{
		{specColdWork, s.cold},
		{specOneWork, s.one},
		{specWarmWork, s.warm},
		{specGateWork, s.gate},
		{specBeforeWork, s.before},
		{specAfterWork, s.after},
	})
}

func (s specSite) works(ctx context.Context, commits int, list []specWork) error {
	for _, w := range list {
		if !s.only.MatchString(w.name) && (w.name != specColdWork || !s.only.MatchString(specMemoryWork)) &&
			(w.name != specWarmWork || !s.only.MatchString(specGitWork)) {
			continue
		}
		progress("%s%s, %d commits", w.name, s.name, commits)
		if err := w.do(ctx, commits); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

func (s specSite) commitCount(ctx context.Context) (n int, err error) {
	text, err := gitAnswer(ctx, s.dir, s.env, "rev-list", "--count", "HEAD")
	if err == nil {
		_, err = fmt.Sscan(text, &n)
	}
	return n, err
}

// cold measures ken spec ls without a cache, against git log over the whole history. The memory row needs a million
// changed paths.
func (s specSite) cold(ctx context.Context, commits int) error {
	d := comparison{
		ken: s.command("ls"),
		other: command{
			args: []string{"sh", "-c", "git log --raw -c -z --no-renames HEAD >" + os.DevNull},
			dir:  s.dir, env: s.env,
		},
		rounds:    min(s.rounds, specColdRounds),
		beforeKen: s.forget,
		after:     func(ctx context.Context, _ int) error { return s.mustKnow(ctx, s.nodes) },
	}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return err
	}
	if err := s.forget(); err != nil {
		return err
	}
	memory, err := d.ken.alone(ctx)
	if err != nil {
		return err
	}
	s.rows = append(s.rows,
		row{work: specColdWork + s.name, files: commits, unit: "commits", ken: ken, against: gitLogAll, other: other, atMost: specColdAtMost},
		row{work: specMemoryWork + s.name, files: commits, unit: "commits", memory: memory, memoryBudget: specMemoryBudget},
	)
	return nil
}

// specColdRounds is the number of rounds of work that takes seconds.
const specColdRounds = 5

// one measures ken spec ls after one new commit to governed code, in another file each round. Making the commit and
// removing it are not timed.
func (s specSite) one(ctx context.Context, commits int) error {
	if err := s.mustKnow(ctx, s.nodes); err != nil {
		return err
	}
	head, err := gitAnswer(ctx, s.dir, s.env, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	d := comparison{
		ken:    s.command("ls"),
		other:  command{args: []string{"git", "log", "-1"}, dir: s.dir, env: s.env},
		rounds: max(s.rounds, specShortRounds),
		before: s.commitOne,
		after:  func(ctx context.Context, _ int) error { return s.mustKnow(ctx, s.nodes) },
	}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return err
	}
	if err := git(ctx, s.dir, s.env, nil, "update-ref", "HEAD", head); err != nil {
		return err
	}
	s.rows = append(s.rows, row{
		work: specOneWork + s.name, files: commits, unit: "commits", ken: ken, against: gitLogOne, other: other, atMost: specOneAtMost,
	})
	return s.forget()
}

// specShortRounds is the number of rounds of work that takes milliseconds and has to be prepared.
const specShortRounds = 20

// commitOne adds a commit that edits a governed file.
func (s specSite) commitOne(ctx context.Context, round int) error {
	dirs, err := s.governed(ctx)
	if err != nil {
		return err
	}
	branch, err := gitAnswer(ctx, s.dir, s.env, "symbolic-ref", "HEAD")
	if err != nil {
		return err
	}
	text := fmt.Sprintf("round %d\n", round)
	stream := fmt.Sprintf("commit %s\ncommitter Bench <bench@example.com> %d +0000\ndata 4\nedit\nfrom %s^0\nM 100644 inline %s/bench.go\ndata %d\n%s\n",
		branch, 1_900_000_000+round, branch, dirs[round%len(dirs)], len(text), text)
	return git(ctx, s.dir, s.env, strings.NewReader(stream), "fast-import", "--quiet", "--date-format=raw")
}

// governed lists a governed directory of each node.
func (s specSite) governed(ctx context.Context) ([]string, error) {
	text, err := gitAnswer(ctx, s.dir, s.env, "grep", "-h", "-m1", "^  - ", "HEAD", "--", ".spec")
	if err != nil {
		return nil, err
	}
	var dirs []string
	for line := range strings.Lines(text) {
		dirs = append(dirs, strings.TrimPrefix(strings.TrimSpace(line), "- "))
	}
	return dirs, nil
}

// gate measures the pre-commit hook with ten staged governed files, which it lets pass.
func (s specSite) gate(ctx context.Context, _ int) (err error) {
	defer func() {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, ".ken")), git(ctx, s.dir, s.env, nil, "reset", "--quiet", "--hard"))
	}()
	if err := os.MkdirAll(filepath.Join(s.dir, ".ken"), 0o755); err != nil {
		return err
	}
	lenient := []byte("spec:\n  gate_threshold: 1000000\n")
	if err := os.WriteFile(filepath.Join(s.dir, ".ken", "config.yaml"), lenient, 0o644); err != nil {
		return err
	}
	if err := s.mustKnow(ctx, s.nodes); err != nil {
		return err
	}
	dirs, err := s.governed(ctx)
	if err != nil {
		return err
	}
	add := []string{"add", "--"}
	for _, dir := range dirs[:10] {
		name := dir + "/staged.go"
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte("staged\n"), 0o644); err != nil {
			return err
		}
		add = append(add, name)
	}
	if err := git(ctx, s.dir, s.env, nil, add...); err != nil {
		return err
	}
	d := comparison{
		ken:   command{args: []string{s.ken, "hook", "pre-commit"}, dir: s.dir, env: s.env},
		other: s.version(""), rounds: max(s.rounds, specShortRounds),
	}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, row{
		work: specGateWork + s.name, files: s.nodes, unit: "nodes", ken: ken, against: "ken version", other: other, budget: s.hookBudget(),
	})
	return nil
}

// before measures the hook before an agent edits a governed file.
func (s specSite) before(ctx context.Context, _ int) error {
	return s.hook(ctx, specBeforeWork, "pre-tool-use")
}

// after measures the hook after the edit.
func (s specSite) after(ctx context.Context, _ int) error {
	return s.hook(ctx, specAfterWork, "post-tool-use")
}

// hook measures a hook outside a session, so that ken has to find the spec each time.
func (s specSite) hook(ctx context.Context, work, verb string) error {
	dirs, err := s.governed(ctx)
	if err != nil {
		return err
	}
	said, err := json.Marshal(map[string]any{
		"cwd": s.dir, "tool_name": "Edit", "tool_input": map[string]string{"file_path": dirs[0] + "/bench.go"},
	})
	if err != nil {
		return err
	}
	d := comparison{
		ken:   command{args: []string{"sh", "-c", `printf %s "$1" | "$0" hook "$2"`, s.ken, string(said), verb}, dir: s.dir, env: s.env},
		other: s.version(""), rounds: max(s.rounds, specShortRounds),
	}
	// The first call reads the specs, and names the one that governs the file.
	told, err := d.ken.run(ctx)
	if err != nil {
		return err
	}
	if !bytes.Contains(told.stdout, []byte("govern")) {
		return fmt.Errorf("ken hook %s does not know what governs %s: %s", verb, dirs[0], told.stdout)
	}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, row{
		work: work + s.name, files: s.nodes, unit: "nodes", ken: ken, against: "ken version", other: other, budget: s.hookBudget(),
	})
	return nil
}

// warm measures ken spec ls when nothing changed. ken starts no git process then.
func (s specSite) warm(ctx context.Context, _ int) error {
	if err := s.mustKnow(ctx, s.nodes); err != nil {
		return err
	}
	d := comparison{ken: s.command("ls"), other: s.version(""), rounds: max(s.rounds, startupRounds)}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return err
	}
	processes, err := s.gitProcesses(ctx, s.command("ls"))
	if err != nil {
		return err
	}
	s.rows = append(s.rows,
		row{work: specWarmWork + s.name, files: s.nodes, unit: "nodes", ken: ken, against: "ken version", other: other, atMost: specWarmAtMost},
		row{work: specGitWork + s.name, files: s.nodes, unit: "nodes", counted: true, count: processes},
	)
	return nil
}

// specGrowth compares ken spec ls with 400 and with 4,000 nodes.
func (b *bench) specGrowth(ctx context.Context) error {
	if !b.only.MatchString(specGrowthWork) {
		return nil
	}
	var sides [2]specSite
	for i, nodes := range []int{specMany, specFew} {
		dir, err := specRepository(ctx, b.dir, b.env, specPlan{specShort, nodes, 4})
		if err != nil {
			return err
		}
		sides[i] = specSite{bench: b, dir: dir}
		if err := sides[i].mustKnow(ctx, nodes); err != nil {
			return err
		}
	}
	progress(specGrowthWork)
	d := comparison{ken: sides[0].command("ls"), other: sides[1].command("ls"), rounds: max(b.rounds, specShortRounds)}
	many, few, _, err := d.measure(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", specGrowthWork, err)
	}
	b.rows = append(b.rows, row{
		work: specGrowthWork, files: specMany, unit: "nodes", ken: many,
		against: fmt.Sprintf("ken, %d nodes", specFew), other: few, atMost: specGrowthAtMost,
	})
	return nil
}

func (s specSite) command(args ...string) command {
	return command{args: append([]string{s.ken, "spec"}, args...), dir: s.dir, env: s.env}
}

// forget deletes the caches and the store of ken.
func (s specSite) forget() error { return os.RemoveAll(filepath.Join(s.dir, ".git", "ken")) }

// mustKnow returns an error unless ken knows the version and the drift of every node.
func (s specSite) mustKnow(ctx context.Context, nodes int) error {
	r, err := s.command("ls", "--json").run(ctx)
	if err != nil {
		return err
	}
	var list struct {
		Nodes []struct {
			ID             string
			Version, Drift *int
		}
		Unknown []struct{ Fact, Reason string }
	}
	if err := json.Unmarshal(r.stdout, &list); err != nil {
		return fmt.Errorf("ken spec ls --json: %w", err)
	}
	if len(list.Nodes) != nodes || len(list.Unknown) > 0 {
		return fmt.Errorf("ken spec ls told of %d nodes, want %d; not known: %v", len(list.Nodes), nodes, list.Unknown)
	}
	for _, n := range list.Nodes {
		if n.Version == nil || n.Drift == nil || *n.Version == 0 {
			return fmt.Errorf("ken spec ls does not know the history of %s", n.ID)
		}
	}
	return nil
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
