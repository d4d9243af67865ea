package main

import (
	"bytes"
	"context"
	"encoding/json"
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
	tmp    string // of what is built in this run
	empty  string // the empty Go program
	env    []string
	rows   []row
	memory map[int]int64 // ken's peak by number of files
}

// The limits, by number of files.
var (
	trustAtMost  = map[int]float64{500: 1.2, 10_000: 0.8, 100_000: 0.5}
	verifyAtMost = map[int]float64{10_000: 1.0, 100_000: 0.6}
	fullAtMost   = map[int]float64{500: 1.0, 10_000: 1.0, 100_000: 1.0}
	bootAtMost   = map[int]float64{100_000: 1.8}
	passBudget   = map[int]time.Duration{500: 100 * time.Millisecond}
	memoryBudget = map[int]int64{100_000: 150_000_000}
	greetBudget  = map[int]time.Duration{10_000: 100 * time.Millisecond}
	hookBudget   = map[int]time.Duration{10_000: 50 * time.Millisecond}
)

const (
	startupAtMost = 3.5
	startupRounds = 100 // a process of few milliseconds wants many

	gitStatus = "git status"
	md5sum    = "md5sum -P2"
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
	return b.buildKen(ctx)
}

// buildKen builds ken, unless -ken names a binary.
func (b *bench) buildKen(ctx context.Context) (err error) {
	if b.ken == "" {
		b.ken = filepath.Join(b.tmp, "ken")
		return goBuild(ctx, b.ken, "ken/cmd/ken")
	}
	b.ken, err = filepath.Abs(b.ken)
	return err
}

func goBuild(ctx context.Context, out, what string) error {
	tags, err := os.ReadFile("internal/outline/syntax/tags") // as the Makefile has it
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", strings.TrimSpace(string(tags)), "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, what)
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
		if err := b.measureSize(ctx, files); err != nil {
			return fmt.Errorf("%d files: %w", files, err)
		}
	}
	if err := b.stateWorks(ctx); err != nil {
		return err
	}
	for _, works := range []func(context.Context) error{
		b.specWorks, b.surveyWorks, b.docsWorks, b.shareWorks, b.postgresWorks, b.workerWorks,
	} {
		if err := works(ctx); err != nil {
			return err
		}
	}
	if err := b.serveWorks(ctx); err != nil {
		return err
	}
	return b.startup(ctx)
}

func (b *bench) measureSize(ctx context.Context, files int) error {
	works := slices.Clone(works)
	works = slices.DeleteFunc(works, func(w work) bool { return !b.only.MatchString(w.name) || w.most > 0 && files > w.most })
	if len(works) == 0 {
		return nil
	}
	dir, err := repository(ctx, b.dir, b.env, files)
	if err != nil {
		return err
	}
	s := site{bench: b, files: files, dir: dir}
	for _, w := range works {
		progress("%s, %d files", w.name, files)
		if err := s.measure(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	if budget := memoryBudget[files]; budget > 0 && b.memory[files] > 0 {
		b.rows = append(b.rows, row{
			work: "peak memory of all these", files: files, memory: b.memory[files], memoryBudget: budget,
		})
	}
	return nil
}

// A work is a kind of row: a command of ken, and the command that it is compared with.
type work struct {
	name    string
	against string
	atMost  map[int]float64       // of the other side, by number of files
	budget  map[int]time.Duration // the same, absolute
	compare func(site) comparison
	most    int // files, beyond which it is not measured; 0 for no limit
}

var works = []work{
	{name: "bootstrap", against: md5sum, atMost: bootAtMost, compare: site.bootstrap},
	{name: "verify --full", against: md5sum, atMost: fullAtMost, budget: passBudget, compare: site.full},
	{name: "status, trust", against: gitStatus, atMost: trustAtMost, compare: site.trust},
	{name: "verify, one edit", against: gitStatus, atMost: verifyAtMost, compare: site.edit},
	{name: "hook session-start", against: gitStatus, budget: greetBudget, compare: site.sessionStart, most: 10_000},
	{name: "hook stop", against: gitStatus, budget: hookBudget, compare: hook("stop"), most: 10_000},
	{name: "hook pre-tool-use", against: gitStatus, budget: hookBudget, compare: hook("pre-tool-use"), most: 10_000},
	{name: "hook post-tool-use", against: gitStatus, budget: hookBudget, compare: hook("post-tool-use"), most: 10_000},
	{name: "hook post-commit", against: gitStatus, budget: hookBudget, compare: site.commit, most: 10_000},
}

// A site is one repository under measurement.
type site struct {
	*bench
	files int
	dir   string
}

// measure adds the rows of a work. ken has verified the repository before.
func (s site) measure(ctx context.Context, w work) error {
	if err := s.trusted(ctx); err != nil {
		return err
	}
	d := w.compare(s)
	d.rounds = s.rounds
	ken, other, memory, err := d.measure(ctx)
	if err != nil {
		return err
	}
	s.memory[s.files] = max(s.memory[s.files], memory)
	r := row{work: w.name, files: s.files, ken: ken, against: w.against, other: other, atMost: w.atMost[s.files]}
	budget := w.budget[s.files]
	if r.atMost == 0 {
		r.budget = budget
	}
	s.rows = append(s.rows, r)
	if r.atMost > 0 && budget > 0 {
		s.rows = append(s.rows, row{work: w.name + ", end to end", files: s.files, ken: ken, budget: budget})
	}
	return nil
}

// bootstrap measures the first ken verify, which writes a row for every file.
func (s site) bootstrap() comparison {
	return comparison{
		ken:       s.command("verify"),
		other:     s.md5sum(),
		beforeKen: func() error { return os.RemoveAll(filepath.Join(s.dir, ".git", "ken")) },
		after:     func(ctx context.Context, _ int) error { return s.mustTrust(ctx) },
	}
}

// full measures ken verify --full, which hashes every byte.
func (s site) full() comparison {
	return comparison{ken: s.command("verify", "--full"), other: s.md5sum()}
}

// trust measures ken status when nothing changed since the last check.
func (s site) trust() comparison { return comparison{ken: s.command("status"), other: s.gitStatus()} }

// edit measures ken verify after one edit, in another file each round. Both sides find the same edit. Reverting it
// is not timed.
func (s site) edit() comparison {
	var before []byte
	edited := func(round int) string { return fileName(round * 7919 % s.files) }
	return comparison{
		ken:   s.command("verify"),
		other: s.gitStatus(),
		sees:  edited,
		before: func(_ context.Context, round int) (err error) {
			name := filepath.Join(s.dir, edited(round))
			if before, err = os.ReadFile(name); err != nil {
				return err
			}
			return os.WriteFile(name, append(bytes.Clone(before), "edited\n"...), 0o644)
		},
		after: func(ctx context.Context, round int) error {
			name := filepath.Join(s.dir, edited(round))
			if err := os.WriteFile(name, before, 0o644); err != nil {
				return err
			}
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(name, old, old); err != nil {
				return err
			}
			if err := git(ctx, s.dir, s.env, nil, "update-index", "--refresh"); err != nil {
				return err
			}
			return s.trusted(ctx)
		},
	}
}

// sessionStart measures the hook at the start of a session, when every directory is described.
func (s site) sessionStart() comparison {
	d := hook("session-start")(s)
	d.before = func(ctx context.Context, _ int) error {
		_, err := s.command("survey", "run").run(ctx)
		return err
	}
	return d
}

// commit measures the hook after a commit of one edited file.
func (s site) commit() comparison {
	d := hook("post-commit")(s)
	d.before = func(ctx context.Context, round int) error {
		name := filepath.Join(s.dir, fileName(0))
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, fmt.Appendf(text, "edited %d\n", round), 0o644); err != nil {
			return err
		}
		return git(ctx, s.dir, s.env, nil, "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-qam", "edited")
	}
	d.after = func(ctx context.Context, _ int) error {
		if err := git(ctx, s.dir, s.env, nil, "reset", "-q", "--hard", "HEAD~1"); err != nil {
			return err
		}
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(s.dir, fileName(0)), old, old); err != nil {
			return err
		}
		if err := git(ctx, s.dir, s.env, nil, "update-index", "--refresh"); err != nil {
			return err
		}
		return s.trusted(ctx)
	}
	return d
}

// hook measures a hook after an agent edited a file and reverted the edit.
func hook(verb string) func(site) comparison {
	return func(s site) comparison {
		said, err := json.Marshal(map[string]any{
			"session_id": "bench", "cwd": s.dir, "tool_name": "Edit", "tool_input": map[string]string{"file_path": fileName(0)},
		})
		if err != nil {
			panic(err)
		}
		return comparison{
			ken:   command{args: []string{"sh", "-c", `printf %s "$1" | "$0" hook "$2"`, s.ken, string(said), verb}, dir: s.dir, env: s.env},
			other: s.gitStatus(),
		}
	}
}

// trusted verifies the repository. It is not timed.
func (s site) trusted(ctx context.Context) error {
	if _, err := s.command("verify").run(ctx); err != nil {
		return err
	}
	return s.mustTrust(ctx)
}

// mustTrust returns an error unless the state of the registry is trust.
func (s site) mustTrust(ctx context.Context) error {
	r, err := s.command("status", "--json").run(ctx)
	if err != nil {
		return err
	}
	var status struct {
		State   string   `json:"state"`
		Reasons []string `json:"reasons"`
	}
	if err := json.Unmarshal(r.stdout, &status); err != nil {
		return fmt.Errorf("ken status --json: %w", err)
	}
	if status.State != "trust" {
		return fmt.Errorf("state after ken verify is %q (%s), want trust", status.State, strings.Join(status.Reasons, ", "))
	}
	return nil
}

func (s site) command(args ...string) command {
	return command{args: append([]string{s.ken}, args...), dir: s.dir, env: s.env}
}

func (s site) gitStatus() command {
	return command{args: []string{"git", "status", "--porcelain=v2", "--branch", "-z"}, dir: s.dir, env: s.env}
}

func (s site) md5sum() command {
	return command{
		args: []string{"sh", "-c", "git ls-files -z | xargs -0 -P2 md5sum >" + os.DevNull},
		dir:  s.dir,
		env:  s.env,
	}
}

// startup measures the start of the process, which every hook pays for.
func (b *bench) startup(ctx context.Context) error {
	const name = "version, start-up"
	if !b.only.MatchString(name) {
		return nil
	}
	progress(name)
	d := comparison{
		ken:    command{args: []string{b.ken, "version"}, dir: b.tmp, env: b.env},
		other:  command{args: []string{b.empty}, dir: b.tmp, env: b.env},
		rounds: max(b.rounds, startupRounds),
	}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	b.rows = append(b.rows, row{work: name, ken: ken, against: "empty Go program", other: other, atMost: startupAtMost})
	return nil
}
