package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The limits of ken spec.
const (
	specCount = 400

	specColdAtMost = 1.0
	specWarmAtMost = 3.0
	specMemory     = 300_000_000
	specOneBudget  = 100 * time.Millisecond
	specHookBudget = 50 * time.Millisecond
)

// specWorks are the rows of a long history with specs.
var specWorks = []work{
	{
		name: "spec ls, cold", against: "git log --raw -c", atMost: specColdAtMost, rounds: slowRounds,
		compare: (*site).specCold, memory: specMemory,
	},
	{
		name: "spec ls, one new commit", against: "git log -1", budget: specOneBudget, rounds: shortRounds,
		prepare: (*site).mustKnow, compare: (*site).specOne,
	},
	{
		name: "spec ls, warm", against: kenVersion, atMost: specWarmAtMost, rounds: shortRounds, noGit: true,
		prepare: (*site).mustKnow, compare: (*site).specWarm,
	},
	{
		name: "hook pre-commit, 10 files", against: kenVersion, budget: specHookBudget, rounds: shortRounds,
		prepare: (*site).stage, compare: (*site).gate, finish: (*site).unstage,
	},
	{
		name: "hook pre-tool-use, specs", against: kenVersion, budget: specHookBudget, rounds: shortRounds,
		prepare: (*site).mustKnow, compare: specHook("pre-tool-use"),
	},
}

// specCold measures ken spec ls without a cache, against git log over the whole history.
func (s *site) specCold() comparison {
	return comparison{
		ken: s.command("spec", "ls"), other: s.shell("git log --raw -c -z --no-renames HEAD"), beforeKen: s.forget,
		after: func(ctx context.Context, _ int) error { return s.mustKnow(ctx) },
	}
}

// specOne measures ken spec ls after one new commit to governed code.
func (s *site) specOne() comparison {
	return comparison{
		ken: s.command("spec", "ls"), other: s.git("log", "-1"),
		before: func(ctx context.Context, round int) error {
			file := s.plan.governed(round % s.plan.specs)[0] + "/bench.go"
			text := fmt.Sprintf("round %d\n", round)
			stream := fmt.Sprintf("commit refs/heads/main\ncommitter Bench <bench@example.com> %d +0000\ndata 4\nedit\n"+
				"from refs/heads/main^0\nM 100644 inline %s\ndata %d\n%s\n", 1_900_000_000+round, file, len(text), text)
			return git(ctx, s.dir, s.env, strings.NewReader(stream), "fast-import", "--quiet", "--date-format=raw")
		},
		after: func(ctx context.Context, _ int) error {
			return errors.Join(
				s.mustKnow(ctx), git(ctx, s.dir, s.env, nil, "update-ref", "HEAD", "HEAD^"), s.mustKnow(ctx))
		},
	}
}

// specWarm measures ken spec ls when nothing changed.
func (s *site) specWarm() comparison {
	return comparison{ken: s.command("spec", "ls"), other: s.command("version")}
}

// gate measures the pre-commit hook with ten staged governed files, which it lets pass.
func (s *site) gate() comparison {
	return comparison{ken: s.command("hook", "pre-commit"), other: s.command("version")}
}

// stage stages ten files, with a configuration that lets them pass.
func (s *site) stage(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(s.dir, ".ken"), 0o755); err != nil {
		return err
	}
	if err := s.edit(".ken/config.yaml", "spec:\n  gate_threshold: 1000000\n"); err != nil {
		return err
	}
	add := []string{"add", "--"}
	for i := range 10 {
		name := s.plan.governed(i)[0] + "/staged.go"
		if err := s.edit(name, "package staged\n"); err != nil {
			return err
		}
		add = append(add, name)
	}
	return errors.Join(git(ctx, s.dir, s.env, nil, add...), s.mustKnow(ctx))
}

func (s *site) unstage(ctx context.Context) error {
	return errors.Join(
		os.RemoveAll(filepath.Join(s.dir, ".ken")), git(ctx, s.dir, s.env, nil, "reset", "--quiet", "--hard"))
}

// specHook measures a hook about a governed file.
func specHook(verb string) func(*site) comparison {
	return func(s *site) comparison {
		const session = "" // in a session, ken names the spec only once
		return comparison{
			ken: s.hook(session, verb, s.plan.governed(0)[0]+"/bench.go"), other: s.command("version"),
			check: func(_ int, stdout []byte) error {
				if !bytes.Contains(stdout, []byte("govern")) {
					return fmt.Errorf("ken hook %s does not know what governs the file: %s", verb, stdout)
				}
				return nil
			},
		}
	}
}

// mustKnow returns an error unless ken knows the version and the drift of every spec.
func (s *site) mustKnow(ctx context.Context) error {
	var list struct {
		Nodes []struct {
			ID             string
			Version, Drift *int
		}
		Unknown []struct{ Fact, Reason string }
	}
	if err := s.ask(ctx, &list, "spec", "ls", "--json"); err != nil {
		return err
	}
	if len(list.Nodes) != s.plan.specs || len(list.Unknown) > 0 {
		return fmt.Errorf("ken spec ls lists %d specs, want %d; unknown: %v", len(list.Nodes), s.plan.specs, list.Unknown)
	}
	for _, n := range list.Nodes {
		known := n.Version != nil && n.Drift != nil && *n.Version > 0
		if !known {
			return fmt.Errorf("ken spec ls does not know the history of %s", n.ID)
		}
	}
	return nil
}
