package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// docsWorks are the rows of a repository with documents.
var docsWorks = []work{
	{
		name: "docs, cold", against: "ken survey run", atMost: 3, rounds: slowRounds,
		compare: (*site).docsCold, memory: 300_000_000,
	},
	{
		name: "docs, warm", against: "ken status", atMost: 2, rounds: shortRounds, noGit: true,
		prepare: (*site).mustFind, compare: (*site).docsWarm,
	},
	{
		name: "docs, one edit", against: gitStatus, budget: docsEditBudget, processor: true, rounds: shortRounds,
		prepare: (*site).mustFind, compare: (*site).docsEdit, finish: (*site).restoreAll,
	},
}

// docsEditBudget is the processor time of ken docs after one edited line of code.
const docsEditBudget = 300 * time.Millisecond

// docsCold measures ken docs without a cache, against a survey of the same files by outlines, without one either.
func (s *site) docsCold() comparison {
	return comparison{
		ken: s.command("docs"), beforeKen: s.forget,
		other: s.command("survey", "run", "--provider", "outline"), beforeOther: s.forget,
		after: func(ctx context.Context, _ int) error { return s.mustFind(ctx) },
	}
}

// docsWarm measures ken docs when nothing changed since the last answer.
func (s *site) docsWarm() comparison {
	return comparison{ken: s.command("docs"), other: s.command("status")}
}

// docsEdit measures ken docs after a line was added to a source file.
func (s *site) docsEdit() comparison {
	name := s.plan.path(1)
	var before []byte
	return comparison{
		ken: s.command("docs"), other: s.gitStatus(),
		before: func(_ context.Context, round int) (err error) {
			if before == nil {
				before, err = os.ReadFile(filepath.Join(s.dir, name))
			}
			return errors.Join(err, s.edit(name, fmt.Sprintf("%s# round %d\n", before, round)))
		},
	}
}

// restoreAll restores what docsEdit edited.
func (s *site) restoreAll(ctx context.Context) error {
	return git(ctx, s.dir, s.env, nil, "checkout", "-q", ".")
}

// mustFind returns an error unless ken docs reads all pages and finds moved and gone mentions.
func (s *site) mustFind(ctx context.Context) error {
	var found struct {
		Documents int
		Counts    map[string]int
	}
	if err := s.ask(ctx, &found, "docs", "--json"); err != nil {
		return err
	}
	complete := found.Documents == s.plan.pages && found.Counts["unknown"] == 0
	if !complete || found.Counts["moved"] == 0 || found.Counts["gone"] == 0 {
		return fmt.Errorf("ken docs found %v in %d documents", found.Counts, found.Documents)
	}
	return nil
}
