package survey_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ken/internal/fresh"
	"ken/internal/model"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
)

// wide is a world of more directories than are tiny.
func wide() *world {
	w := newWorld("main.go", "examples/one/e.go", "core/deep/er/d.go")
	for i := range 12 {
		w.content[repo.Path(fmt.Sprintf("p%02d/a.go", i))] = fmt.Sprint("part ", i)
	}
	return w
}

// planner answers the question for a plan with what it is told to, and describes.
func planner(plan *string) *oracle {
	return &oracle{say: func(req model.Request) (model.Reply, error) {
		if strings.Contains(req.System, "You plan") {
			return model.Reply{Text: *plan}, nil
		}
		return describing(req)
	}}
}

// questions counts what was asked apart from directories.
func questions(asked []model.Request) (plans, overviews int) {
	for _, req := range asked {
		switch {
		case strings.Contains(req.System, "You plan"):
			plans++
		case subject(req) == "":
			overviews++
		}
	}
	return plans, overviews
}

// A plan ranks, is told to whoever describes, and holds for whoever looks.
func TestPlanIsKept(t *testing.T) {
	w := wide()
	plan := "Here you are:\n{\"about\": \"A shop.\", \"ranks\": {\"p11\": \"priority\", \"examples\": \"skip\", \"p00\": \"shallow\", \"../x\": \"skip\", \"p01\": \"loud\"}}"
	o := planner(&plan)
	ran := run(t, w, &survey.ModelDescriber{Model: o})
	asked := o.turns()
	if plans, overviews := questions(asked); plans != 1 || overviews != 1 {
		t.Fatalf("%d plans, %d overviews", plans, overviews)
	}
	if ran.Done[0] != "p11" || ran.Done[len(ran.Done)-2] != "p00" || ran.Done[len(ran.Done)-1] != "." {
		t.Errorf("order %q", ran.Done)
	}
	if !strings.Contains(asked[1].Messages[0].Text, "A shop.") {
		t.Errorf("told %q", asked[1].Messages[0].Text)
	}
	for p, v := range verdicts(t, w) {
		if want := map[bool]string{true: "excluded", false: "fresh"}[strings.HasPrefix(p, "examples")]; v != want {
			t.Errorf("%s is %s", p, v)
		}
	}
	// Nothing is to be done, so nothing is asked; nor is an edit a new layout.
	run(t, w, &survey.ModelDescriber{Model: o})
	if n := len(o.turns()); n != 0 {
		t.Errorf("%d turns about nothing", n)
	}
	before := w.content["p03/a.go"]
	w.content["p03/a.go"] = strings.Repeat("much more ", 1000)
	run(t, w, &survey.ModelDescriber{Model: o})
	if plans, _ := questions(o.turns()); plans != 0 {
		t.Error("an edit was planned")
	}
	w.content["p03/a.go"] = before
	run(t, w, &survey.ModelDescriber{Model: o})
	if asked := o.turns(); len(asked) != 0 {
		t.Errorf("a revert cost %d turns, first %q", len(asked), told(asked[0]))
	}
	// What people say goes before.
	ranks := map[repo.Path]survey.Rank{"examples/one": survey.RankNormal}
	shown, err := w.survey(ranks).Show(t.Context(), "examples/one")
	if err != nil || !shown.Directories[0].Outline {
		t.Errorf("%+v, %v; it should have only an outline", shown, err)
	}
	// Another directory is another layout; the old plan holds until there is one.
	w.content["new/n.go"] = "x"
	if v := verdicts(t, w); v["examples"] != "excluded" || v["new"] != "fresh" {
		t.Errorf("%v; the new directory should have its outline", v)
	}
	past, err := survey.New(w, w, survey.Options{Past: true}).Show(t.Context(), "examples")
	if err != nil || !past.Directories[0].Outline {
		t.Errorf("in the past: %+v, %v; it should have only an outline", past, err)
	}
	plan = `{"about": "A market."}`
	run(t, w, &survey.ModelDescriber{Model: o})
	if plans, _ := questions(o.turns()); plans != 1 {
		t.Errorf("%d plans", plans)
	}
	if v := verdicts(t, w); v["examples"] != "fresh" {
		t.Errorf("%v", v)
	}
}

// A plan that makes no sense is noted, and the survey goes on.
func TestNonsensePlan(t *testing.T) {
	all := `{"ranks": {`
	for p := range wide().content {
		all += fmt.Sprintf("%q: \"skip\", ", strings.Split(string(p), "/")[0])
	}
	for _, plan := range []string{"", "no", "{", `{"about": 7}`, `[]`, "} {", all + `"x": "skip"}}`} {
		w := wide()
		ran := run(t, w, &survey.ModelDescriber{Model: planner(&plan)})
		if len(ran.Remarks) != 1 || len(ran.Failed) != 0 || ran.Stopped != "" {
			t.Errorf("%q: %+v", plan, ran)
		}
		for p, v := range verdicts(t, w) {
			if v != "fresh" {
				t.Errorf("%q: %s is %s", plan, p, v)
			}
		}
	}
}

// The overview has its own basis, and is made of the top levels alone.
func TestOverview(t *testing.T) {
	w := newWorld("a/b/c/d/e.go", "a/b/c/f.go", "x/y.go")
	o := &oracle{say: describing}
	run(t, w, &survey.ModelDescriber{Model: o})
	asked := o.turns()
	last := asked[len(asked)-1]
	if _, n := questions(asked); n != 1 || !strings.Contains(told(last), "about a/b") || strings.Contains(told(last), "about a/b/c") {
		t.Errorf("%d overviews, the last of %q", n, told(last))
	}
	report := func() *survey.Section {
		t.Helper()
		r, err := w.survey(nil).Report(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r.Overview
	}
	first := report()
	if first == nil || first.Verdict != "fresh" || first.Text != "an overview" {
		t.Fatalf("%+v", first)
	}
	receipt, err := fresh.ParseReceipt(*first.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	holds := func() survey.RecordCheck {
		t.Helper()
		record, err := w.Kept(t.Context(), receipt.Record)
		if err != nil {
			t.Fatal(err)
		}
		held, err := w.survey(nil).Holds(t.Context(), record, receipt.Subject)
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	if got := holds(); got.State != fresh.Fresh {
		t.Errorf("its receipt: %+v", got)
	}
	// Deep down something changes, and in the end nothing that the overview tells.
	w.content["a/b/c/d/e.go"] = "changed; inside"
	if got := report(); got == nil || got.Verdict != "stale-below" {
		t.Errorf("made from what does not hold: %+v", got)
	}
	if got := holds(); got.State != fresh.Stale || !slices.Equal(got.Reasons, []string{"below_changed"}) {
		t.Errorf("its receipt: %+v", got)
	}
	run(t, w, &survey.ModelDescriber{Model: o})
	if _, n := questions(o.turns()); n != 0 {
		t.Errorf("%d overviews of the same", n)
	}
	if got := report(); got == nil || got.Verdict != "fresh" {
		t.Errorf("%+v", got)
	}
	before := o.say
	o.say = func(req model.Request) (model.Reply, error) {
		if subject(req) == "x" {
			return submitting("something else"), nil
		}
		return before(req)
	}
	w.content["x/y.go"] = "changed"
	if got := report(); got == nil || got.Verdict != "stale-below" {
		t.Errorf("%+v", got)
	}
	run(t, w, &survey.ModelDescriber{Model: o})
	if _, n := questions(o.turns()); n != 1 {
		t.Errorf("%d overviews of something else", n)
	}
}

// A flag is listed as long as its file has the content that the author saw.
func TestFlags(t *testing.T) {
	w := newWorld("src/a.go", "src/b.go")
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
	o := &oracle{say: func(req model.Request) (model.Reply, error) {
		switch {
		case subject(req) != "src":
			return describing(req)
		case strings.Contains(req.Messages[0].Text, "answer with the single word keep"):
			return submitting("`keep`"), nil
		case len(req.Messages) == 1:
			reply := calling("flag", map[string]any{"path": "src/a.go", "finding": "a secret", "severity": "critical"})
			reply.Calls = append(reply.Calls, calling("flag", map[string]any{"path": "src/b.go", "finding": "odd", "severity": "info"}).Calls...)
			reply.Calls[1].ID = "2"
			return reply, nil
		}
		return submitting("about src"), nil
	}}
	run(t, w, &survey.ModelDescriber{Model: o})
	secret, odd := "critical src/a.go a secret", "info src/b.go odd"
	same(t, "flags", flags(), []string{secret, odd})
	w.content["src/a.go"] = "the secret is gone"
	same(t, "flags after an edit of one file", flags(), []string{odd})
	// The text is kept, and with it what was said of the file that is as it was.
	o.turns()
	ran := run(t, w, &survey.ModelDescriber{Model: o})
	same(t, "kept", ran.Done, []string{"src"})
	same(t, "flags after keep", flags(), []string{odd})
	if n := len(o.turns()); n != 1 {
		t.Errorf("keep cost %d turns", n)
	}
	w.content["src/a.go"] = "content of src/a.go"
	same(t, "flags after a revert", flags(), []string{secret, odd})
	// A rename takes them along.
	for _, name := range []repo.Path{"a.go", "b.go"} {
		w.content["lib/"+name] = w.content["src/"+name]
		delete(w.content, "src/"+name)
	}
	same(t, "flags after a rename", flags(), []string{"critical lib/a.go a secret", "info lib/b.go odd"})
}

// Several directories report the same finding about a file of another directory. The report
// lists it once, as long as that file has the content that they saw.
func TestFlagsOfFilesElsewhere(t *testing.T) {
	w := newWorld("main.go", "lib/a.go", "src/b.go")
	severity := map[string]string{"lib": "info", "src": "critical"}
	o := &oracle{say: func(req model.Request) (model.Reply, error) {
		if len(req.Messages) == 1 && severity[subject(req)] != "" {
			return calling("flag", map[string]any{"path": "main.go", "finding": "hard-coded", "severity": severity[subject(req)]}), nil
		}
		return submitting("about " + subject(req)), nil
	}}
	run(t, w, &survey.ModelDescriber{Model: o})
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
	w := newWorld("main.go", "src/a.go", "src/b.go")
	run(t, w, &survey.ModelDescriber{Model: &oracle{say: func(req model.Request) (model.Reply, error) {
		return submitting("about " + subject(req)), nil
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

// A plan that made no sense is not paid for again, until there is something else to
// plan or somebody else to ask; and that is said.
func TestNonsenseIsNotAskedForAgain(t *testing.T) {
	w := newWorld()
	for i := range 14 {
		w.content[repo.Path(fmt.Sprintf("p%02d/a.go", i))] = "x"
	}
	plan := "no"
	o := planner(&plan)
	first := run(t, w, &survey.ModelDescriber{Model: o})
	if plans, _ := questions(o.turns()); plans != 1 || len(first.Remarks) != 1 || !strings.Contains(first.Remarks[0], "does not ask test/oracle again") {
		t.Fatalf("%d plans, %q", plans, first.Remarks)
	}
	w.content["p00/a.go"] = "y"
	again := run(t, w, &survey.ModelDescriber{Model: o})
	if plans, _ := questions(o.turns()); plans != 0 || len(again.Remarks) != 1 || !strings.Contains(again.Remarks[0], "no plan") {
		t.Errorf("%d plans, %q", plans, again.Remarks)
	}
	w.content["new/a.go"] = "z"
	plan = `{"about": "A shop."}`
	last := run(t, w, &survey.ModelDescriber{Model: o})
	if plans, _ := questions(o.turns()); plans != 1 || len(last.Remarks) != 0 {
		t.Errorf("%d plans, %q", plans, last.Remarks)
	}
}

// What a plan would cost is told where the price is known.
func TestEstimate(t *testing.T) {
	w := newWorld("a/a.go", "b/b.go")
	for _, tt := range []struct {
		price model.Price
		known bool
	}{{model.Price{}, false}, {model.Price{Free: true}, true}, {model.Price{Input: 1, Output: 5, UpTo: 10}, true}} {
		p, err := w.survey(nil).Plan(t.Context(), &survey.ModelDescriber{Model: &oracle{price: tt.price}}, survey.PlanOptions{})
		if err != nil || (p.Cost != nil) != tt.known || p.Estimate < 3600 {
			t.Errorf("%+v: %+v, %v", tt.price, p, err)
		}
		if tt.price.Input > 0 && (*p.Cost < 0.008 || *p.Cost > 0.02) {
			t.Errorf("cost %v of %d tokens", *p.Cost, p.Estimate)
		}
	}
}
