package survey_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/workspace"
)

// drawSameInputs draws a tree that has the same files in many directories.
func drawSameInputs(t *rapid.T) *memoryRepo {
	w := newMemoryRepo()
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	shape := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x.go", "m/x.go", "n/x.go", "m/n/x.go", "n/n/y.go"}), 1, 4, rapid.ID[string])
	content := rapid.SampledFrom([]string{"one", "two"})
	for range rapid.IntRange(2, 8).Draw(t, "places") {
		at := strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "at"), "/")
		same := content.Draw(t, "content")
		for _, f := range shape.Draw(t, "files") {
			w.content[repo.Path(at+"/"+f)] = same
		}
	}
	return w
}

// varyingWriter returns a writer that never writes the same text twice, like models and agents.
func varyingWriter() *scriptedWriter {
	var n atomic.Int64
	return &scriptedWriter{say: func(it *describe.Item) (describe.Draft, error) {
		return describe.Draft{Text: fmt.Sprintf("about %s, for the %d. time", repo.DirLabel(it.Path), n.Add(1))}, nil
	}}
}

func dispatchers(w *memoryRepo) func() *survey.Dispatcher {
	var n atomic.Int64
	return func() *survey.Dispatcher {
		return survey.NewDispatcher(w.survey(nil), w, "", func() string { return fmt.Sprint("t", n.Add(1)) })
	}
}

// Directories with the same input that got different summaries keep them, also after a change and its revert.
func TestSameInputKeepsOwnSummaries(t *testing.T) {
	w := newMemoryRepo()
	s := &scriptedWriter{say: func(it *describe.Item) (describe.Draft, error) {
		return describe.Draft{Text: "of " + string(it.Path) + "!"}, nil
	}}
	for _, p := range []repo.Path{"a/x.go", "b/x.go"} {
		separate := newMemoryRepo()
		separate.content[p] = "same"
		run(t, separate, s)
		w.records = append(w.records, separate.records...)
	}
	s.paths()
	for _, content := range []string{"same", "other", "same"} {
		w.content["a/x.go"], w.content["b/x.go"] = content, content
		run(t, w, s)
	}
	same(t, "described: new content once", s.paths(), []string{".", "a", "."})
	shown, err := w.survey(nil).Directories(t.Context(), []repo.Path{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "words", []string{shown[0].TextOrEmpty(), shown[1].TextOrEmpty()}, []string{"of a!", "of b!"})
}

// A directory that this run failed to describe gets the summary of another one with the same input. The run then
// describes the directories above it again.
func TestSharedSummaryAfterFailure(t *testing.T) {
	w := newMemoryRepo()
	for _, p := range []repo.Path{"p/a/x.go", "q/a/x.go", "p/p.go", "q/q.go"} {
		w.content[p] = "of " + p.Base()
	}
	var calls atomic.Int64
	s := &scriptedWriter{say: func(it *describe.Item) (describe.Draft, error) {
		if it.Path == "p/a" {
			return describe.Draft{}, errors.New("no answer")
		}
		return describe.Draft{Text: fmt.Sprintf("about %s, for the %d. time", it.Path, calls.Add(1))}, nil
	}}
	ran := run(t, w, s)
	same(t, "asked", s.paths(), []string{"p/a", "p", "q/a", "q", ".", "p", "."})
	if len(ran.Failed) != 0 || ran.Left != 0 {
		t.Errorf("the run returned %+v; want no failure and no directory left", ran)
	}
	for p, v := range verdicts(t, w) {
		if v != "fresh" {
			t.Errorf("%s is %s, want fresh", p, v)
		}
	}
}

// checkAskedOnce checks that the writer got no input twice, and that no directory is left.
func checkAskedOnce(t *rapid.T, w *memoryRepo, s *scriptedWriter) {
	asked := make(map[fresh.Digest]repo.Path)
	for _, it := range s.items {
		basis := it.Basis.Digest()
		if same, ok := asked[basis]; ok {
			t.Fatalf("%s has the same input as %s, and both were described", it.Path, same)
		}
		asked[basis] = it.Path
	}
	plan, err := w.survey(nil).Plan(t.Context(), s, survey.PlanOptions{})
	if err != nil || len(plan.Directories) != 0 {
		t.Fatalf("the plan after the run is %+v, %v; want no directories", plan, err)
	}
}

// One run describes each input once, with any number of jobs, and leaves no directory.
func TestRunDescribesSameInputOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, s := drawSameInputs(t), varyingWriter()
		if rapid.Bool().Draw(t, "outlined") { // some directories have outlines
			within := rapid.SampledFrom([]repo.Path{"", "a", "b"}).Draw(t, "within")
			_, _ = w.survey(nil).Run(t.Context(), describe.Outliner{}, survey.RunOptions{Within: within}) // fails if the directory does not exist
		}
		opts := survey.RunOptions{Jobs: rapid.IntRange(1, 4).Draw(t, "jobs")}
		if rapid.Bool().Draw(t, "leased") {
			opts.Dispatcher = dispatchers(w)()
		}
		ran, err := w.survey(nil).Run(t.Context(), s, opts)
		if err != nil || ran.Left > 0 {
			t.Fatalf("the run returned %+v, %v; want no directory left", ran, err)
		}
		checkAskedOnce(t, w, s)
	})
}

// Agents that work at the same time get no two directories with the same input.
func TestAgentsGetSameInputOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, s := drawSameInputs(t), varyingWriter()
		if rapid.Bool().Draw(t, "outlined") {
			if _, err := w.survey(nil).Run(t.Context(), describe.Outliner{}, survey.RunOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		runAgents(t, w, nil, s)
		checkAskedOnce(t, w, s)
	})
}

// A fixedTree lists the files of an earlier time.
type fixedTree struct {
	*memoryRepo

	files []repo.File
}

func (f fixedTree) Files(context.Context) ([]repo.File, error) { return f.files, nil }

// A run counts a directory as left if its files changed after it was described.
func TestRunCountsDirectoriesChangedMeanwhile(t *testing.T) {
	for _, edited := range []bool{false, true} {
		w := newMemoryRepo("a/x.go", "b/x.go", "c/d/x.go")
		s := &scriptedWriter{say: func(it *describe.Item) (describe.Draft, error) {
			if it.Path == "" && edited {
				w.content["a/x.go"] = "edited"
			}
			return describe.Draft{Text: "about " + repo.DirLabel(it.Path).String()}, nil
		}}
		files, err := w.Files(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ran, err := survey.New(fixedTree{w, files}, w, survey.Options{}).Run(t.Context(), s, survey.RunOptions{CurrentTree: func() workspace.Tree { return w }})
		if err != nil || len(ran.Done) != 5 || len(ran.Failed) != 0 {
			t.Fatalf("the run returned %+v, %v; want 5 directories done", ran, err)
		}
		if want := map[bool]int{true: 2}[edited]; ran.Left != want { // a, and the root
			t.Errorf("edited %v: %d left, want %d", edited, ran.Left, want)
		}
	}
}
