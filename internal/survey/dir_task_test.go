package survey_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
)

// Workers that share the tasks of a survey describe the same directories as one run, no parent before its child,
// and store the same texts.
func TestSharedTasksEqualOneRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, ranks := drawRepo(t)
		one, many := &scriptedWriter{}, &scriptedWriter{}
		if rapid.Bool().Draw(t, "described before") {
			if _, err := w.survey(ranks).Run(t.Context(), one, survey.RunOptions{}); err != nil {
				t.Fatal(err)
			}
			one.paths()
			for _, p := range slices.Sorted(maps.Keys(w.content)) {
				if rapid.IntRange(0, 3).Draw(t, "edited") == 0 {
					w.content[p] += rapid.SampledFrom([]string{"#comment", ";body", " more"}).Draw(t, "edit")
				}
			}
		}
		alone := &memoryRepo{content: w.content, excluded: w.excluded, failures: map[repo.Path]store.DirFailure{}, records: slices.Clone(w.records), clock: w.clock}
		if _, err := alone.survey(ranks).Run(t.Context(), one, survey.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		describeAll(t, w, ranks, many)
		asked, shared := one.paths(), many.paths()
		slices.Sort(asked)
		slices.Sort(shared)
		if !slices.Equal(asked, shared) {
			t.Errorf("one run describes %v, workers describe %v", asked, shared)
		}
		a, b := textsOf(t, alone, ranks), textsOf(t, w, ranks)
		if !maps.Equal(a, b) {
			t.Errorf("texts of one run: %v; of workers: %v", a, b)
		}
	})
}

// textsOf returns the verdict and the text of each directory.
func textsOf(t *rapid.T, w *memoryRepo, ranks map[repo.Path]survey.Rank) map[string]string {
	t.Helper()
	shown, err := w.survey(ranks).Show(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for _, d := range shown.Directories {
		texts[d.Path] = d.Verdict.String()
		if d.Text != nil {
			texts[d.Path] += " " + *d.Text
		}
	}
	return texts
}

// describeAll describes all tasks as workers do, each with its own survey, in a drawn order.
func describeAll(t *rapid.T, w *memoryRepo, ranks map[repo.Path]survey.Rank, by *scriptedWriter) {
	t.Helper()
	out, err := w.survey(ranks).Tasks(t.Context(), by, "")
	if err != nil {
		t.Fatal(err)
	}
	at := make(map[repo.Path]*survey.DirTask)
	for i := range out.Tasks {
		at[out.Tasks[i].Path] = &out.Tasks[i]
	}
	input := func(p *survey.DirTask) survey.TaskInput {
		r, err := w.DirRecord(t.Context(), p.Record)
		if err != nil {
			t.Fatal(err)
		}
		return survey.TaskInput{DirTask: *p, Summary: r}
	}
	done := make(map[repo.Path]bool)
	for range out.Work {
		var ready []*survey.DirTask
		for i := range out.Tasks {
			if p := &out.Tasks[i]; p.Work && p.Waits == 0 && !done[p.Path] {
				ready = append(ready, p)
			}
		}
		p := rapid.SampledFrom(ready).Draw(t, "next")
		var below []survey.TaskInput
		for i := range out.Tasks {
			if c := &out.Tasks[i]; c.Path != "" && c.Path.Dir() == p.Path {
				if c.Work && !done[c.Path] {
					t.Fatalf("%s is ready before %s", p.Path, c.Path)
				}
				below = append(below, input(c))
			}
		}
		s := w.survey(ranks)
		assigned, err := s.Assign(t.Context(), by, input(p), below)
		if err != nil {
			t.Fatal(err)
		}
		if assigned.Item != nil {
			draft, err := by.Write(t.Context(), assigned.Item)
			if err != nil {
				t.Fatal(err)
			}
			r, err := assigned.Record(draft)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.SaveDirRecords(t.Context(), []*store.DirRecord{r}); err != nil {
				t.Fatal(err)
			}
		}
		p.Verdict, p.Reasons, p.Record = assigned.Result()
		if done[p.Path] = true; !p.Top {
			at[p.Above].Waits--
		}
	}
}
