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
)

// drawTwins draws a tree in which the same files lie in many places, alone and nested.
func drawTwins(t *rapid.T) *world {
	w := newWorld()
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

// A fickle scribe never says the same twice, as models and agents do not.
func fickle() *scribe {
	var n atomic.Int64
	return &scribe{say: func(it *survey.Item) (survey.Draft, error) {
		return survey.Draft{Text: fmt.Sprintf("about %s, for the %d. time", repo.DirLabel(it.Path), n.Add(1))}, nil
	}}
}

func dispatchers(w *world) func() *survey.Dispatcher {
	var n atomic.Int64
	return func() *survey.Dispatcher {
		return survey.NewDispatcher(w.survey(nil), w, "", func() string { return fmt.Sprint("t", n.Add(1)) })
	}
}

// Twins that were described apart have words of their own, and find them again.
func TestTwins(t *testing.T) {
	w := newWorld()
	s := &scribe{say: func(it *survey.Item) (survey.Draft, error) {
		return survey.Draft{Text: "of " + string(it.Path) + "!"}, nil
	}}
	for _, p := range []repo.Path{"a/x.go", "b/x.go"} {
		apart := newWorld()
		apart.content[p] = "same"
		run(t, apart, s)
		w.records = append(w.records, apart.records...)
	}
	s.paths()
	for _, content := range []string{"same", "other", "same"} {
		w.content["a/x.go"], w.content["b/x.go"] = content, content
		run(t, w, s)
	}
	same(t, "once for what is new, and never again", s.paths(), []string{".", "a", "."})
	shown, err := w.survey(nil).Directories(t.Context(), []repo.Path{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "words", []string{shown[0].Words(), shown[1].Words()}, []string{"of a!", "of b!"})
}

// A text speaks for a directory with the same input that this very run has failed at, or that was written about
// meanwhile: those above, which the run was through with, are told of it all the same.
func TestTwinsAfterTheFact(t *testing.T) {
	w := newWorld()
	for _, p := range []repo.Path{"p/a/x.go", "q/a/x.go", "p/p.go", "q/q.go"} {
		w.content[p] = "of " + p.Base()
	}
	var said atomic.Int64
	s := &scribe{say: func(it *survey.Item) (survey.Draft, error) {
		if it.Path == "p/a" {
			return survey.Draft{}, errors.New("no answer")
		}
		return survey.Draft{Text: fmt.Sprintf("about %s, for the %d. time", it.Path, said.Add(1))}, nil
	}}
	ran := run(t, w, s)
	same(t, "asked", s.paths(), []string{"p/a", "p", "q/a", "q", ".", "p", "."})
	if len(ran.Failed) != 0 || ran.Left != 0 {
		t.Errorf("%+v", ran)
	}
	for p, v := range verdicts(t, w) {
		if v != "fresh" {
			t.Errorf("%s is %s", p, v)
		}
	}
}

// onceEach checks that a model or an agent was asked about nothing twice, and that nothing is left to do.
func onceEach(t *rapid.T, w *world, s *scribe) {
	asked := make(map[fresh.Digest]repo.Path)
	for _, it := range s.items {
		basis := it.Basis.Digest()
		if twin, ok := asked[basis]; ok {
			t.Fatalf("%s is the same as %s, and was asked about too", it.Path, twin)
		}
		asked[basis] = it.Path
	}
	plan, err := w.survey(nil).Plan(t.Context(), s, survey.PlanOptions{})
	if err != nil || len(plan.Directories) != 0 {
		t.Fatalf("left to do: %+v, %v", plan, err)
	}
}

// Whatever lies in several places: one run leaves nothing to do, however many describe at
// once, and nobody is asked twice about the same.
func TestTwinsInOneRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, s := drawTwins(t), fickle()
		if rapid.Bool().Draw(t, "outlined") { // some have outlines of their own
			within := rapid.SampledFrom([]repo.Path{"", "a", "b"}).Draw(t, "within")
			_, _ = w.survey(nil).Run(t.Context(), survey.Outliner{}, survey.RunOptions{Within: within}) // where there is none, none has
		}
		opts := survey.RunOptions{Jobs: rapid.IntRange(1, 4).Draw(t, "jobs")}
		if rapid.Bool().Draw(t, "leased") {
			opts.Dispatcher = dispatchers(w)()
		}
		ran, err := w.survey(nil).Run(t.Context(), s, opts)
		if err != nil || ran.Left > 0 {
			t.Fatalf("%+v, %v", ran, err)
		}
		onceEach(t, w, s)
	})
}

// Agents that work at once get no two directories with the same input, so none of them is told what will be another's.
func TestTwinsUnderLeases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, s := drawTwins(t), fickle()
		if rapid.Bool().Draw(t, "outlined") {
			if _, err := w.survey(nil).Run(t.Context(), survey.Outliner{}, survey.RunOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		workDesk(t, w, nil, s)
		onceEach(t, w, s)
	})
}

// A frozen tree lists the files as they were.
type frozen struct {
	*world

	files []survey.File
}

func (f frozen) Files(context.Context) ([]survey.File, error) { return f.files, nil }

// What changes once it is described does not pass for done.
func TestRunTellsWhatChangedUnderIt(t *testing.T) {
	for _, edited := range []bool{false, true} {
		w := newWorld("a/x.go", "b/x.go", "c/d/x.go")
		s := &scribe{say: func(it *survey.Item) (survey.Draft, error) {
			if it.Path == "" && edited {
				w.content["a/x.go"] = "edited"
			}
			return survey.Draft{Text: "about " + repo.DirLabel(it.Path).String()}, nil
		}}
		files, err := w.Files(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ran, err := survey.New(frozen{w, files}, w, survey.Options{}).Run(t.Context(), s, survey.RunOptions{Anew: func() survey.Tree { return w }})
		if err != nil || len(ran.Done) != 5 || len(ran.Failed) != 0 {
			t.Fatalf("%+v, %v", ran, err)
		}
		if want := map[bool]int{true: 2}[edited]; ran.Left != want { // a, and the root
			t.Errorf("edited %v: %d left, want %d", edited, ran.Left, want)
		}
	}
}
