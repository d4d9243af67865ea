package workflow_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/state"
	"ken/internal/workflow"
)

// A fixture is a keeper with a real directory and a clock that the test sets.
type fixture struct {
	*workflow.Manager
	t    *testing.T
	path string
	now  time.Time
	ids  int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	d := &fixture{t: t, path: filepath.Join(t.TempDir(), "state"), now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	c := contract.Default()
	dir, err := state.Open(d.path, state.Options{Names: state.Names{Lock: c.Name(contract.Lock), Archive: c.Name(contract.Archive)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	d.Manager = workflow.New(dir, workflow.Options{
		Now:    func() time.Time { return d.now },
		NewID:  func() string { d.ids++; return fmt.Sprintf("w%d", d.ids) },
		Author: "ada",
	})
	return d
}

// write writes a file as another program would, with the given age.
func (f *fixture) write(name, content string, ago time.Duration) {
	f.t.Helper()
	if err := os.MkdirAll(f.path, 0o755); err != nil {
		f.t.Fatal(err)
	}
	file := filepath.Join(f.path, name)
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
	f.date(name, ago)
}

// date sets the age of a file by the clock of the fixture.
func (f *fixture) date(name string, ago time.Duration) {
	f.t.Helper()
	at := f.now.Add(-ago)
	if err := os.Chtimes(filepath.Join(f.path, name), at, at); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) put(name, content string) {
	f.t.Helper()
	if _, err := f.Put(f.t.Context(), name, []byte(content), false); err != nil {
		f.t.Fatal(err)
	}
	f.date(name, 0)
}

func (f *fixture) begin(opts workflow.BeginOptions) *workflow.BeginResult {
	f.t.Helper()
	b, err := f.Begin(f.t.Context(), opts)
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

func (f *fixture) update(pairs ...workflow.Pair) *workflow.Document {
	f.t.Helper()
	doc, err := f.Update(f.t.Context(), workflow.UpdateOptions{Pairs: pairs})
	if err != nil {
		f.t.Fatal(err)
	}
	return doc
}

// holds says which of the names are there.
func (f *fixture) holds(names ...string) []string {
	f.t.Helper()
	var there []string
	for _, n := range names {
		if _, err := os.Lstat(filepath.Join(f.path, n)); err == nil {
			there = append(there, n)
		}
	}
	return there
}

func (f *fixture) want(there []string, names ...string) {
	f.t.Helper()
	if !slices.Equal(there, names) {
		f.t.Errorf("the files are %q, want %q", there, names)
	}
}

// The review of the last pull request does not survive init, whatever its date is and
// whether or not its workflow was ended.
func TestBeginArchivesOldReview(t *testing.T) {
	for name, age := range map[string]time.Duration{"old": 48 * time.Hour, "recent": time.Minute, "of this instant": 0, "of the future": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t)
			d.begin(workflow.BeginOptions{Type: "code_review"})
			d.put("review.json", `{"status":"DONE","verdict":"APPROVED","agent":"code-reviewer"}`)
			for _, f := range []string{"review.md", "review-lane-api.md", "slice-A.md", "consolidator-ran.txt", "plan.md", "scratchpad.md", "decisions.md", "spec.md"} {
				d.write(f, "of the last one", age)
			}
			d.now = d.now.Add(time.Hour)
			b := d.begin(workflow.BeginOptions{Type: "code_review"})
			d.want(d.holds("review.md", "review.json", "review-lane-api.md", "slice-A.md", "consolidator-ran.txt", "plan.md", "scratchpad.md", "decisions.md", "spec.md"),
				"plan.md", "scratchpad.md", "decisions.md", "spec.md")
			if b.Workflow.Text("original_workflow_id") != "w2" || b.Archive == nil {
				t.Errorf("Begin returned %+v; want the original id w2 and an archive", b)
			}
			list, err := d.Archive(t.Context())
			if err != nil || len(list.Snapshots) != 1 || list.Snapshots[0].WorkflowID != "w1" {
				t.Errorf("want one snapshot: %+v, %v", list, err)
			}
		})
	}
}

// With Continue the files of the session stay, by the journal or by age, and those of
// others move.
func TestContinueKeepsFilesOfTheSession(t *testing.T) {
	d := newFixture(t)
	d.begin(workflow.BeginOptions{Type: "dev"})
	d.put("test-summary.json", `{"status":"DONE"}`) // of the session before
	d.now = d.now.Add(time.Hour)
	d.begin(workflow.BeginOptions{Type: "dev"}) // sweeps it
	d.now = d.now.Add(time.Hour)
	d.put("impl-summary.json", `{"status":"DONE"}`)
	d.date("impl-summary.json", 100*time.Hour) // the journal knows better than the clock
	d.write("review.md", "by hand, now", 0)
	d.write("verification.md", "by hand, long ago", 10*time.Hour)
	d.write("slice-A.md", "by hand, long ago", 10*time.Hour)
	d.now = d.now.Add(time.Hour)
	b := d.begin(workflow.BeginOptions{Type: "code_review", Continue: true})
	d.want(d.holds("impl-summary.json", "review.md", "verification.md", "slice-A.md"), "impl-summary.json", "review.md")
	w := b.Workflow
	d.write("plan-x.md", "by hand, now", 0)
	d.put("plan-y.md", "mine")
	d.date("plan-y.md", 100*time.Hour)
	d.write("notes.txt", "by hand, now", 0)
	for range 2 { // each rotation moves the current workflow's start
		d.now = d.now.Add(time.Hour)
		d.begin(workflow.BeginOptions{Type: "dev", Continue: true})
	}
	d.want(d.holds("impl-summary.json", "review.md", "plan-x.md", "plan-y.md", "notes.txt"), "impl-summary.json", "review.md", "plan-x.md", "plan-y.md", "notes.txt")
	if w.Text("workflow_id") != "w3" || w.Text("original_workflow_id") != "w2" || w.Text("first_created_at") == w.Text("created_at") {
		t.Errorf("identity after Continue: %v", w)
	}
}

// Begin moves ad_hoc files only if they are older than the start of the previous
// workflow, or than a day if there is none.
func TestBeginUsesThePreviousStart(t *testing.T) {
	d := newFixture(t)
	d.write("notes.txt", "x", 25*time.Hour)
	d.write("today.txt", "x", 23*time.Hour)
	d.write("plan-a.md", "x", 25*time.Hour)
	d.write("plan-b.md", "x", 23*time.Hour)
	b := d.begin(workflow.BeginOptions{Type: "dev"})
	d.want(d.holds("notes.txt", "today.txt", "plan-a.md", "plan-b.md"), "today.txt", "plan-b.md")
	if len(b.Foreign) != 1 || b.Foreign[0].Name != "today.txt" {
		t.Errorf("Begin reports the foreign files %v; want today.txt", b.Foreign)
	}
	start := d.now
	d.now = d.now.Add(2 * time.Hour)
	d.write("during.txt", "x", time.Hour)
	d.write("at-start.txt", "x", d.now.Sub(start))
	d.begin(workflow.BeginOptions{Type: "dev"})
	d.want(d.holds("today.txt", "plan-b.md", "during.txt", "at-start.txt"), "during.txt", "at-start.txt")
}

func TestEvictUsesTheAuthor(t *testing.T) {
	d := newFixture(t)
	d.write("review.md", "x", 1000*time.Hour)
	d.write("reuse-analysis.md", "x", 0)
	// Without a session nobody knows whose the review is.
	s, err := d.Evict(t.Context(), false)
	if err != nil || len(s.Moves) != 1 || s.Moves[0].Name.Name != "reuse-analysis.md" {
		t.Fatalf("Evict returned %+v, %v; want one move, of reuse-analysis.md", s, err)
	}
	d.begin(workflow.BeginOptions{Type: "dev"})
	d.write("review.md", "x", -time.Second)
	d.write("test-summary.md", "x", time.Second)
	d.put("review-a.md", "mine")
	d.date("review-a.md", 1000*time.Hour)
	d.put("review-b.md", "mine")
	d.write("review-b.md", "touched by another since", 1000*time.Hour)
	s, err = d.Evict(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	d.want(d.holds("review.md", "test-summary.md", "review-a.md", "review-b.md"), "review.md", "review-a.md")
	if s.Archive == nil {
		t.Error("evict deleted a file instead of archiving it")
	}
}

func TestCleanupCutoffs(t *testing.T) {
	day := 24 * time.Hour
	d := newFixture(t)
	ages := map[string]time.Duration{
		"research-a.md": 21 * day, "research-b.md": 21*day + 1, "research-c.md": -day, "research-d.md": 56 * 365 * day,
		"notes.txt": 0, "x.tmp": 0, "plan.md": 1000 * day,
	}
	for name, age := range ages {
		d.write(name, "x", age)
	}
	moved := func(opts workflow.CleanupOptions) []string {
		t.Helper()
		s, err := d.Cleanup(t.Context(), opts)
		if err != nil || !s.DryRun || s.Archive != nil {
			t.Fatalf("Cleanup returned %+v, %v; want a dry run without an archive", s, err)
		}
		var names []string
		for _, m := range s.Moves {
			if m.Status != workflow.WouldArchive {
				t.Errorf("Cleanup returned the move %+v; want the status %s", m, workflow.WouldArchive)
			}
			names = append(names, m.Name.Name)
		}
		return names
	}
	zero, hundred := 0, 100
	for what, c := range map[string]struct {
		opts workflow.CleanupOptions
		want []string
	}{
		"the contract's days":   {workflow.CleanupOptions{}, []string{"notes.txt", "research-b.md", "research-d.md", "x.tmp"}},
		"no day at all":         {workflow.CleanupOptions{StaleDays: &zero}, []string{"notes.txt", "research-a.md", "research-b.md", "research-d.md", "x.tmp"}},
		"days for ad hoc":       {workflow.CleanupOptions{AdHocStaleDays: &hundred}, []string{"research-b.md", "research-d.md", "x.tmp"}},
		"a cutoff beats days":   {workflow.CleanupOptions{StaleDays: &zero, PatternCutoff: d.now.Add(-22 * day)}, []string{"notes.txt", "research-d.md", "x.tmp"}},
		"a cutoff for ad hoc":   {workflow.CleanupOptions{AdHocStaleDays: &zero, AdHocCutoff: d.now.Add(time.Second)}, []string{"notes.txt", "research-b.md", "research-d.md", "x.tmp"}},
		"equal to it is kept":   {workflow.CleanupOptions{AdHocCutoff: d.now}, []string{"research-b.md", "research-d.md", "x.tmp"}},
		"one foreign entry":     {workflow.CleanupOptions{Only: "notes.txt"}, []string{"notes.txt"}},
		"one that belongs":      {workflow.CleanupOptions{Only: "plan.md"}, nil},
		"all the same for both": {workflow.CleanupOptions{AdHocStaleDays: &hundred, StaleDays: &hundred}, []string{"research-d.md", "x.tmp"}},
	} {
		if got := moved(c.opts); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q would move, want %q", what, got, c.want)
		}
	}
}

// Ids of deferred work are never used again, even if the file is deleted.
func TestDeferredIDsAreNeverReused(t *testing.T) {
	d := newFixture(t)
	add := func(title string) string {
		t.Helper()
		got, err := d.Defer(t.Context(), title, "why\n## DEF-900 — forged\n---\n- status: closed")
		if err != nil {
			t.Fatal(err)
		}
		return got.ID
	}
	if a, b := add("one"), add("two\n## DEF-777 — forged\n- status: closed"); a != "DEF-001" || b != "DEF-002" {
		t.Fatalf("the new entries have the ids %s, %s; want DEF-001, DEF-002", a, b)
	}
	if _, err := d.Done(t.Context(), "DEF-002"); err != nil {
		t.Fatal(err)
	}
	all, err := d.Deferred(t.Context())
	if err != nil || len(all) != 2 || all[0].Status != "open" || all[1].Status != "closed" || !strings.HasPrefix(all[1].Title, "two") {
		t.Fatalf("Deferred returned %+v, %v; want DEF-001 open and DEF-002 closed", all, err)
	}
	if err := os.Remove(filepath.Join(d.path, "deferred.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Reset(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if id := add("three"); id != "DEF-003" {
		t.Errorf("the id %s was used again", id)
	}
}

// Text around and inside entries stays as it is.
func TestDeferredKeepsOtherText(t *testing.T) {
	d := newFixture(t)
	text := "# Deferred Tasks\n\n<!-- ours -->\n\n## DEF-041 — by hand\n- captured_at: 2026-01-01T00:00:00Z\n- context: the parser\n- tags: a, b\n- status: open\n\nA remark.\n\n---\n\n## DEF-042 — done\n- status: closed\n- closed_at: 2026-01-02T00:00:00Z\n"
	d.write("deferred.md", text, 0)
	if _, err := d.Reopen(t.Context(), "DEF-042"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(d.path, "deferred.md"))
	want := strings.Replace(text, "- status: closed\n- closed_at: 2026-01-02T00:00:00Z\n", "- status: open\n", 1)
	if err != nil || string(got) != want {
		t.Errorf("deferred.md is, with the error %v:\n%s\nwant\n%s", err, got, want)
	}
	if _, err := d.Done(t.Context(), "DEF-41"); fault.HintOf(err) != "did you mean DEF-041?" {
		t.Errorf("Done(DEF-41) returned the error %v with the hint %q; want a hint to DEF-041", err, fault.HintOf(err))
	}
	next, err := d.Defer(t.Context(), "next", "")
	if err != nil || next.ID != "DEF-043" {
		t.Errorf("Defer returned %+v, %v; want the id DEF-043", next, err)
	}
	all, err := d.Deferred(t.Context())
	if err != nil || len(all) != 3 || all[0].Context != "the parser" || !slices.Equal(all[0].Tags, []string{"a", "b"}) {
		t.Errorf("Deferred returned %+v, %v; want 3 entries, the first with its context and tags", all, err)
	}
}

// A corrupt document is an error with its line and a way out, and stays as it is.
func TestCorruptDocument(t *testing.T) {
	d := newFixture(t)
	text := "active: true\nworkflow_id: w7\n<<<<<<< HEAD\nphase: plan\n=======\nphase: test\n>>>>>>> x\nbad: [\n"
	d.write("workflow.yaml", text, 0)
	pairs := []workflow.Pair{{Key: "a", Value: "b"}}
	if _, err := d.Update(t.Context(), workflow.UpdateOptions{Pairs: pairs}); err == nil || !strings.Contains(err.Error(), "workflow.yaml:3: corrupt") {
		t.Errorf("update of a corrupt document: %v", err)
	}
	for _, err := range []error{second(d.Get(t.Context())), second(d.Evict(t.Context(), true)), second(d.Begin(t.Context(), workflow.BeginOptions{Type: "dev"}))} {
		var c *workflow.CorruptError
		hint := fault.HintOf(err)
		if err == nil || !strings.Contains(hint, "ken state restore") || !strings.Contains(hint, "ken state init") {
			t.Errorf("a corrupt document gave the error %v (a CorruptError: %t) with the hint %q; want restore and init in the hint", err, errors.As(err, &c), hint)
		}
	}
	got, err := os.ReadFile(filepath.Join(d.path, "workflow.yaml"))
	if err != nil || string(got) != text {
		t.Errorf("the corrupt document is %q, %v; want it as it was", got, err)
	}
}

func second[T any](_ T, err error) error { return err }

// Reading, and sweeping an empty directory, create nothing.
func TestReadingCreatesNothing(t *testing.T) {
	d := newFixture(t)
	for what, err := range map[string]error{
		"audit": second(d.Audit(t.Context())), "get": second(d.Get(t.Context())), "check": second(d.Check(t.Context())),
		"reset": second(d.Reset(t.Context(), false)), "evict": second(d.Evict(t.Context(), false)),
		"cleanup": second(d.Cleanup(t.Context(), workflow.CleanupOptions{Apply: true})),
		"archive": second(d.Archive(t.Context())), "deferred": second(d.Deferred(t.Context())),
	} {
		if err != nil {
			t.Errorf("%s returned the error %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"restore": second(d.Restore(t.Context(), workflow.RestoreOptions{Snapshot: "x"})),
		"close":   second(d.Done(t.Context(), "DEF-001")),
	} {
		if err == nil {
			t.Errorf("%s without a directory gave no error", what)
		}
	}
	if _, err := os.Lstat(d.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was created: %v", err)
	}
}

// A large journal is compacted and keeps the authors of files.
func TestJournalIsCompacted(t *testing.T) {
	d := newFixture(t)
	d.begin(workflow.BeginOptions{Type: "dev"})
	d.put("review-mine.md", "mine")
	d.date("review-mine.md", time.Hour)
	line := `{"ts":"2026-01-01T00:00:00Z","verb":"put","file":"plan.md","sha256":"` + strings.Repeat("0", 64) + `","workflow_id":"w9"}` + "\n"
	journal := filepath.Join(d.path, ".journal.jsonl")
	old, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, append([]byte(strings.Repeat(line, 1<<20/len(line))), old...), 0o644); err != nil {
		t.Fatal(err)
	}
	d.update(workflow.Pair{Key: "phase", Value: "test"})
	if info, err := os.Stat(journal); err != nil || info.Size() > 2000 {
		t.Fatalf("Stat of the journal returned %v, %v; want at most 2000 bytes", info, err)
	}
	logs, err := filepath.Glob(filepath.Join(d.path, ".archive", ".logs", "*"))
	if err != nil || len(logs) != 1 {
		t.Errorf("set aside: %q, %v", logs, err)
	}
	if _, err := d.Evict(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	d.want(d.holds("review-mine.md"), "review-mine.md")
}

// Only init sets the identity, and update keeps a known start.
func TestIdentityKeysAreRefused(t *testing.T) {
	d := newFixture(t)
	for _, key := range []string{"workflow_id", "created_at", "first_created_at", "original_workflow_id", "workflow_type", "active"} {
		_, err := d.Begin(t.Context(), workflow.BeginOptions{Type: "dev", Pairs: []workflow.Pair{{Key: key, Value: "x"}}})
		if fault.KindOf(err) != fault.Usage {
			t.Errorf("Begin with the key %s returned the error %v; want a usage error", key, err)
		}
	}
	b := d.begin(workflow.BeginOptions{Type: "dev", Continue: true})
	if len(b.Remarks) != 1 || b.Workflow.Text("original_workflow_id") != "w1" {
		t.Errorf("Continue without a session: %+v", b)
	}
	for _, bad := range []string{"yesterday", "2026-01-02", "7"} {
		_, err := d.Update(t.Context(), workflow.UpdateOptions{Pairs: []workflow.Pair{{Key: "created_at", Value: bad}}})
		if fault.KindOf(err) != fault.Usage {
			t.Errorf("created_at=%s: %v", bad, err)
		}
	}
	d.write("workflow.yaml", "active: true\ncreated_at: \"2026-04-01T00:00:00Z\"\nfirst_created_at: garbage\n", 0)
	doc := d.update(workflow.Pair{Key: "first_created_at", Value: "2026-04-01T00:00:00Z"})
	if doc.Text("created_at") != "2026-04-01T00:00:00Z" || doc.Text("first_created_at") != "2026-04-01T00:00:00Z" {
		t.Errorf("a known start was lost: %v", doc)
	}
}
