package survey

import (
	"context"
	"fmt"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// maxRounds is the most rounds of a run. One is enough, unless others store summaries meanwhile. Such a summary may
// also be the text of a directory with the same basis that this run has already judged.
const maxRounds = 4

// rounds describes directories until none needs a summary. All rounds use the files as they were when the run
// started.
func (r *run) rounds(ctx context.Context, ts *treeStatus) error {
	for round := 1; ; round++ {
		ts.outlinesOnly = ts.outlinesOnly && r.makesOutlines()
		done := len(r.result.Done)
		r.treeStatus = ts // wants reads it
		r.queue = newQueue(ts, r.wants)
		if err := r.describeAll(ctx); err != nil {
			return err
		}
		if r.makesOutlines() || r.result.Stopped != "" || r.result.Left > 0 || len(r.result.Done) == done {
			return nil
		}
		var err error
		if ts, err = r.judgeStored(ctx); err != nil {
			return err
		}
		r.dropResolvedFailures(ts)
		if r.result.Left = r.left(ts); r.result.Left == 0 || round == maxRounds {
			return nil
		}
	}
}

// dropResolvedFailures removes failures of directories that are fresh now, because another directory with the same
// basis got a summary.
func (r *run) dropResolvedFailures(ts *treeStatus) {
	resolved := make(map[repo.PathJSON]bool)
	for _, d := range ts.order {
		if r.gaveUp[d.Path] && ts.status[d].Verdict.State == fresh.Fresh {
			resolved[repo.DirLabel(d.Path).JSON()] = true
		}
	}
	r.result.Failed = slices.DeleteFunc(r.result.Failed, func(f FailedPath) bool { return resolved[f.PathJSON] })
}

// recount counts the directories that need a summary again because files changed during the run. A run of outlines
// is too short for that.
func (r *run) recount(ctx context.Context) error {
	if r.runOpts.CurrentTree == nil || r.makesOutlines() || r.result.Stopped != "" || r.result.Left > 0 || len(r.result.Done) == 0 {
		return nil
	}
	now := Survey{r.runOpts.CurrentTree(), r.store, r.opts}
	ts, err := now.judgeStored(ctx)
	if err != nil {
		return fmt.Errorf("check the summaries after the run: %w", err)
	}
	r.result.Left = r.left(ts)
	return nil
}

// left counts the directories that this run would still describe.
func (r *run) left(ts *treeStatus) int {
	return len(ts.work(r.writer.Recipe(), r.wants))
}
