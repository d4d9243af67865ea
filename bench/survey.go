package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// The limits of ken survey and ken brief.
const (
	surveyColdAtMost   = 15.0
	surveyEditAtMost   = 2.0
	surveyPlanAtMost   = 1.5
	surveyBriefAtMost  = 1.5
	surveyMemoryBudget = 300_000_000
)

// The repositories: one of 10,000 files of ordinary code, and one with many
// directories of small files.
var (
	surveyFiles       = surveyPlan{directories: 1000, files: 10}
	surveyDirectories = surveyPlan{directories: 20_000, files: 2, small: true}
)

// The works.
const (
	surveyColdWork   = "survey run, cold"
	surveyMemoryWork = "survey run, cold, memory"
	surveyEditWork   = "survey run, one edit"
	surveyBriefWork  = "brief, warm"
	surveyFreshWork  = "survey plan, all fresh"
	surveyNoneWork   = "survey plan, nothing written"

	kenFull   = "ken verify --full"
	kenVerify = "ken verify"
	kenEdit   = "ken verify, one edit"
	kenStatus = "ken status"
)

// surveyWorks fills the rows of ken survey and ken brief.
func (b *bench) surveyWorks(ctx context.Context) error {
	for _, group := range []struct {
		plan  surveyPlan
		works []surveyWork
	}{
		{surveyFiles, []surveyWork{
			{surveyColdWork, surveySite.cold},
			{surveyMemoryWork, surveySite.memory},
			{surveyEditWork, surveySite.edit},
			{surveyBriefWork, surveySite.brief},
		}},
		{surveyDirectories, []surveyWork{
			{surveyNoneWork, surveySite.none},
			{surveyFreshWork, surveySite.fresh},
		}},
	} {
		works := slices.DeleteFunc(group.works, func(w surveyWork) bool { return !b.only.MatchString(w.name) })
		if len(works) == 0 {
			continue
		}
		dir, err := surveyRepository(ctx, b.dir, b.env, group.plan)
		if err != nil {
			return err
		}
		s := surveySite{site: site{bench: b, files: group.plan.total(), dir: dir}, plan: group.plan}
		for _, w := range works {
			progress("%s, %d files", w.name, s.files)
			if err := w.do(s, ctx); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	return nil
}

type surveyWork struct {
	name string
	do   func(surveySite, context.Context) error
}

// A surveySite is one repository of code under measurement.
type surveySite struct {
	site
	plan surveyPlan
}

// surveyColdRounds is the number of rounds of work that takes seconds.
const surveyColdRounds = 5

// cold measures a survey without any cache, against reading every byte of the files. It must describe every directory.
func (s surveySite) cold(ctx context.Context) error {
	if err := s.trusted(ctx); err != nil {
		return err
	}
	d := comparison{
		ken:    s.command("survey", "run"),
		other:  s.command("verify", "--full"),
		rounds: min(s.rounds, surveyColdRounds),
		// The other side always finds the rows that this side wrote.
		beforeKen: s.forget,
		after:     func(ctx context.Context, _ int) error { return s.mustHold(ctx) },
	}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, row{work: surveyColdWork, files: s.files, ken: ken, against: kenFull, other: other, atMost: surveyColdAtMost})
	return nil
}

func (s surveySite) memory(ctx context.Context) error {
	if err := s.forget(); err != nil {
		return err
	}
	memory, err := s.command("survey", "run").alone(ctx)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, row{work: surveyMemoryWork, files: s.files, memory: memory, memoryBudget: surveyMemoryBudget})
	return nil
}

// edit measures a survey after one edit, in another file each round. Both sides get the same edit: it is reverted
// between them. Only the directory of the file and those above it may be described again.
func (s surveySite) edit(ctx context.Context) error {
	// An earlier run with the same edits may have left records.
	if err := s.forget(); err != nil {
		return err
	}
	if err := s.described(ctx); err != nil {
		return err
	}
	var kens, others []time.Duration
	rounds := max(s.rounds, surveyShortRounds)
	for round := range rounds + 1 {
		name, lang := codeFile(s.plan, (round*7919+1)%s.plan.directories, 1+round%4)
		var took [2]time.Duration
		for i := range 2 {
			side := (round + i) % 2
			args := [][]string{{"survey", "run", "--json"}, {"verify"}}[side]
			took[side] = 0
			err := s.edited(ctx, name, lang.text(surveySeed(round, side), 2000), func() error {
				r, err := s.command(args...).run(ctx)
				if err == nil && side == 0 {
					err = mustTouchOnly(name, r.stdout)
				}
				took[side] = r.wall
				return err
			})
			if err != nil {
				return err
			}
		}
		if round > 0 {
			kens, others = append(kens, took[0]), append(others, took[1])
		}
	}
	s.rows = append(s.rows, row{
		work: surveyEditWork, files: s.files, ken: median(kens), against: kenEdit, other: median(others), atMost: surveyEditAtMost,
	})
	return nil
}

// surveyShortRounds is the number of rounds of work that takes milliseconds and has to be prepared.
const surveyShortRounds = 20

// edited calls act while a file has another text, and restores the text.
func (s surveySite) edited(ctx context.Context, name, text string, act func() error) error {
	file := filepath.Join(s.dir, name)
	before, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	err = act()
	old := time.Now().Add(-time.Hour)
	err = errors.Join(err, os.WriteFile(file, before, 0o644), os.Chtimes(file, old, old),
		git(ctx, s.dir, s.env, nil, "update-index", "--refresh"))
	if err == nil {
		// Do not ask for a plan here: it would cache the verdicts of directories.
		_, err = s.command("survey", "run").run(ctx)
	}
	return errors.Join(err, s.mustTrust(ctx))
}

// mustTouchOnly returns an error unless a run described the directory of a file and then directories above it, without
// a gap. A run stops going up when a summary did not change.
func mustTouchOnly(name string, answer []byte) error {
	var ran struct{ Done []string }
	if err := json.Unmarshal(answer, &ran); err != nil {
		return err
	}
	want := path.Dir(name)
	for i, done := range ran.Done {
		if done != want {
			return fmt.Errorf("after an edit of %s, directory %d of %q was described anew; want %s", name, i, ran.Done, want)
		}
		want = path.Dir(want)
	}
	if len(ran.Done) == 0 {
		return fmt.Errorf("after an edit of %s nothing was described anew", name)
	}
	return nil
}

// brief measures ken brief when all summaries are fresh.
func (s surveySite) brief(ctx context.Context) error {
	if err := s.described(ctx); err != nil {
		return err
	}
	name, _ := codeFile(s.plan, s.plan.directories/2, 1)
	d := comparison{
		ken: s.command("brief", path.Dir(name)), other: s.command("status"), rounds: max(s.rounds, surveyShortRounds),
	}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, row{work: surveyBriefWork, files: s.files, ken: ken, against: kenStatus, other: other, atMost: surveyBriefAtMost})
	return nil
}

// none measures a plan when no directory is described.
func (s surveySite) none(ctx context.Context) error {
	if err := errors.Join(s.forget(), s.trusted(ctx)); err != nil {
		return err
	}
	return s.planned(ctx, surveyNoneWork, s.plan.directories)
}

// fresh measures a plan when all directories are fresh.
func (s surveySite) fresh(ctx context.Context) error {
	if err := s.described(ctx); err != nil {
		return err
	}
	return s.planned(ctx, surveyFreshWork, 0)
}

func (s surveySite) planned(ctx context.Context, work string, want int) error {
	d := comparison{ken: s.command("survey", "plan"), other: s.command("verify"), rounds: max(s.rounds, surveyShortRounds)}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return err
	}
	if n, err := s.wanted(ctx); err != nil || n != want {
		return errors.Join(err, fmt.Errorf("%d directories are planned, want %d", n, want))
	}
	s.rows = append(s.rows, row{
		work: work, files: s.plan.directories, unit: "directories", ken: ken, against: kenVerify, other: other, atMost: surveyPlanAtMost,
	})
	return nil
}

// forget deletes the caches and the store of ken.
func (s surveySite) forget() error { return os.RemoveAll(filepath.Join(s.dir, ".git", "ken")) }

// described describes every directory. It is not timed.
func (s surveySite) described(ctx context.Context) error {
	if _, err := s.command("survey", "run").run(ctx); err != nil {
		return err
	}
	return s.mustHold(ctx)
}

// mustHold returns an error unless the summaries of all directories are fresh.
func (s surveySite) mustHold(ctx context.Context) error {
	n, err := s.wanted(ctx)
	if err == nil && n > 0 {
		err = fmt.Errorf("%d directories are still to be described", n)
	}
	return errors.Join(err, s.mustTrust(ctx))
}

// wanted returns the number of directories without a fresh summary.
func (s surveySite) wanted(ctx context.Context) (int, error) {
	r, err := s.command("survey", "plan", "--json").run(ctx)
	if err != nil {
		return 0, err
	}
	var plan struct {
		Directories []json.RawMessage `json:"directories"`
	}
	if err := json.Unmarshal(r.stdout, &plan); err != nil {
		return 0, fmt.Errorf("read the plan of the survey: %w", err)
	}
	return len(plan.Directories), nil
}
