package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// The limits by number of files.
var (
	trustAtMost  = map[int]float64{500: 1.2, 10_000: 0.8, 100_000: 0.5}
	verifyAtMost = map[int]float64{10_000: 1.0, 100_000: 0.6}
	fullBudget   = map[int]time.Duration{500: 100 * time.Millisecond}
	bootAtMost   = map[int]float64{100_000: 1.8}
	bootMemory   = map[int]int64{100_000: 150_000_000}
)

const (
	// codeFiles is the size at which hooks, surveys and questions are measured: 2,000 directories.
	codeFiles = 10_000

	greetBudget  = 100 * time.Millisecond
	hookBudget   = 50 * time.Millisecond
	findBudget   = 95 * time.Millisecond
	surveyMemory = 300_000_000

	surveyColdAtMost  = 15.0
	surveyEditAtMost  = 2.0
	surveyPlanAtMost  = 1.5
	surveyBriefAtMost = 1.5
)

// measureFiles fills the rows of a repository of so many files.
func (b *bench) measureFiles(ctx context.Context, files int) error {
	works := []work{
		{
			name: "bootstrap", against: md5sum, atMost: bootAtMost[files],
			compare: (*site).bootstrap, memory: bootMemory[files],
		},
		{
			name: "verify --full", against: md5sum, atMost: 1, budget: fullBudget[files],
			prepare: (*site).trusted, compare: (*site).full,
		},
		{
			name: "status, trust", against: gitStatus, atMost: trustAtMost[files],
			prepare: (*site).trusted, compare: (*site).trust,
		},
		{
			name: "verify, one edit", against: gitStatus, atMost: verifyAtMost[files],
			prepare: (*site).trusted, compare: (*site).oneEdit,
		},
	}
	if files == codeFiles {
		works = append(works, codeWorks...)
	}
	works = b.selected(works)
	if len(works) == 0 {
		return nil
	}
	s, err := b.repository(ctx, plan{files: files, commits: 1})
	if err != nil {
		return err
	}
	return s.measureAll(ctx, works)
}

// codeWorks are the rows of the repository of code.
var codeWorks = []work{
	hookWork("pre-tool-use", hookBudget, hookOf("pre-tool-use")),
	hookWork("post-tool-use", hookBudget, hookOf("post-tool-use")),
	hookWork("post-commit", hookBudget, (*site).postCommit),
	{
		name: "survey plan, nothing written", against: "ken verify", atMost: surveyPlanAtMost, rounds: shortRounds,
		prepare: (*site).undescribed, compare: (*site).surveyPlan,
	},
	{
		name: "survey run, cold", against: "ken verify --full", atMost: surveyColdAtMost, rounds: slowRounds,
		prepare: (*site).trusted, compare: (*site).surveyCold, memory: surveyMemory,
	},
	{
		name: "survey run, one edit", against: "ken verify, one edit", atMost: surveyEditAtMost, rounds: shortRounds,
		prepare: (*site).described, compare: (*site).surveyEdit,
	},
	{
		name: "survey plan, all outlined", against: "ken verify", atMost: surveyPlanAtMost, rounds: shortRounds,
		prepare: (*site).described, compare: (*site).surveyPlan,
	},
	{
		name: "brief, warm", against: "ken status", atMost: surveyBriefAtMost, rounds: shortRounds,
		prepare: (*site).described, compare: (*site).brief,
	},
	{
		name: "find, warm, processor time", against: gitStatus, budget: findBudget, processor: true, rounds: shortRounds,
		prepare: (*site).described, compare: (*site).find,
	},
	hookWork("session-start", greetBudget, hookOf("session-start")), // every directory is described
}

func hookWork(verb string, budget time.Duration, compare func(*site) comparison) work {
	return work{name: "hook " + verb, against: gitStatus, budget: budget, prepare: (*site).trusted, compare: compare}
}

// bootstrap measures the first ken verify, which writes a row for every file.
func (s *site) bootstrap() comparison {
	return comparison{
		ken: s.command("verify"), other: s.md5sum(), beforeKen: s.forget,
		after: func(ctx context.Context, _ int) error { return s.mustTrust(ctx) },
	}
}

// full measures ken verify --full, which hashes every byte.
func (s *site) full() comparison {
	return comparison{ken: s.command("verify", "--full"), other: s.md5sum()}
}

func (s *site) md5sum() command { return s.shell("git ls-files -z | xargs -0 -P2 md5sum") }

// trust measures ken status when nothing changed since the last check.
func (s *site) trust() comparison { return comparison{ken: s.command("status"), other: s.gitStatus()} }

// fileOf returns another file for each round.
func (s *site) fileOf(round int) int { return (round*7919 + 1) % s.plan.files }

// oneEdit measures ken verify after one edit. Both sides find the same edit.
func (s *site) oneEdit() comparison {
	return comparison{
		ken: s.command("verify"), other: s.gitStatus(),
		check: func(round int, stdout []byte) error {
			name := s.plan.path(s.fileOf(round))
			if !bytes.Contains(stdout, []byte(name)) {
				return fmt.Errorf("ken verify does not mention %s: %s", name, tail(stdout))
			}
			return nil
		},
		before: func(_ context.Context, round int) error {
			file := s.fileOf(round)
			return s.edit(s.plan.path(file), s.plan.text(file, 1, 0))
		},
		after: func(ctx context.Context, round int) error {
			return errors.Join(s.restore(ctx, s.fileOf(round)), s.trusted(ctx))
		},
	}
}

// hookOf measures a hook of an agent.
func hookOf(verb string) func(*site) comparison {
	return func(s *site) comparison {
		return comparison{ken: s.hook("bench", verb, s.plan.path(0)), other: s.gitStatus()}
	}
}

// postCommit measures the hook after a commit of one edited file.
func (s *site) postCommit() comparison {
	d := hookOf("post-commit")(s)
	d.before = func(ctx context.Context, round int) error {
		return errors.Join(
			s.edit(s.plan.path(0), s.plan.text(0, 1+round, 0)),
			git(ctx, s.dir, s.env, nil, "commit", "--quiet", "--all", "--message", "edited"))
	}
	d.after = func(ctx context.Context, _ int) error {
		return errors.Join(
			git(ctx, s.dir, s.env, nil, "reset", "--quiet", "--hard", "HEAD~1"),
			s.restore(ctx, 0), s.trusted(ctx))
	}
	return d
}

// surveyCold measures a survey without any cache, against reading every byte of the files.
func (s *site) surveyCold() comparison {
	return comparison{
		ken: s.command("survey", "run"), other: s.command("verify", "--full"), beforeKen: s.forget,
		after: func(ctx context.Context, _ int) error { return s.mustPlan(ctx, 0) },
	}
}

// surveyEdit measures a survey after one edit. Each side gets an edit of its own to the same file, which is not
// described yet. Only the directory of the file and those above it may be described again.
func (s *site) surveyEdit() comparison {
	edited := func(name int) func(context.Context, int) error {
		return func(ctx context.Context, round int) error {
			file := s.fileOf(round)
			if err := errors.Join(s.restore(ctx, file), s.described(ctx)); err != nil {
				return err
			}
			return s.edit(s.plan.path(file), s.plan.text(file, 0, name+round))
		}
	}
	return comparison{
		ken: s.command("survey", "run", "--json"), beforeKen: edited(1),
		other: s.command("verify"), beforeOther: edited(1000),
		check: func(round int, stdout []byte) error {
			var ran struct{ Done []string }
			if err := json.Unmarshal(stdout, &ran); err != nil {
				return err
			}
			name := s.plan.path(s.fileOf(round))
			most := strings.Count(name, "/") + 1
			if len(ran.Done) == 0 || len(ran.Done) > most {
				return fmt.Errorf("after an edit of %s, %q were described anew", name, ran.Done)
			}
			return nil
		},
		after: func(ctx context.Context, round int) error {
			return errors.Join(s.restore(ctx, s.fileOf(round)), s.described(ctx))
		},
	}
}

// surveyPlan measures a plan.
func (s *site) surveyPlan() comparison {
	return comparison{ken: s.command("survey", "plan"), other: s.command("verify")}
}

// brief measures ken brief of a directory when all summaries are fresh.
func (s *site) brief() comparison {
	dir := path.Dir(s.plan.path(s.plan.files / 2))
	return comparison{ken: s.command("brief", dir), other: s.command("status")}
}

// find measures a question when nothing changed since the last one.
func (s *site) find() comparison {
	return comparison{
		ken: s.command("find", "keeps the token until somebody asks"), other: s.gitStatus(),
		check: func(_ int, stdout []byte) error {
			if len(stdout) == 0 {
				return errors.New("ken find found nothing")
			}
			return nil
		},
	}
}

// undescribed makes ken forget all summaries.
func (s *site) undescribed(ctx context.Context) error {
	return errors.Join(s.forget(ctx, 0), s.trusted(ctx), s.mustPlan(ctx, s.plan.directories()))
}

// described describes every directory.
func (s *site) described(ctx context.Context) error {
	if _, err := s.command("survey", "run").run(ctx); err != nil {
		return err
	}
	return s.mustTrust(ctx)
}

// mustPlan returns an error unless so many directories have no fresh summary.
func (s *site) mustPlan(ctx context.Context, want int) error {
	var plan struct{ Directories []json.RawMessage }
	if err := s.ask(ctx, &plan, "survey", "plan", "--json"); err != nil {
		return err
	}
	if n := len(plan.Directories); n != want {
		return fmt.Errorf("%d directories are still to be described, want %d", n, want)
	}
	return nil
}
