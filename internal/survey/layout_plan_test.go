package survey_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ken/internal/model"
	"ken/internal/model/modeltest"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
	"ken/internal/survey/describe"
)

// plannedRepo returns a repository with enough directories for a plan.
func plannedRepo() *memoryRepo {
	w := newMemoryRepo("main.go", "examples/one/e.go", "core/deep/er/d.go")
	for i := range 12 {
		w.content[repo.Path(fmt.Sprintf("p%02d/a.go", i))] = fmt.Sprint("part ", i)
	}
	return w
}

// planningModel returns a model that answers the question for a plan with *plan, and describes directories.
func planningModel(plan *string) *scriptedModel {
	return &scriptedModel{say: func(req model.Request) (model.Reply, error) {
		if strings.Contains(req.System, "You plan") {
			return model.Reply{Text: *plan}, nil
		}
		return describeAny(req)
	}}
}

// countQuestions counts the requests for plans and overviews.
func countQuestions(asked []model.Request) (plans, overviews int) {
	for _, req := range asked {
		switch {
		case strings.Contains(req.System, "You plan"):
			plans++
		case directoryOf(req) == "":
			overviews++
		}
	}
	return plans, overviews
}

// A run stores the plan of a model. It ranks directories, and prompts have its description of the repository.
func TestPlanIsStored(t *testing.T) {
	w := plannedRepo()
	plan := "Here you are:\n{\"about\": \"A shop.\", \"ranks\": {\"p11\": \"priority\", \"examples\": \"skip\", \"p00\": \"shallow\", \"../x\": \"skip\", \"p01\": \"loud\"}}"
	o := planningModel(&plan)
	ran := run(t, w, &describe.ModelWriter{Model: o})
	asked := o.turns()
	if plans, overviews := countQuestions(asked); plans != 1 || overviews != 1 {
		t.Fatalf("the run asked for %d plans and %d overviews, want one of each", plans, overviews)
	}
	if ran.Done[0] != "p11" || ran.Done[len(ran.Done)-2] != "p00" || ran.Done[len(ran.Done)-1] != "." {
		t.Errorf("the order is %q; want p11 first, and p00 before the root at the end", ran.Done)
	}
	if !strings.Contains(asked[1].Messages[0].Text, "A shop.") {
		t.Errorf("the prompt does not have the description of the plan: %q", asked[1].Messages[0].Text)
	}
	for p, v := range verdicts(t, w) {
		if want := map[bool]string{true: "excluded", false: "fresh"}[strings.HasPrefix(p, "examples")]; v != want {
			t.Errorf("%s is %s, want %s", p, v, want)
		}
	}
	// A run without work asks nothing. An edit needs no new plan.
	run(t, w, &describe.ModelWriter{Model: o})
	if n := len(o.turns()); n != 0 {
		t.Errorf("a run without work made %d requests", n)
	}
	before := w.content["p03/a.go"]
	w.content["p03/a.go"] = strings.Repeat("much more ", 1000)
	run(t, w, &describe.ModelWriter{Model: o})
	if plans, _ := countQuestions(o.turns()); plans != 0 {
		t.Error("the run asked for a new plan after an edit")
	}
	w.content["p03/a.go"] = before
	run(t, w, &describe.ModelWriter{Model: o})
	if asked := o.turns(); len(asked) != 0 {
		t.Errorf("a revert cost %d turns, first %q", len(asked), modeltest.LastMessage(asked[0]))
	}
	// The ranks of the user replace those of the plan.
	ranks := map[repo.Path]survey.Rank{"examples/one": survey.RankNormal}
	shown, err := w.survey(ranks).Show(t.Context(), "examples/one")
	if err != nil || !shown.Directories[0].Outline {
		t.Errorf("%+v, %v; it should have only an outline", shown, err)
	}
	// A new directory needs a new plan. The old plan applies until then.
	w.content["new/n.go"] = "x"
	if v := verdicts(t, w); v["examples"] != "excluded" || v["new"] != "fresh" {
		t.Errorf("%v; the new directory should have its outline", v)
	}
	past, err := survey.New(w, w, survey.Options{OfCommit: true}).Show(t.Context(), "examples")
	if err != nil || !past.Directories[0].Outline {
		t.Errorf("in a past tree: %+v, %v; it should have only an outline", past, err)
	}
	plan = `{"about": "A market."}`
	run(t, w, &describe.ModelWriter{Model: o})
	if plans, _ := countQuestions(o.turns()); plans != 1 {
		t.Errorf("the run asked for %d plans after a directory was added, want 1", plans)
	}
	if v := verdicts(t, w); v["examples"] != "fresh" {
		t.Errorf("verdicts %v; want examples fresh, which the new plan does not skip", v)
	}
}

// A run remarks on a plan that it cannot read, and continues.
func TestUnreadablePlan(t *testing.T) {
	all := `{"ranks": {`
	for p := range plannedRepo().content {
		all += fmt.Sprintf("%q: \"skip\", ", strings.Split(string(p), "/")[0])
	}
	for _, plan := range []string{"", "no", "{", `{"about": 7}`, `[]`, "} {", all + `"x": "skip"}}`} {
		w := plannedRepo()
		ran := run(t, w, &describe.ModelWriter{Model: planningModel(&plan)})
		if len(ran.Remarks) != 1 || len(ran.Failed) != 0 || ran.Stopped != "" {
			t.Errorf("plan %q: the run returned %+v; want one remark and no failure", plan, ran)
		}
		for p, v := range verdicts(t, w) {
			if v != "fresh" {
				t.Errorf("with the plan %q, %s is %s; want it fresh", plan, p, v)
			}
		}
	}
}

// The overview is written from the top levels only, and has its own basis.
func TestOverview(t *testing.T) {
	w := newMemoryRepo("a/b/c/d/e.go", "a/b/c/f.go", "x/y.go")
	o := &scriptedModel{say: describeAny}
	run(t, w, &describe.ModelWriter{Model: o})
	asked := o.turns()
	last := asked[len(asked)-1]
	if _, n := countQuestions(asked); n != 1 || !strings.Contains(modeltest.LastMessage(last), "about a/b") || strings.Contains(modeltest.LastMessage(last), "about a/b/c") {
		t.Errorf("%d overviews, want 1; the prompt of the last is %q", n, modeltest.LastMessage(last))
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
		t.Fatalf("the overview is %+v; want a fresh one", first)
	}
	// A change below the top levels makes the overview stale, until the directories above have the same texts again.
	w.content["a/b/c/d/e.go"] = "changed; inside"
	if got := report(); got == nil || got.Verdict != "stale-below" {
		t.Errorf("after an edit, the overview is %+v; want stale-below", got)
	}
	run(t, w, &describe.ModelWriter{Model: o})
	if _, n := countQuestions(o.turns()); n != 0 {
		t.Errorf("the run asked for %d overviews of the same summaries", n)
	}
	if got := report(); got == nil || got.Verdict != "fresh" {
		t.Errorf("after the run, the overview is %+v; want fresh", got)
	}
	before := o.say
	o.say = func(req model.Request) (model.Reply, error) {
		if directoryOf(req) == "x" {
			return modeltest.SubmitReply("something else"), nil
		}
		return before(req)
	}
	w.content["x/y.go"] = "changed"
	if got := report(); got == nil || got.Verdict != "stale-below" {
		t.Errorf("after an edit in x, the overview is %+v; want stale-below", got)
	}
	run(t, w, &describe.ModelWriter{Model: o})
	if _, n := countQuestions(o.turns()); n != 1 {
		t.Errorf("the run asked for %d overviews after a new summary, want 1", n)
	}
}

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

// After an unreadable plan, a run does not ask the same model again until directories are added or removed. It says
// so.
func TestUnreadablePlanIsNotAskedForAgain(t *testing.T) {
	w := newMemoryRepo()
	for i := range 14 {
		w.content[repo.Path(fmt.Sprintf("p%02d/a.go", i))] = "x"
	}
	plan := "no"
	o := planningModel(&plan)
	first := run(t, w, &describe.ModelWriter{Model: o})
	if plans, _ := countQuestions(o.turns()); plans != 1 || len(first.Remarks) != 1 || !strings.Contains(first.Remarks[0], "does not ask test/model again") {
		t.Fatalf("the model got %d plan requests, with the remarks %q; want 1 and that it is not asked again", plans, first.Remarks)
	}
	w.content["p00/a.go"] = "y"
	again := run(t, w, &describe.ModelWriter{Model: o})
	if plans, _ := countQuestions(o.turns()); plans != 0 || len(again.Remarks) != 1 || !strings.Contains(again.Remarks[0], "no plan") {
		t.Errorf("the model got %d plan requests, with the remarks %q; want 0 and that there is no plan", plans, again.Remarks)
	}
	w.content["new/a.go"] = "z"
	plan = `{"about": "A shop."}`
	last := run(t, w, &describe.ModelWriter{Model: o})
	if plans, _ := countQuestions(o.turns()); plans != 1 || len(last.Remarks) != 0 {
		t.Errorf("the model got %d plan requests, with the remarks %q; want 1 and no remark", plans, last.Remarks)
	}
}

// A plan has an estimate of the cost if the price is known.
func TestEstimate(t *testing.T) {
	w := newMemoryRepo("a/a.go", "b/b.go")
	for _, tt := range []struct {
		price model.Price
		known bool
	}{{model.Price{}, false}, {model.Price{Free: true}, true}, {model.Price{Input: 1, Output: 5, UpTo: 10}, true}} {
		p, err := w.survey(nil).Plan(t.Context(), &describe.ModelWriter{Model: &scriptedModel{price: tt.price}}, survey.PlanOptions{})
		if err != nil || (p.Cost != nil) != tt.known || p.Estimate < 3600 {
			t.Errorf("with the price %+v, Plan returned %+v, %v; a cost should be known: %t", tt.price, p, err, tt.known)
		}
		if tt.price.Input > 0 && (*p.Cost < 0.008 || *p.Cost > 0.02) {
			t.Errorf("cost %v of %d tokens", *p.Cost, p.Estimate)
		}
	}
}

// A run asks for an overview only if most directories have a summary.
func TestOverviewNeedsDescriptions(t *testing.T) {
	w := newMemoryRepo("a/a.go", "b/b.go", "c/c.go", "d/d.go")
	broken := map[string]bool{"a": true, "b": true, "c": true}
	o := &scriptedModel{say: func(req model.Request) (model.Reply, error) {
		if broken[directoryOf(req)] {
			return model.Reply{Stop: model.Refusal}, nil
		}
		return describeAny(req)
	}}
	ran := run(t, w, &describe.ModelWriter{Model: o})
	if _, n := countQuestions(o.turns()); n != 0 {
		t.Errorf("%d overviews while 2 of 5 directories are described; there should be none", n)
	}
	if !slices.ContainsFunc(ran.Remarks, func(r string) bool { return strings.Contains(r, "overview") && strings.Contains(r, "2 of 5") }) {
		t.Errorf("remarks %q; one should say why there is no overview", ran.Remarks)
	}
	delete(broken, "a")
	run(t, w, &describe.ModelWriter{Model: o})
	if _, n := countQuestions(o.turns()); n != 1 {
		t.Errorf("%d overviews while 3 of 5 directories are described; there should be one", n)
	}
}

// A refusal is neither an overview nor a summary. Models refuse in words, or with a stop reason.
func TestRefusalIsNoText(t *testing.T) {
	for _, reply := range []model.Reply{
		{Text: "I am sorry, I cannot help with that."},
		{Text: "I\u2019m sorry, but I can\u2019t assist."},
		{Text: "Sorry, I can't do that."},
		{Text: "I cannot describe this repository."},
		{Text: "Unfortunately, I am unable to help."},
		{Text: "As an AI language model, I cannot."},
		{Text: "Some words.", Stop: model.Refusal},
	} {
		w := newMemoryRepo("a/a.go", "b/b.go")
		o := &scriptedModel{say: func(req model.Request) (model.Reply, error) {
			if directoryOf(req) == "" {
				return reply, nil
			}
			return describeAny(req)
		}}
		ran := run(t, w, &describe.ModelWriter{Model: o})
		rep, err := w.survey(nil).Report(t.Context())
		if err != nil || rep.Overview != nil || len(ran.Remarks) != 1 || !strings.Contains(ran.Remarks[0], "refuse") {
			t.Errorf("%+v: overview %+v, %v, remarks %q; it should be refused", reply, rep.Overview, err, ran.Remarks)
		}
		// The same as the answer of a program, about a directory.
		plain := &describe.ModelWriter{Model: &scriptedModel{say: func(model.Request) (model.Reply, error) { return reply, nil }}, Tree: w, Plain: true}
		if d, err := plain.Write(t.Context(), &describe.Item{Path: "a"}); err == nil || !strings.Contains(err.Error(), "refus") {
			t.Errorf("%+v: kept %q, %v; it should be refused", reply, d.Text, err)
		}
	}
}

// A run says which directories the plan of a model leaves out, and how to include them. It does
// not name those that the user ranked.
func TestRunNamesWhatThePlanLeavesOut(t *testing.T) {
	w := plannedRepo()
	plan := `{"about": "A shop.", "ranks": {"core": "skip", "core/deep": "skip", "examples": "skip", "p00": "shallow"}}`
	o := planningModel(&plan)
	says := func(ran *survey.RunResult) string { return strings.Join(ran.Remarks, "\n") }
	want := "the plan of test/model leaves out core, examples; to include them, add --rank core=normal --rank examples=normal, or set survey.ranks in .ken/config.yaml"
	for i := range 2 { // the second run uses the stored plan
		if got := says(run(t, w, &describe.ModelWriter{Model: o})); got != want {
			t.Errorf("run %d remarks %q, want %q", i+1, got, want)
		}
	}
	ranks := map[repo.Path]survey.Rank{"core": survey.RankNormal, "examples": survey.RankSkip}
	ran, err := w.survey(ranks).Run(t.Context(), &describe.ModelWriter{Model: o}, survey.RunOptions{})
	if err != nil || says(ran) != "" {
		t.Errorf("remarks %q, %v; the user ranked both directories", says(ran), err)
	}
	if !slices.Contains(ran.Done, "core") {
		t.Errorf("described %q; core should be included", ran.Done)
	}
}

// A watchedStore reports leases that it refuses.
type watchedStore struct {
	*memoryRepo

	refused func(repo.Path)
}

func (w watchedStore) Acquire(ctx context.Context, worktree string, l store.Lease, now time.Time) (bool, error) {
	ok, err := w.memoryRepo.Acquire(ctx, worktree, l, now)
	if !ok && err == nil {
		w.refused(l.Path)
	}
	return ok, err
}

// Two runs at the same time pay for one plan and one overview: the second run waits for the
// answer of the first.
func TestRunsAtOnceShareQuestions(t *testing.T) {
	w := plannedRepo()
	var mu sync.Mutex
	asked := make(map[repo.Path]int)
	met := map[repo.Path]chan struct{}{"/plan": make(chan struct{}), "/report": make(chan struct{})}
	meet := func(p repo.Path) { // the other run waits, or asked too
		mu.Lock()
		defer mu.Unlock()
		if c := met[p]; c != nil {
			close(c)
			met[p] = nil
		}
	}
	question := func(p repo.Path) {
		mu.Lock()
		asked[p]++
		second, c := asked[p] > 1, met[p]
		mu.Unlock()
		if second {
			meet(p)
		} else if c != nil {
			<-c
		}
	}
	o := &scriptedModel{say: func(req model.Request) (model.Reply, error) {
		switch {
		case strings.Contains(req.System, "You plan"):
			question("/plan")
			return model.Reply{Text: `{"about": "A shop."}`}, nil
		case directoryOf(req) == "":
			question("/report")
		}
		return describeAny(req)
	}}
	var n atomic.Int64
	var runs sync.WaitGroup
	for range 2 {
		runs.Go(func() {
			sv := w.survey(nil)
			leases := watchedStore{w, meet}
			dispatcher := survey.NewDispatcher(sv, leases, "", func() string { return fmt.Sprint("t", n.Add(1)) })
			ran, err := sv.Run(t.Context(), &describe.ModelWriter{Model: o}, survey.RunOptions{Dispatcher: dispatcher, Heartbeat: time.Millisecond, Ticks: ticks})
			if err != nil || ran.Left != 0 || len(ran.Failed) != 0 || len(ran.Remarks) != 0 {
				t.Errorf("the run returned %+v, %v", ran, err)
			}
		})
	}
	runs.Wait()
	if asked["/plan"] != 1 || asked["/report"] != 1 {
		t.Errorf("asked %v; two runs should pay for one plan and one overview", asked)
	}
}
