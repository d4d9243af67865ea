package survey_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
	"ken/internal/survey/describe"
)

// The plan, the counts, the work that is left for agents and the list of directories agree on which directories need a
// summary, and call each by the same word. None reads the texts that a run of outlines makes as summaries.
func TestAnswersAgreeOnWhatNeedsASummary(t *testing.T) {
	files := []string{"a/x.go", "a/b/x.go", "a/b/c/x.go", "d/x.go", "d/e/x.go", "x.go"}
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		w := newMemoryRepo(files...)
		dir := func() repo.Path { return rapid.SampledFrom([]repo.Path{"", "a", "a/b", "d"}).Draw(t, "dir") }
		for range rapid.IntRange(0, 6).Draw(t, "steps") {
			var err error
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				_, err = w.survey(nil).Run(ctx, describe.Outliner{}, survey.RunOptions{Within: dir()})
			case 1:
				text := rapid.SampledFrom([]string{"f", "f # comment", "f; body", "g"}).Draw(t, "text")
				w.content[repo.Path(rapid.SampledFrom(append(files, "n/x.go")).Draw(t, "file"))] = text
			case 2:
				_, err = w.survey(nil).Confirm(ctx, []survey.Confirmation{{Path: dir(), Author: "reviewer"}})
			case 3:
				fails := rapid.SampledFrom([]repo.Path{"", "a", "a/b", "none"}).Draw(t, "fails")
				s := &scriptedWriter{say: func(it *describe.Item) (describe.Draft, error) {
					if it.Path == fails {
						return describe.Draft{}, errors.New("no answer")
					}
					return describe.Draft{Text: "about " + string(it.Path) + "."}, nil
				}}
				_, err = w.survey(nil).Run(ctx, s, survey.RunOptions{Within: dir()})
			default:
				d := dispatchers(w)()
				var got *survey.NextItem
				got, err = d.Next(ctx, survey.NextOptions{})
				if err == nil && got.Item != nil {
					p, _ := got.Item.Raw()
					if p == "." {
						p = ""
					}
					_, err = d.Submit(ctx, survey.Submission{Path: p, Lease: got.Item.Lease, Author: "agent", Draft: describe.Draft{Text: "by an agent."}})
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		checkAnswersAgree(t, w)
	})
}

func checkAnswersAgree(t *rapid.T, w *memoryRepo) {
	ctx := context.Background()
	shown, err := w.survey(nil).Show(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	need := make(map[string]string)
	for _, d := range shown.Directories {
		if d.Verdict.State == fresh.Stale || d.Verdict.State == fresh.None || d.Outline {
			need[d.Path] = d.Word()
		}
	}
	plan, err := w.survey(nil).Plan(ctx, describe.Outliner{}, survey.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range plan.Directories {
		if need[d.Path] != d.Word() {
			t.Errorf("%s: the plan calls it %q, the list %q", d.Path, d.Word(), need[d.Path])
		}
	}
	d := dispatchers(w)()
	remaining, err := d.Remaining(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w.leases = make(map[repo.Path]store.Lease)
	next, err := d.Next(ctx, survey.NextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := shown.Summaries
	for what, n := range map[string]int{
		"the plan": len(plan.Directories), "what is left for agents": remaining, "next": next.Remaining,
		"the counts": c.Stale + c.Outlines + c.None, "the plan's sum": plan.NeedSummary,
	} {
		if n != len(need) {
			t.Errorf("%s: %d directories need a summary; the list says %d: %v", what, n, len(need), need)
		}
	}
}
