package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// The limits of ken prove, on 200 commits of a long history.
const (
	proveColdBudget   = 60 * time.Second
	proveMemoryBudget = 300_000_000
	proveCommits      = 200

	proveColdWork   = "prove, cold"
	proveWarmWork   = "prove, warm"
	proveMemoryWork = "prove, cold, memory"

	gitLogSome = "git log -200 --raw"
)

// proveWorks fills the rows of ken prove, on the histories of ken spec.
func (b *bench) proveWorks(ctx context.Context) error {
	if !b.anyOf(proveColdWork, proveWarmWork, proveMemoryWork) {
		return nil
	}
	dir, err := specRepository(ctx, b.dir, b.env, specPlan{b.commits, specNodes, 24})
	if err != nil {
		return err
	}
	if err := b.proveSite(ctx, specSite{bench: b, dir: dir}); err != nil {
		return err
	}
	for _, repo := range b.repos {
		dir, err := specClone(ctx, b.dir, b.env, repo, specNodes)
		if err != nil {
			return err
		}
		if err := b.proveSite(ctx, specSite{bench: b, dir: dir, name: ", " + repoName(repo)}); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) proveSite(ctx context.Context, s specSite) error {
	commits, err := s.commitCount(ctx)
	if err != nil {
		return err
	}
	ken := command{args: []string{s.ken, "prove", "--json"}, dir: s.dir, env: s.env}
	log := command{
		args: []string{"sh", "-c", fmt.Sprintf("git log -%d --raw --first-parent >%s", proveCommits, os.DevNull)},
		dir:  s.dir, env: s.env,
	}
	replayed := func(ctx context.Context, _ int) error {
		r, err := ken.run(ctx)
		if err != nil {
			return err
		}
		var report struct {
			Commits struct{ Replayed, Unknown int }
		}
		if err := json.Unmarshal(r.stdout, &report); err != nil {
			return fmt.Errorf("ken prove --json: %w", err)
		}
		if c := report.Commits; c.Replayed != min(proveCommits, commits) || c.Unknown > 0 {
			return fmt.Errorf("ken prove replayed %d commits and does not know %d", c.Replayed, c.Unknown)
		}
		return nil
	}
	for _, w := range []struct {
		name   string
		before func() error
		budget time.Duration
	}{{proveColdWork, s.forget, proveColdBudget}, {proveWarmWork, nil, 0}} {
		if !b.only.MatchString(w.name) {
			continue
		}
		progress("%s%s, %d of %d commits", w.name, s.name, proveCommits, commits)
		d := comparison{ken: ken, other: log, rounds: min(b.rounds, specColdRounds), beforeKen: w.before, after: replayed}
		took, other, _, err := d.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s%s: %w", w.name, s.name, err)
		}
		b.rows = append(b.rows, row{
			work: w.name + s.name, files: commits, unit: "commits", ken: took, against: gitLogSome, other: other, budget: w.budget,
		})
	}
	if !b.only.MatchString(proveMemoryWork) {
		return nil
	}
	if err := s.forget(); err != nil {
		return err
	}
	memory, err := ken.alone(ctx)
	if err != nil {
		return err
	}
	b.rows = append(b.rows, row{work: proveMemoryWork + s.name, files: commits, unit: "commits", memory: memory, memoryBudget: proveMemoryBudget})
	return nil
}
