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

// surveyColdRounds are enough for what takes seconds.
const surveyColdRounds = 5

// cold: nothing is known, not even what grammars see in the files, against reading
// every byte of them. Every directory must be described.
func (s surveySite) cold(ctx context.Context) error {
	if err := s.trusted(ctx); err != nil {
		return err
	}
	d := duel{
		ken:    s.command("survey", "run"),
		other:  s.command("verify", "--full"),
		rounds: min(s.rounds, surveyColdRounds),
		// The other side finds rows in any case: those that this one has left.
		beforeKen: s.forget,
		after:     func(ctx context.Context, _ int) error { return s.mustHold(ctx) },
	}
	ken, other, _, err := d.fight(ctx)
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

// edit: one file was edited, another one each round, so that what is said of it is
// another. Both sides are given the same edit: it is put back between them. The
// directory of the file must be described anew, and nothing but those above it.
func (s surveySite) edit(ctx context.Context) error {
	// What an earlier run wrote of the same edits would be found again.
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

// surveyShortRounds are for what takes milliseconds, with something to prepare.
const surveyShortRounds = 20

// edited calls act while a file has another text, and puts it back.
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
		// A run alone: nobody asks for a plan, which would keep how directories stand.
		_, err = s.command("survey", "run").run(ctx)
	}
	return errors.Join(err, s.mustTrust(ctx))
}

// mustTouchOnly makes sure that a run described the directory of a file anew, and
// besides only directories above it, in order and without a gap: whatever is above one
// that was described in the same words as before stays as it was.
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

// brief: what is known about a place, when all of it is known.
func (s surveySite) brief(ctx context.Context) error {
	if err := s.described(ctx); err != nil {
		return err
	}
	name, _ := codeFile(s.plan, s.plan.directories/2, 1)
	d := duel{
		ken: s.command("brief", path.Dir(name)), other: s.command("status"), rounds: max(s.rounds, surveyShortRounds),
	}
	ken, other, _, err := d.fight(ctx)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, row{work: surveyBriefWork, files: s.files, ken: ken, against: kenStatus, other: other, atMost: surveyBriefAtMost})
	return nil
}

// none: a plan of all directories, each of which is to be described.
func (s surveySite) none(ctx context.Context) error {
	if err := errors.Join(s.forget(), s.trusted(ctx)); err != nil {
		return err
	}
	return s.planned(ctx, surveyNoneWork, s.plan.directories)
}

// fresh: a plan of all directories, none of which is.
func (s surveySite) fresh(ctx context.Context) error {
	if err := s.described(ctx); err != nil {
		return err
	}
	return s.planned(ctx, surveyFreshWork, 0)
}

func (s surveySite) planned(ctx context.Context, work string, want int) error {
	d := duel{ken: s.command("survey", "plan"), other: s.command("verify"), rounds: max(s.rounds, surveyShortRounds)}
	ken, other, _, err := d.fight(ctx)
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

// forget removes what ken has kept.
func (s surveySite) forget() error { return os.RemoveAll(filepath.Join(s.dir, ".git", "ken")) }

// described makes sure that every directory is described, untimed.
func (s surveySite) described(ctx context.Context) error {
	if _, err := s.command("survey", "run").run(ctx); err != nil {
		return err
	}
	return s.mustHold(ctx)
}

// mustHold makes sure that all that is said of directories holds.
func (s surveySite) mustHold(ctx context.Context) error {
	n, err := s.wanted(ctx)
	if err == nil && n > 0 {
		err = fmt.Errorf("%d directories are still to be described", n)
	}
	return errors.Join(err, s.mustTrust(ctx))
}

// wanted returns how many directories are to be described.
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
