package survey_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/workspace"
)

// A memoryRepo is a tree and a store in memory.
type memoryRepo struct {
	mu       sync.Mutex
	content  map[repo.Path]string
	excluded map[repo.Path]string
	kinds    map[repo.Path]repo.Kind // KindSource if absent
	sizes    map[repo.Path]int64     // length of the content if absent
	records  []*store.DirRecord
	failures map[repo.Path]store.DirFailure
	leases   map[repo.Path]store.Lease
	blobs    map[repo.ID]string // contents that git has besides those of files
	clock    time.Time
}

func newMemoryRepo(files ...string) *memoryRepo {
	w := &memoryRepo{
		content: make(map[repo.Path]string), excluded: make(map[repo.Path]string),
		failures: make(map[repo.Path]store.DirFailure), leases: make(map[repo.Path]store.Lease),
		clock: time.Unix(1e9, 0).UTC(),
	}
	for _, f := range files {
		w.content[repo.Path(f)] = "content of " + f
	}
	return w
}

func (m *memoryRepo) survey(ranks map[repo.Path]survey.Rank) *survey.Survey {
	return survey.New(m, m, survey.Options{Ranks: ranks, Now: func() time.Time {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.clock = m.clock.Add(time.Second)
		return m.clock
	}})
}

func (m *memoryRepo) Commit() repo.ID { return repo.ID{} }

func (m *memoryRepo) Files(context.Context) ([]repo.File, error) {
	var list []repo.File
	for _, p := range slices.Sorted(maps.Keys(m.content)) {
		f := repo.File{
			Path: p, ID: repo.SHA1.Blob([]byte(m.content[p])), Size: int64(len(m.content[p])),
			Kind: repo.KindSource, Excluded: m.excluded[p],
		}
		if kind, ok := m.kinds[p]; ok {
			f.Kind = kind
		}
		if size, ok := m.sizes[p]; ok {
			f.Size = size
		}
		list = append(list, f)
	}
	return list, nil
}

func (m *memoryRepo) Read(_ context.Context, f *repo.File, most int) ([]byte, error) {
	text, err := m.judged(f)
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s has more than %d bytes", f.Path, most)
	}
	return []byte(text), err
}

// judged returns the content of a file, or an error if it changed since it was listed.
func (m *memoryRepo) judged(f *repo.File) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := m.content[f.Path]
	if repo.SHA1.Blob([]byte(text)) != f.ID {
		return "", fmt.Errorf("read %s: %w", f.Path, workspace.ErrChanged)
	}
	return text, nil
}

// Outlines makes the outline of a file from its content. A # starts a comment, and a ; starts the body. The text
// before both is the doc and the interface.
func (m *memoryRepo) Outlines(_ context.Context, files []*repo.File) ([]workspace.OutlineResult, error) {
	list := make([]workspace.OutlineResult, len(files))
	for i, f := range files {
		text, err := m.judged(f)
		if err != nil {
			list[i].Err = err
			continue
		}
		code, _, _ := strings.Cut(text, "#")
		code = strings.TrimSpace(code)
		signature, _, _ := strings.Cut(code, ";")
		list[i].Outline = &outline.Outline{
			Language: "toy", Doc: signature,
			Interface: fresh.Record{Text: "i" + signature}.TextID(), Digest: fresh.Record{Text: "d" + signature}.TextID(), Tokens: fresh.Record{Text: "t" + code}.TextID(),
		}
	}
	return list, nil
}

func (m *memoryRepo) Summaries(_ context.Context, files []*repo.File) ([]workspace.Summary, error) {
	return make([]workspace.Summary, len(files)), nil
}

// Patch returns the old content and the new one, each in a line. It returns "" if blobs does not have the old
// content.
func (m *memoryRepo) Patch(_ context.Context, f *repo.File, old repo.ID) (string, error) {
	was, ok := m.blobs[old]
	if !ok {
		return "", nil
	}
	return "@@\n-" + was + "\n+" + m.content[f.Path] + "\n", nil
}

func (m *memoryRepo) Latest(context.Context) (map[repo.Path][]*store.DirRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	type key struct {
		path    repo.Path
		outline bool
	}
	last := make(map[key]*store.DirRecord)
	for _, r := range m.records {
		k := key{r.Path, r.IsOutline()}
		if last[k] == nil || !r.At.Before(last[k].At) {
			last[k] = r
		}
	}
	out := make(map[repo.Path][]*store.DirRecord)
	for k, r := range last {
		out[k.path] = append(out[k.path], r)
	}
	return out, nil
}

func (m *memoryRepo) DirRecordsByBasis(_ context.Context, bases []fresh.Digest) (map[fresh.Digest][]*store.DirRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[fresh.Digest][]*store.DirRecord)
	for _, r := range m.records {
		if d := r.Basis.Digest(); slices.Contains(bases, d) {
			out[d] = append(out[d], r)
		}
	}
	return out, nil
}

func (m *memoryRepo) DirRecordsByVersion(_ context.Context, places []store.DirVersion) (map[store.DirVersion][]*store.DirRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[store.DirVersion][]*store.DirRecord)
	for _, r := range m.records {
		if p := (store.DirVersion{Path: r.Path, Basis: r.Basis.Digest()}); slices.Contains(places, p) {
			out[p] = append(out[p], r)
		}
	}
	return out, nil
}

func (m *memoryRepo) PastDirRecords(_ context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[repo.Path][]*store.DirRecord)
	for _, r := range slices.Backward(m.records) {
		if slices.Contains(dirs, r.Path) && !r.IsOutline() {
			out[r.Path] = append(out[r.Path], r)
		}
	}
	return out, nil
}

func (m *memoryRepo) DirRecord(_ context.Context, id fresh.Digest) (*store.DirRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.records {
		if r.ID() == id {
			return r, nil
		}
	}
	return nil, nil
}

func (m *memoryRepo) SaveDirRecords(_ context.Context, records []*store.DirRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, records...)
	for _, r := range records {
		delete(m.failures, r.Path)
	}
	return nil
}

func (m *memoryRepo) Failures(context.Context) (map[repo.Path]store.DirFailure, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.failures), nil
}

func (m *memoryRepo) SaveFailure(_ context.Context, f store.DirFailure) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures[f.Path] = f
	return nil
}

func (m *memoryRepo) Leases(context.Context, string) (map[repo.Path]store.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.leases), nil
}

func (m *memoryRepo) Acquire(_ context.Context, _ string, l store.Lease, now time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.leases[l.Path]; ok && old.Token != l.Token && old.Expires.After(now) {
		return false, nil
	}
	m.leases[l.Path] = l
	return true, nil
}

func (m *memoryRepo) Complete(ctx context.Context, _ string, l store.Lease, r *store.DirRecord) (bool, error) {
	m.mu.Lock()
	same := m.leases[l.Path].Token == l.Token
	if same {
		delete(m.leases, l.Path)
	}
	m.mu.Unlock()
	if !same {
		return false, nil
	}
	return true, m.SaveDirRecords(ctx, []*store.DirRecord{r})
}

// A scriptedWriter writes the drafts that say returns, and records the items.
type scriptedWriter struct {
	mu    sync.Mutex
	items []*describe.Item
	say   func(it *describe.Item) (describe.Draft, error)
}

func (s *scriptedWriter) Author() string { return "test writer" }
func (s *scriptedWriter) Recipe() string { return "test/1" }

func (s *scriptedWriter) Write(_ context.Context, it *describe.Item) (describe.Draft, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = append(s.items, it)
	if s.say != nil {
		return s.say(it)
	}
	// The text depends on the whole input and on nothing else.
	var b strings.Builder
	for _, f := range it.Files {
		fmt.Fprintf(&b, "%s=%s ", f.Path.Base(), f.Outline.Doc)
	}
	for _, c := range it.Children {
		fmt.Fprintf(&b, "%s(%s) ", c.Path.Base(), c.Text)
	}
	return describe.Draft{Text: b.String() + "."}, nil
}

// paths returns the directories that were described since the last call.
func (s *scriptedWriter) paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, it := range s.items {
		list = append(list, repo.DirLabel(it.Path).String())
	}
	s.items = nil
	return list
}

// verdicts returns the verdicts of all directories.
func verdicts(t testing.TB, w *memoryRepo) map[string]string {
	t.Helper()
	shown, err := w.survey(nil).Show(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for _, d := range shown.Directories {
		out[d.Path] = d.Verdict.String()
		if d.Verdict.Reason == fresh.StaleBelow || d.Verdict.Reason == fresh.Incomplete {
			out[d.Path] += fmt.Sprintf(" %d/%d", d.ChangedChildren, d.CountedChildren)
		}
	}
	return out
}

// A run stores no text about a file that changed before its directory was described, or meanwhile.
func TestChangedFileGetsNoText(t *testing.T) {
	const was = "content of b/x.go"
	for _, when := range []string{"a", "b"} { // the directory whose description is being written
		for _, outlined := range []bool{false, true} {
			w := newMemoryRepo("a/x.go", "b/x.go", "c/x.go")
			edit := func(it *describe.Item) {
				if string(it.Path) == when {
					w.mu.Lock()
					w.content["b/x.go"] = "func LaunchRocket"
					w.mu.Unlock()
				}
			}
			s := &scriptedWriter{say: func(it *describe.Item) (describe.Draft, error) {
				edit(it)
				return describe.Draft{Text: "about " + string(repo.DirLabel(it.Path))}, nil
			}}
			var writer describe.Writer = s
			if outlined {
				writer = editingOutliner{edit: edit}
			}
			ran := run(t, w, writer)
			kept := outlined && when == "b" // the outline is made from the item, which has the old content
			if failed := len(ran.Failed) == 1 && ran.Failed[0].Path == "b"; failed == kept {
				t.Errorf("edited during %s: failed %+v; want b: %t", when, ran.Failed, !kept)
			}
			w.content["b/x.go"] = was
			stored, err := w.Latest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := verdicts(t, w); len(stored["b"]) > 0 != kept || got["a"] != "fresh" || got["c"] != "fresh" {
				t.Errorf("edited during %s and restored: verdicts %v, records of b %v; want a and c fresh, and a record of b: %t", when, got, stored["b"], kept)
			}
			s.say = nil
			if ran := run(t, w, writer); len(ran.Failed) > 0 {
				t.Errorf("the next run failed for %+v; want no failure", ran.Failed)
			}
			if stored, err = w.Latest(t.Context()); err != nil || len(stored["b"]) == 0 {
				t.Errorf("after the next run, b has no record (error %v)", err)
			}
		}
	}
}

// An editingOutliner edits a file before it writes an outline.
type editingOutliner struct {
	describe.Outliner
	edit func(*describe.Item)
}

func (e editingOutliner) Write(ctx context.Context, it *describe.Item) (describe.Draft, error) {
	if it.Files != nil {
		e.edit(it)
	}
	return e.Outliner.Write(ctx, it)
}

// run describes all directories.
func run(t testing.TB, w *memoryRepo, s describe.Writer) *survey.RunResult {
	t.Helper()
	ran, err := w.survey(nil).Run(t.Context(), s, survey.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ran
}

// same compares two lists.
func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// A run describes the stale directories again, in order, and no others.
func TestRunDescribesStaleDirectoriesOnly(t *testing.T) {
	w := newMemoryRepo("a.go", "src/b.go", "src/deep/c.go", "src/other/d.go", "doc/e.md")
	s := &scriptedWriter{}
	run(t, w, s)
	same(t, "all", s.paths(), []string{"doc", "src/deep", "src/other", "src", "."})
	run(t, w, s)
	same(t, "nothing", s.paths(), nil)

	w.content["src/deep/c.go"] = "another"
	got := verdicts(t, w)
	want := map[string]string{".": "stale-below 1/2", "doc": "fresh", "src": "stale-below 1/2", "src/deep": "stale-self", "src/other": "fresh"}
	if !maps.Equal(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
	run(t, w, s)
	same(t, "the file's directory and those above", s.paths(), []string{"src/deep", "src", "."})

	// A comment does not count as a change. After a revert, the old summaries are fresh again.
	w.content["src/deep/c.go"] = "another # a comment"
	run(t, w, s)
	same(t, "a comment", s.paths(), nil)
	w.content["src/deep/c.go"] = "content of src/deep/c.go"
	run(t, w, s)
	same(t, "a revert", s.paths(), nil)
	if got := verdicts(t, w)["."]; got != "fresh" {
		t.Errorf("after a revert the root is %s, want fresh", got)
	}
}

// An older summary is fresh again after a revert, even if its basis differs in ways that do not count.
func TestOlderSummaryIsFoundAgain(t *testing.T) {
	w := newMemoryRepo("src/main.go", "src/walk.go", "a.go")
	s := &scriptedWriter{}
	run(t, w, s)
	s.paths()
	w.content["src/main.go"] += " # formatted"
	if got := verdicts(t, w)["src"]; got != "fresh" {
		t.Fatalf("after a change of format src is %s, want fresh", got)
	}
	w.content["src/walk.go"] = "walks further"
	run(t, w, s)
	same(t, "described", s.paths(), []string{"src", "."})
	w.content["src/walk.go"] = "content of src/walk.go"
	for p, v := range verdicts(t, w) {
		if v != "fresh" {
			t.Errorf("after the revert, %s is %s; want fresh", p, v)
		}
	}
	run(t, w, s)
	same(t, "described again", s.paths(), nil)
}

// If a directory keeps its text, the directories above stay fresh.
func TestEarlyCutoff(t *testing.T) {
	w := newMemoryRepo("src/deep/c.go", "src/b.go")
	s := &scriptedWriter{say: func(it *describe.Item) (describe.Draft, error) {
		if it.Old != nil {
			return describe.Draft{Keep: true}, nil
		}
		return describe.Draft{Text: "constant words"}, nil
	}}
	run(t, w, s)
	s.paths()
	w.content["src/deep/c.go"] = "changed; inside"
	ran := run(t, w, s)
	same(t, "asked", s.paths(), []string{"src/deep"})
	same(t, "done", ran.Done, []string{"src/deep"})
	for p, v := range verdicts(t, w) {
		if v != "fresh" {
			t.Errorf("%s is %s, want fresh", p, v)
		}
	}
}

// An outline never replaces the summary of a model or an agent. The summary stays stale until a model or an agent
// describes the directory again.
func TestOutlineReplacesNoSummary(t *testing.T) {
	w := newMemoryRepo("src/deep/c.go", "src/b.go", "doc/e.md")
	s := &scriptedWriter{say: func(it *describe.Item) (describe.Draft, error) {
		return describe.Draft{Text: "words about " + repo.DirLabel(it.Path).String()}, nil
	}}
	run(t, w, s)
	s.paths()
	w.content["src/deep/c.go"] = "another"
	w.content["new/n.go"] = "has only an outline"
	same(t, "outlined", run(t, w, describe.Outliner{}).Done, []string{"new"})
	same(t, "outlined again", run(t, w, describe.Outliner{}).Done, []string{})
	want := map[string]string{".": "stale-below 2/3", "doc": "fresh", "new": "fresh", "src": "stale-below 1/1", "src/deep": "stale-self"}
	if got := verdicts(t, w); !maps.Equal(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
	for _, p := range []repo.Path{"src/deep", "src", ""} {
		prompt, err := w.survey(nil).Prompt(t.Context(), p)
		if words := "words about " + repo.DirLabel(p).String(); err != nil || !strings.Contains(prompt, words) {
			t.Errorf("the prompt does not have the old summary %q: %s, %v", words, prompt, err)
		}
	}
	// A plan for a model lists the stale directories and the outlined one.
	plan, err := w.survey(nil).Plan(t.Context(), s, survey.PlanOptions{})
	if err != nil || len(plan.Directories) != 4 {
		t.Errorf("planned %+v, %v; want 4 directories", plan, err)
	}
	confirmed, err := w.survey(nil).Confirm(t.Context(), []survey.Confirmation{{Path: "src/deep", Author: "reviewer"}})
	if err != nil || confirmed[0].Verdict.State != fresh.Fresh || !slices.Contains(confirmed[0].Above, "src") {
		t.Errorf("confirmed %+v, %v; want src/deep fresh, and src above it", confirmed, err)
	}
	shown, err := w.survey(nil).Directories(t.Context(), []repo.Path{"src/deep"})
	if err != nil || shown[0].TextOrEmpty() != "words about src/deep" || shown[0].Outline {
		t.Errorf("Directories returned %+v, %v; want the confirmed text of src/deep", shown[0], err)
	}
	// A run of a model describes the outlined directory too.
	run(t, w, s)
	same(t, "described", s.paths(), []string{"new", "."})
}

// A renamed directory keeps its summary. The summary of its parent is stale.
func TestRenameKeepsSummary(t *testing.T) {
	w := newMemoryRepo("src/deep/c.go", "src/b.go")
	s := &scriptedWriter{}
	run(t, w, s)
	s.paths()
	w.content["src/renamed/c.go"] = w.content["src/deep/c.go"]
	delete(w.content, "src/deep/c.go")
	if got := verdicts(t, w); got["src/renamed"] != "fresh" || !strings.HasPrefix(got["src"], "stale-below") {
		t.Errorf("verdicts %v; want src/renamed fresh and src stale-below", got)
	}
	run(t, w, s)
	same(t, "asked", s.paths(), []string{"src", "."})
}

// A run records a failure and continues. The prompt of the parent says that the directory has no summary. The next
// run describes both.
func TestFailureIsInPromptOfParent(t *testing.T) {
	w := newMemoryRepo("src/deep/c.go", "src/b.go")
	fail := true
	var prompt string
	s := &scriptedWriter{}
	s.say = func(it *describe.Item) (describe.Draft, error) {
		if it.Path == "src/deep" && fail {
			return describe.Draft{}, fmt.Errorf("no answer")
		}
		if it.Path == "src" {
			prompt = it.Prompt()
		}
		return describe.Draft{Text: "about " + repo.DirLabel(it.Path).String()}, nil
	}
	ran := run(t, w, s)
	if len(ran.Failed) != 1 || ran.Failed[0].Path != "src/deep" {
		t.Errorf("the failed directories are %+v; want src/deep", ran.Failed)
	}
	if !strings.Contains(prompt, "not yet investigated: deep (no answer)") || strings.Contains(prompt, "no subdirectories") {
		t.Errorf("the prompt of the parent should name deep and the failure:\n%s", prompt)
	}
	if got := verdicts(t, w); got["src/deep"] != "failed" || got["src"] != "incomplete 1/1" {
		t.Errorf("verdicts %v; want src/deep failed and src incomplete 1/1", got)
	}
	fail = false
	s.paths()
	run(t, w, s)
	same(t, "described after the failure", s.paths(), []string{"src/deep", "src"})
	if got := verdicts(t, w); got["."] != "fresh" || got["src"] != "fresh" {
		t.Errorf("verdicts %v; want all fresh", got)
	}
}

// A prompt names the subdirectories that policy leaves out. It says "no subdirectories" only if there are none.
func TestExcluded(t *testing.T) {
	w := newMemoryRepo("src/b.go", "src/vendor/x.go", "src/vendor/y/z.go")
	w.excluded["src/vendor/x.go"], w.excluded["src/vendor/y/z.go"] = "vendored", "vendored"
	s := &scriptedWriter{}
	run(t, w, s)
	prompt := s.items[0].Prompt()
	same(t, "asked", s.paths(), []string{"src", "."})
	if !strings.Contains(prompt, "left out by policy: vendor") || strings.Contains(prompt, "no subdirectories") {
		t.Errorf("the prompt should say that vendor is left out:\n%s", prompt)
	}
}

// Every directory is described after all directories below it, and its prompt has their summaries: with one job,
// with several, and with leases.
func TestSubdirectoriesComeFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, ranks := drawRepo(t)
		s := &scriptedWriter{}
		jobs := rapid.IntRange(1, 4).Draw(t, "jobs")
		if rapid.Bool().Draw(t, "leased") {
			runAgents(t, w, ranks, s)
		} else if _, err := w.survey(ranks).Run(t.Context(), s, survey.RunOptions{Jobs: jobs}); err != nil {
			t.Fatal(err)
		}
		done := make(map[repo.Path]bool)
		for _, it := range s.items {
			prompt := it.Prompt()
			if strings.Contains(prompt, "no subdirectories") != (len(it.Children) == 0) {
				t.Fatalf("%s: the prompt is wrong about subdirectories:\n%s", it.Path, prompt)
			}
			for _, c := range it.Children {
				if c.Status != describe.ChildExcluded && !done[c.Path] {
					t.Fatalf("%s was described before %s", it.Path, c.Path)
				}
				if c.Status != describe.ChildExcluded && c.Status != describe.ChildSummary {
					t.Fatalf("in the prompt of %s, %s is %s; want a summary", it.Path, c.Path, c.Status)
				}
			}
			done[it.Path] = true
		}
		plan, err := w.survey(ranks).Plan(t.Context(), s, survey.PlanOptions{})
		if err != nil || len(plan.Directories) != 0 {
			t.Fatalf("the plan after the run is %+v, %v; want no directories", plan, err)
		}
	})
}

// drawRepo draws a repository and ranks.
func drawRepo(t *rapid.T) (*memoryRepo, map[repo.Path]survey.Rank) {
	w := newMemoryRepo()
	name := rapid.SampledFrom([]string{"a", "b", "c", "-", "a b", "é"})
	for range rapid.IntRange(0, 14).Draw(t, "files") {
		parts := rapid.SliceOfN(name, 1, 5).Draw(t, "path")
		path := strings.Join(parts, "/") + ".go"
		w.content[repo.Path(path)] = path // different contents, so that no two directories share a summary
	}
	ranks := make(map[repo.Path]survey.Rank)
	for _, p := range slices.Sorted(maps.Keys(w.content)) {
		for d := p.Dir(); ; d = d.Dir() {
			if rapid.IntRange(0, 3).Draw(t, "ranked") == 0 {
				ranks[d] = survey.Rank(rapid.IntRange(1, 4).Draw(t, "rank"))
			}
			if d == "" {
				break
			}
		}
	}
	return w, ranks
}

// runAgents simulates several agents that describe directories under leases until none is left.
func runAgents(t *rapid.T, w *memoryRepo, ranks map[repo.Path]survey.Rank, s *scriptedWriter) {
	n := 0
	dispatcher := func() *survey.Dispatcher {
		return survey.NewDispatcher(w.survey(ranks), w, "", func() string { n++; return fmt.Sprint("t", n) })
	}
	type leasedItem struct {
		path  repo.Path
		lease string
	}
	var leased []leasedItem
	for range 200 {
		if len(leased) > 0 && (len(leased) == 3 || rapid.Bool().Draw(t, "submit")) {
			i := rapid.IntRange(0, len(leased)-1).Draw(t, "which")
			h := leased[i]
			leased = slices.Delete(leased, i, i+1)
			out, err := dispatcher().Submit(t.Context(), survey.Submission{Path: h.path, Lease: h.lease, Author: "agent", Draft: describe.Draft{Text: "about " + repo.DirLabel(h.path).String()}})
			if err != nil || out.Result != survey.SubmitStored {
				t.Fatalf("Submit of %s returned %+v, %v; want it stored", h.path, out, err)
			}
			continue
		}
		got, err := dispatcher().Next(t.Context(), survey.NextOptions{Duration: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if got.Item == nil {
			if len(leased) == 0 {
				if got.Remaining > 0 {
					t.Fatalf("%d directories remain and none is ready", got.Remaining)
				}
				return
			}
			continue
		}
		path := repo.Path(got.Item.Path)
		if path == "." {
			path = ""
		}
		lease := w.leases[path]
		it := &describe.Item{Path: path, Basis: lease.Basis}
		for _, c := range lease.Basis.Children {
			child := describe.Child{Path: repo.Path(strings.TrimPrefix(string(path)+"/"+string(c.Name), "/")), Status: describe.ChildPending}
			if !c.Text.IsZero() {
				child.Status = describe.ChildSummary
			}
			it.Children = append(it.Children, child)
		}
		if len(it.Children) == 0 && !strings.Contains(got.Item.Prompt, "no subdirectories") && !strings.Contains(got.Item.Prompt, "left out by policy") {
			t.Fatalf("%s: the prompt has neither subdirectories nor says that there are none", path)
		}
		s.items = append(s.items, it)
		leased = append(leased, leasedItem{path, got.Item.Lease})
	}
	t.Fatal("directories remain after 200 steps")
}

// A submission is refused if the lease expired and another agent has the directory. A text about older content is
// stored, but is stale.
func TestLeases(t *testing.T) {
	w := newMemoryRepo("src/b.go")
	n := 0
	dispatcher := func() *survey.Dispatcher {
		return survey.NewDispatcher(w.survey(nil), w, "", func() string { n++; return fmt.Sprint("t", n) })
	}
	next := func() *survey.WorkItem {
		t.Helper()
		got, err := dispatcher().Next(t.Context(), survey.NextOptions{Duration: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return got.Item
	}
	submit := func(lease, text string) *survey.Submitted {
		t.Helper()
		out, err := dispatcher().Submit(t.Context(), survey.Submission{Path: "src", Lease: lease, Author: "agent", Draft: describe.Draft{Text: text}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := next()
	if first == nil || next() != nil {
		t.Fatal("Next should lease the only directory once")
	}
	w.clock = w.clock.Add(time.Hour)
	second := next()
	if second == nil {
		t.Fatal("Next leased nothing after the lease expired; want the directory")
	}
	if out := submit(first.Lease, "late"); out.Result != survey.SubmitLeaseEnded {
		t.Errorf("the submission of the first holder: %+v; want it fenced", out)
	}
	if out := submit(second.Lease, " \n"); out.Result != survey.SubmitRejected {
		t.Errorf("the submission of an empty text: %+v; want it rejected", out)
	}
	w.content["src/b.go"] = "changed"
	if out := submit(second.Lease, "about what was"); out.Result != survey.SubmitSuperseded {
		t.Errorf("the submission after an edit: %+v; want it superseded", out)
	}
	if got := verdicts(t, w)["src"]; got != "stale-self" {
		t.Errorf("src is %s, want stale-self", got)
	}
	w.content["src/b.go"] = "content of src/b.go"
	if got := verdicts(t, w)["src"]; got != "fresh" {
		t.Errorf("after the revert, src is %s; want fresh", got)
	}
}

// A run skips a directory that an agent has leased, and two runs at the same time describe no directory twice.
func TestRunsTakeLeases(t *testing.T) {
	w := newMemoryRepo("a/x.go", "b/x.go", "c/x.go")
	w.content["b/x.go"], w.content["c/x.go"] = "of b", "of c"
	var n atomic.Int64
	dispatcher := func() *survey.Dispatcher {
		return survey.NewDispatcher(survey.New(w, w, survey.Options{}), w, "", func() string { return fmt.Sprint("t", n.Add(1)) })
	}
	leasedA, err := dispatcher().Next(t.Context(), survey.NextOptions{Duration: time.Hour})
	if err != nil || leasedA.Item == nil || leasedA.Item.Path != "a" {
		t.Fatalf("Next returned %+v, %v; want a lease of a", leasedA, err)
	}
	// Two runs at the same time describe b and c. Each waits until both are asked about.
	var mu sync.Mutex
	asked := make(map[repo.Path]int)
	both := make(chan struct{})
	say := func(it *describe.Item) (describe.Draft, error) {
		mu.Lock()
		asked[it.Path]++
		if len(asked) == 2 {
			close(both)
		}
		mu.Unlock()
		<-both
		return describe.Draft{Text: "about " + repo.DirLabel(it.Path).String()}, nil
	}
	var runs sync.WaitGroup
	for range 2 {
		runs.Go(func() {
			s := &scriptedWriter{say: say}
			ran, err := w.survey(nil).Run(t.Context(), s, survey.RunOptions{Dispatcher: dispatcher(), Heartbeat: time.Millisecond, Ticks: ticks})
			if err != nil || ran.Left != 2 || len(ran.Leased) != 1 || ran.Leased[0].Path != "a" {
				t.Errorf("the run returned %+v, %v; want 2 directories left, and a leased by others", ran, err)
			}
		})
	}
	runs.Wait()
	if want := map[repo.Path]int{"b": 1, "c": 1}; !maps.Equal(asked, want) {
		t.Errorf("the runs described %v, want %v", asked, want)
	}
	// After the submission of the agent, the root is ready. A failed run releases it.
	if _, err := dispatcher().Submit(t.Context(), survey.Submission{Path: "a", Lease: leasedA.Item.Lease, Draft: describe.Draft{Text: "about a"}}); err != nil {
		t.Fatal(err)
	}
	s := &scriptedWriter{say: func(*describe.Item) (describe.Draft, error) { return describe.Draft{}, errors.New("no answer") }}
	ran, err := w.survey(nil).Run(t.Context(), s, survey.RunOptions{Dispatcher: dispatcher(), Ticks: ticks})
	if err != nil || len(ran.Failed) != 1 {
		t.Errorf("the run returned %+v, %v; want one failure", ran, err)
	}
	s.say = func(*describe.Item) (describe.Draft, error) { return describe.Draft{Text: "not \x1b kept"}, nil }
	ran, err = w.survey(nil).Run(t.Context(), s, survey.RunOptions{Dispatcher: dispatcher(), Ticks: ticks})
	if err != nil || len(ran.Failed) != 1 || verdicts(t, w)["."] != "failed" {
		t.Errorf("the run returned %+v, %v; want one failure, because the text is not valid", ran, err)
	}
	s.say = nil
	ran, err = w.survey(nil).Run(t.Context(), s, survey.RunOptions{Dispatcher: dispatcher(), Ticks: ticks})
	if err != nil || !slices.Equal(ran.Done, []string{"."}) || ran.Left != 0 {
		t.Errorf("the run returned %+v, %v; want only the root described", ran, err)
	}
}

// A run reports its progress while a directory is being described.
func TestRunSendsHeartbeats(t *testing.T) {
	w := newMemoryRepo("a.go")
	beats := make(chan survey.Progress, 1)
	s := &scriptedWriter{say: func(*describe.Item) (describe.Draft, error) {
		p := <-beats
		if p.Done != 0 || p.Total != 1 || p.UnderWay != 1 {
			t.Errorf("the heartbeat has %+v; want 0 of 1 done, 1 under way", p)
		}
		return describe.Draft{Text: "at last"}, nil
	}}
	_, err := w.survey(nil).Run(t.Context(), s, survey.RunOptions{Heartbeat: time.Millisecond, Ticks: ticks, Progress: func(p survey.Progress) {
		if p.UnderWay > 0 {
			select {
			case beats <- p:
			default:
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// A run rejects texts that are no summaries. It remarks on several directories with the same text.
func TestInvalidTextsAreRejected(t *testing.T) {
	w := newMemoryRepo("a/x.go", "b/y.go", "c/z.go", "r.go")
	for name, say := range map[string]func(it *describe.Item) string{
		"an echo":             func(it *describe.Item) string { return describe.Rules + it.Prompt() },
		"an echo of the data": func(it *describe.Item) string { return it.Prompt() },
		"more than asked for": func(*describe.Item) string { return strings.Repeat("words ", 700) },
		"a refusal":           func(*describe.Item) string { return "I am sorry, I cannot help with that." },
		"an empty text":       func(*describe.Item) string { return " " },
	} {
		ran := run(t, w, &scriptedWriter{say: func(it *describe.Item) (describe.Draft, error) { return describe.Draft{Text: say(it)}, nil }})
		if len(ran.Done) != 0 {
			t.Errorf("%s was stored as the summary of %q; want it rejected", name, ran.Done)
		}
	}
	ran := run(t, w, &scriptedWriter{say: func(*describe.Item) (describe.Draft, error) {
		return describe.Draft{Text: "A directory of this repository."}, nil
	}})
	if len(ran.Remarks) != 1 || !strings.Contains(ran.Remarks[0], "4 directories got the same summary") {
		t.Errorf("remarks %q; want one about 4 directories with the same summary", ran.Remarks)
	}
}

// An agent that keeps a text keeps the one in its work item, even if there is a newer one.
func TestKeepStoresTheTextOfTheWorkItem(t *testing.T) {
	w := newMemoryRepo("src/b.go")
	n := 0
	dispatcher := func() *survey.Dispatcher {
		return survey.NewDispatcher(w.survey(nil), w, "", func() string { n++; return fmt.Sprint("t", n) })
	}
	next := func() *survey.WorkItem {
		t.Helper()
		got, err := dispatcher().Next(t.Context(), survey.NextOptions{Duration: time.Minute})
		if err != nil || got.Item == nil {
			t.Fatalf("Next returned %+v, %v; want a work item", got, err)
		}
		return got.Item
	}
	submit := func(lease, text string) survey.SubmitResult {
		t.Helper()
		out, err := dispatcher().Submit(t.Context(), survey.Submission{Path: "src", Lease: lease, Author: "agent", Draft: describe.Draft{Text: text}})
		if err != nil {
			t.Fatal(err)
		}
		return out.Result
	}
	current := func() string {
		t.Helper()
		shown, err := w.survey(nil).Show(t.Context(), "src")
		if err != nil {
			t.Fatal(err)
		}
		d := shown.Directories[0]
		return fmt.Sprintf("%s, %v: %s", d.Verdict, d.Outline, d.TextOrEmpty())
	}

	// The work item has no text, and an outline is stored afterwards.
	it := next()
	if strings.Contains(it.Prompt, "was said of it before") {
		t.Errorf("the work item has a previous text; want none: %s", it.Prompt)
	}
	run(t, w, describe.Outliner{})
	if got := submit(it.Lease, "keep"); got != survey.SubmitRejected {
		t.Errorf("keep without a text in the work item: %s, want rejected", got)
	}
	if got := submit(it.Lease, "hand text"); got != survey.SubmitStored {
		t.Errorf("a new text: %s, want stored", got)
	}

	// An outline is stored after the text in the work item.
	w.content["src/b.go"] = "changed; a lot"
	it = next()
	if !strings.Contains(it.Prompt, "hand text") {
		t.Errorf("the work item does not have the old text: %s", it.Prompt)
	}
	run(t, w, describe.Outliner{})
	if got := submit(it.Lease, "keep"); got != survey.SubmitStored || current() != "fresh, false: hand text" {
		t.Errorf("keep: %s, then src is %q", got, current())
	}

	// The work item has a fresh outline. It counts as a summary after the agent keeps it.
	w = newMemoryRepo("src/b.go")
	run(t, w, describe.Outliner{})
	outlined := strings.TrimPrefix(current(), "fresh, true: ")
	it = next()
	if !strings.Contains(it.Prompt, outlined) || !strings.Contains(it.Prompt, "answer with the single word keep") {
		t.Errorf("the work item does not have the outline: %s", it.Prompt)
	}
	if got := submit(it.Lease, "keep"); got != survey.SubmitStored || current() != "fresh, false: "+outlined {
		t.Errorf("keep: %s, then src is %q", got, current())
	}
}

func ticks(pause time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(pause)
	return t.C, t.Stop
}

// A subdirectory or a file that policy leaves out does not count: the summary stays
// fresh, and no reason says that it is gone. When it is deleted, the summary is stale.
func TestLeftOutIsNotGone(t *testing.T) {
	w := newMemoryRepo("src/a.go", "src/gen.go", "src/db/b.go", "src/web/c.go")
	run(t, w, &scriptedWriter{})
	skip := map[repo.Path]survey.Rank{"src/db": survey.RankSkip}
	show := func() survey.ListedDir {
		t.Helper()
		shown, err := w.survey(skip).Show(t.Context(), "src")
		if err != nil {
			t.Fatal(err)
		}
		return shown.Directories[0]
	}
	w.excluded["src/gen.go"] = "generated"
	if got := show(); got.Verdict.State != fresh.Fresh || got.ChangedChildren != 0 || got.CountedChildren != 1 {
		t.Errorf("with db and gen.go left out, src is %s (%d of %d, %q); want fresh, 0 of 1", got.Verdict, got.ChangedChildren, got.CountedChildren, got.Reasons)
	}
	w.content["src/web/c.go"] = "another"
	if got := show(); got.Verdict.Reason != fresh.StaleBelow {
		t.Errorf("after an edit in web, src is %s; want stale-below", got.Verdict)
	} else {
		same(t, "reasons after an edit in web", got.Reasons, []string{"web is stale"})
	}
	w.content["src/a.go"] = "another"
	same(t, "reasons after an edit of a.go", show().Reasons, []string{"a.go changed (interface)", "web is stale"})
	diff, err := w.survey(skip).Diff(t.Context(), "src")
	if err != nil {
		t.Fatal(err)
	}
	if len(diff.Files) != 1 || len(diff.Children) > 0 {
		t.Errorf("the diff has files %v and subdirectories %v; want a.go alone", diff.Files, diff.Children)
	}
	delete(w.content, "src/db/b.go")
	delete(w.content, "src/gen.go")
	same(t, "reasons after both were deleted", show().Reasons, []string{"a.go changed (interface)", "gen.go is gone", "web is stale", "db is gone"})
}

// An outline names its subdirectories, so it is made again without one that is left out.
func TestOutlineOmitsExcludedDirs(t *testing.T) {
	w := newMemoryRepo("a.go", "db/b.go")
	w.content["db/b.go"] = "Package db stores."
	run(t, w, describe.Outliner{})
	shown, err := w.survey(map[repo.Path]survey.Rank{"db": survey.RankSkip}).Show(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if root := shown.Directories[0]; root.Verdict.State != fresh.Fresh || strings.Contains(root.TextOrEmpty(), "stores") {
		t.Errorf("the root is %s with the text %q; want a fresh outline without db", root.Verdict, root.TextOrEmpty())
	}
}

// The summaries in a report stay fresh when a directory that they were written from is left out.
func TestReportOfWhatIsLeftOut(t *testing.T) {
	w := newMemoryRepo("src/a.go", "src/db/b.go")
	run(t, w, &describe.ModelWriter{Model: &scriptedModel{say: describeAny}})
	for _, skip := range []map[repo.Path]survey.Rank{nil, {"src/db": survey.RankSkip}} {
		r, err := w.survey(skip).Report(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if root := r.Sections[0]; root.Path != "." || root.Verdict.State != fresh.Fresh || root.TextOrEmpty() != "about ." {
			t.Errorf("with the ranks %v, the first section is %+v; want the fresh summary of the root", skip, root)
		}
	}
}

// A work item with an old text shows the changes since then, up to a limit. It names the files whose changes it
// does not show.
func TestPromptShowsChanges(t *testing.T) {
	w := newMemoryRepo("src/a.go", "src/b.go", "src/c.go", "src/d.go", "src/e.go")
	run(t, w, &scriptedWriter{})
	w.blobs = make(map[repo.ID]string)
	for _, p := range []repo.Path{"src/a.go", "src/c.go", "src/d.go", "src/e.go"} {
		w.blobs[repo.SHA1.Blob([]byte(w.content[p]))] = w.content[p]
	}
	w.content["src/a.go"] = "one; return 1"
	w.content["src/c.go"] = strings.Repeat("long line\n", 5000)
	w.content["src/b.go"] = "another"
	w.content["src/d.go"] = "too late"
	w.content["src/e.go"] += " # a comment"
	text, err := w.survey(nil).Prompt(t.Context(), "src")
	if err != nil {
		t.Fatal(err)
	}
	_, changes, _ := strings.Cut(text, "Changes of its files since then:\n")
	changes, _, _ = strings.Cut(changes, "If that still holds word for word")
	for _, want := range []string{
		"- a.go:\n<<<data\n@@\n-content of src/a.go\n+one; return 1\ndata>>>\n",
		"(cut here: 3", // more bytes
		"- b.go: no patch available; read the file\n",
		"- d.go: left out for length; read the file\n",
	} {
		if !strings.Contains(changes, want) {
			t.Errorf("the prompt does not have %q:\n%.2000s", want, changes)
		}
	}
	if strings.Contains(changes, "e.go") {
		t.Errorf("the prompt shows a change that does not count:\n%.2000s", changes)
	}
	if len(changes) > 13<<10 {
		t.Errorf("the changes take %d bytes, want at most 13 KiB", len(changes))
	}
}

// A changingTree is a tree whose files change after they were listed.
type changingTree struct {
	*memoryRepo
	change func()
}

func (c changingTree) Files(ctx context.Context) ([]repo.File, error) {
	list, err := c.memoryRepo.Files(ctx)
	c.change()
	return list, err
}

// An outline that was made while a subdirectory changed names it as pending. It is made again once the subdirectory
// has an outline, even if that has the text of the one before.
func TestOutlineAboveAChangedDirectory(t *testing.T) {
	w := newMemoryRepo("src/a.go", "b.go")
	w.content["src/a.go"] = "first; one"
	run(t, w, describe.Outliner{})
	w.content["src/a.go"] = "second"
	w.content["b.go"] = "another b"
	tree := changingTree{w, func() { w.content["src/a.go"] = "first; two" }}
	s := survey.New(tree, w, survey.Options{Now: time.Now})
	if _, err := s.Run(t.Context(), describe.Outliner{}, survey.RunOptions{Jobs: 1}); err != nil {
		t.Fatal(err)
	}
	run(t, w, describe.Outliner{})
	shown, err := w.survey(nil).Show(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range shown.Directories {
		if strings.Contains(d.TextOrEmpty(), "not yet investigated") {
			t.Errorf("%s has the verdict %s and the text %q", d.Path, d.Verdict, d.TextOrEmpty())
		}
	}
}
