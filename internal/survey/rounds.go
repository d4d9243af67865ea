package survey

import (
	"context"
	"fmt"
	"slices"

	"ken/internal/repo"
)

// maxRounds is how often a run goes through the directories. Once is enough, but for what
// others write meanwhile: a text may speak for directories of the same content that this run
// was through with.
const maxRounds = 4

// rounds describes what is to be described until nothing is, which it looks after as the
// files were when the run began.
func (r *run) rounds(ctx context.Context, j *judgement) error {
	for round := 1; ; round++ {
		j.outlinesOnly = j.outlinesOnly && outlines(r.writer)
		done := len(r.ran.Done)
		r.judgement = j // which wants needs
		r.queue = newQueue(j, r.wants)
		if err := r.work(ctx); err != nil {
			return err
		}
		if outlines(r.writer) || r.ran.Stopped != "" || r.ran.Left > 0 || len(r.ran.Done) == done {
			return nil
		}
		var err error
		if j, err = r.judgeStored(ctx); err != nil {
			return err
		}
		r.forgive(j)
		if r.ran.Left = r.left(j); r.ran.Left == 0 || round == maxRounds {
			return nil
		}
	}
}

// forgive takes back that this run failed at directories for which a text speaks all the
// same, that was written about another one.
func (r *run) forgive(j *judgement) {
	spoken := make(map[repo.PathJSON]bool)
	for _, d := range j.order {
		if r.gaveUp[d.Path] && j.at[d].Verdict == Fresh {
			spoken[repo.DirLabel(d.Path).JSON()] = true
		}
	}
	r.ran.Failed = slices.DeleteFunc(r.ran.Failed, func(f FailedPath) bool { return spoken[f.PathJSON] })
}

// lookAgain counts what is to be described again because files have changed since the run
// looked at them. Outlines are made too fast for that.
func (r *run) lookAgain(ctx context.Context) error {
	if r.how.Anew == nil || outlines(r.writer) || r.ran.Stopped != "" || r.ran.Left > 0 || len(r.ran.Done) == 0 {
		return nil
	}
	now := Survey{r.how.Anew(), r.store, r.opts}
	j, err := now.judgeStored(ctx)
	if err != nil {
		return fmt.Errorf("check the summaries after the run: %w", err)
	}
	r.ran.Left = r.left(j)
	return nil
}

// left counts the directories that this run would describe.
func (r *run) left(j *judgement) int {
	n := 0
	for _, ok := range j.work(r.writer, r.wants) {
		if ok {
			n++
		}
	}
	return n
}
