package survey_test

import (
	"strings"
	"testing"

	"ken/internal/model"
	"ken/internal/model/modeltest"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey/describe"
)

// A flag is listed as long as its file has the content that the author saw.
func TestFlags(t *testing.T) {
	w := newMemoryRepo("src/a.go", "src/b.go")
	flags := func() (list []string) {
		t.Helper()
		r, err := w.survey(nil).Report(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Flags {
			list = append(list, f.Severity+" "+string(f.Path)+" "+f.Finding)
		}
		return list
	}
	o := &scriptedModel{say: func(req model.Request) (model.Reply, error) {
		switch {
		case directoryOf(req) != "src":
			return describeAny(req)
		case strings.Contains(req.Messages[0].Text, "answer with the single word keep"):
			return modeltest.SubmitReply("`keep`"), nil
		case len(req.Messages) == 1:
			reply := modeltest.CallReply("flag", map[string]any{"path": "src/a.go", "finding": "a secret", "severity": "critical"})
			reply.Calls = append(reply.Calls, modeltest.CallReply("flag", map[string]any{"path": "src/b.go", "finding": "odd", "severity": "info"}).Calls...)
			reply.Calls[1].ID = "2"
			return reply, nil
		}
		return modeltest.SubmitReply("about src"), nil
	}}
	run(t, w, &describe.ModelWriter{Model: o})
	secret, odd := "critical src/a.go a secret", "info src/b.go odd"
	same(t, "flags", flags(), []string{secret, odd})
	w.content["src/a.go"] = "the secret is gone"
	same(t, "flags after an edit of one file", flags(), []string{odd})
	// The model keeps the text, and with it the flag of the unchanged file.
	o.turns()
	ran := run(t, w, &describe.ModelWriter{Model: o})
	same(t, "kept", ran.Done, []string{"src"})
	same(t, "flags after keep", flags(), []string{odd})
	if n := len(o.turns()); n != 1 {
		t.Errorf("keep cost %d turns", n)
	}
	w.content["src/a.go"] = "content of src/a.go"
	same(t, "flags after a revert", flags(), []string{secret, odd})
	// A renamed directory keeps its flags.
	for _, name := range []repo.Path{"a.go", "b.go"} {
		w.content["lib/"+name] = w.content["src/"+name]
		delete(w.content, "src/"+name)
	}
	same(t, "flags after a rename", flags(), []string{"critical lib/a.go a secret", "info lib/b.go odd"})
}

// Several directories report the same finding about a file of another directory. The report
// lists it once, as long as that file has the content that they saw.
func TestFlagsOfFilesElsewhere(t *testing.T) {
	w := newMemoryRepo("main.go", "lib/a.go", "src/b.go")
	severity := map[string]string{"lib": "info", "src": "critical"}
	o := &scriptedModel{say: func(req model.Request) (model.Reply, error) {
		if len(req.Messages) == 1 && severity[directoryOf(req)] != "" {
			return modeltest.CallReply("flag", map[string]any{"path": "main.go", "finding": "hard-coded", "severity": severity[directoryOf(req)]}), nil
		}
		return modeltest.SubmitReply("about " + directoryOf(req)), nil
	}}
	run(t, w, &describe.ModelWriter{Model: o})
	flags := func() (list []string) {
		t.Helper()
		r, err := w.survey(nil).Report(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Flags {
			list = append(list, f.Severity+" "+string(f.Path)+" "+f.Finding)
		}
		return list
	}
	once := []string{"critical main.go hard-coded"}
	same(t, "findings of two directories", flags(), once)
	before := w.content["main.go"]
	w.content["main.go"] = "fixed"
	same(t, "findings after the file was edited", flags(), nil)
	w.content["main.go"] = before
	same(t, "findings after a revert", flags(), once)
	delete(w.content, "main.go")
	same(t, "findings after the file was deleted", flags(), nil)
}

// Flags of older records have no content id. The basis of the record has it for the
// directory's own files. For other files ken only knows whether they exist.
func TestFlagsWithoutContent(t *testing.T) {
	w := newMemoryRepo("main.go", "src/a.go", "src/b.go")
	run(t, w, &describe.ModelWriter{Model: &scriptedModel{say: func(req model.Request) (model.Reply, error) {
		return modeltest.SubmitReply("about " + directoryOf(req)), nil
	}}})
	for _, r := range w.records {
		if r.Path == "src" {
			r.Flags = []store.DirFlag{
				{Path: "src/a.go", Severity: "info", Finding: "odd"},
				{Path: "main.go", Severity: "info", Finding: "odd"},
			}
		}
	}
	flags := func() (list []string) {
		t.Helper()
		r, err := w.survey(nil).Report(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Flags {
			list = append(list, string(f.Path))
		}
		return list
	}
	same(t, "flagged files", flags(), []string{"src/a.go", "main.go"})
	w.content["src/a.go"] = "changed"
	same(t, "flagged files after an edit of src/a.go", flags(), []string{"main.go"})
	delete(w.content, "main.go")
	same(t, "flagged files after main.go was deleted", flags(), nil)
}
