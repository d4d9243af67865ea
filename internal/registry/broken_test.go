package registry_test

import (
	"errors"
	"testing"

	"ken/internal/registry"
	"ken/internal/repo"
)

// If git or the disk fails, the result is an error and never a verdict, and nothing is written.
func TestNotKnowingIsAnError(t *testing.T) {
	for _, question := range []string{
		"Snapshot", "StillCurrent", "Upstream", "Tree", "IndexDiffers", "Reachable", "Attributes", "HasCRLF", "Untracked", "Stat", "Read", "Renamed",
	} {
		t.Run(question, func(t *testing.T) {
			w := committed(t, ".gitattributes", "*.e encoding\n*.t auto\n", "a.go", "alpha", "b.e", "café", "c.t", "one\n", "old.go", "old")
			w.describe(t, "old.go")
			w.verify(t, registry.VerifyOptions{})
			w.remove("old.go")
			w.stage("old.go")
			w.put("a.go", "other")
			w.commit()
			if question != "IndexDiffers" { // IndexDiffers is called only if nothing else is dirty
				w.write("b.e", "th\xe9")
				w.write("c.t", "two\r\n")
			}
			w.broken = question
			rep, err := w.registry().Verify(w.ctx, registry.VerifyOptions{Untracked: true})
			if !errors.Is(err, errBroken) {
				t.Fatalf("Verify returned %+v, %v; want the error of git", rep, err)
			}
			w.broken = ""
			if rows, err := w.store.RowsOf(w.ctx, "", []repo.Path{"a.go"}); err != nil || rows["a.go"].Content.ID != blob("alpha") {
				t.Errorf("a row was written: %+v, %v", rows, err)
			}
		})
	}
}

// A file that git cannot convert is unknown. The others are not affected.
func TestUnconvertibleFile(t *testing.T) {
	w := committed(t, ".gitattributes", "*.e encoding\n", "a.go", "alpha", "b.e", "café")
	w.verify(t, registry.VerifyOptions{})
	w.write("a.go", "other")
	w.write("b.e", "th\xe9")
	w.broken = "StoredIDs"
	same(t, "verdicts", verdicts(w.verify(t, registry.VerifyOptions{})), []string{"mismatch none a.go", "unknown unknown b.e"})
}

func TestNotKnowingIsAnErrorOfEveryQuestion(t *testing.T) {
	ask := map[string]func(*fakeRepo) error{
		"show": func(w *fakeRepo) error { _, err := w.registry().Show(w.ctx, []repo.Path{"a.go"}); return err },
		"list": func(w *fakeRepo) error { _, err := w.registry().List(w.ctx, nil, nil); return err },
		"close": func(w *fakeRepo) error {
			_, err := w.registry().Close(w.ctx, registry.CloseOptions{Paths: []repo.Path{"a.go"}})
			return err
		},
		"write": func(w *fakeRepo) error {
			_, err := w.registry().Write(w.ctx, []registry.Update{{Path: "a.go", Text: "x"}})
			return err
		},
	}
	for name, f := range ask {
		for _, question := range []string{"Snapshot", "Stat", "Read"} {
			w := settled(t, "a.go", "alpha")
			w.write("a.go", "other")
			w.broken = question
			if err := f(w); !errors.Is(err, errBroken) {
				t.Errorf("%s with a broken %s returned the error %v; want that of git", name, question, err)
			}
		}
	}
}

func TestHeadThatIsNotInTheRepository(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	w.head = blob("elsewhere")
	if rep, err := w.registry().Status(w.ctx, registry.VerifyOptions{}); err == nil {
		t.Errorf("the report is %+v", rep)
	}
}
