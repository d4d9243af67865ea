package brief_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ken/internal/brief"
	"ken/internal/outline"
	"ken/internal/project"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// newProject returns the project of some files, given with their contents.
func newProject(t *testing.T, files map[repo.Path]string) *project.Project {
	t.Helper()
	return projectOf(t, files)
}

func projectOf(t interface{ Fatal(args ...any) }, files map[repo.Path]string) *project.Project {
	var paths []repo.Path
	for p := range files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	p, err := project.New(paths, func(p repo.Path) ([]byte, error) { return []byte(files[p]), nil })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// kinds takes files with "test" in their names for tests.
func kinds(p repo.Path) repo.Kind {
	if strings.Contains(string(p), "test") {
		return repo.KindTest
	}
	return repo.KindSource
}

func edge(from, to repo.Path, symbol string, exact bool, lines ...int) searchindex.Edge {
	return searchindex.Edge{From: from, To: to, Symbol: symbol, Exact: exact, Lines: lines}
}

const limits = `// Package server serves.
package server

// A Limiter limits requests of a tenant.
type Limiter struct{ n int }

// Allow reports whether a request may pass.
func (l *Limiter) Allow(tenant string) bool { return l.n > 0 }

func x() {}

var v1, v22 = 1, 2

var _ = 3

// Reset starts again.
func Reset() {}
`

// limitsFacts are the facts of a file that others use.
func limitsFacts(t *testing.T) brief.FileFacts {
	t.Helper()
	o, err := outline.Parse("server/limits.go", []byte(limits))
	if err != nil {
		t.Fatal(err)
	}
	return brief.FileFacts{
		Path: "server/limits.go", Kind: repo.KindSource, Outline: o, Content: []byte(limits), Kinds: kinds,
		Words: []brief.Section{{Subject: "server/limits.go", Verdict: "stale: signatures changed since", Text: "Limits requests.", Written: true}},
		Project: newProject(t, map[repo.Path]string{
			"go.mod":                   "module shop\n",
			"AGENTS.md":                "# Rules\n\n- Files in server/ must not log secrets.\n",
			"server/limits.go":         limits,
			"server/limits_test.go":    "package server\n",
			"server/other_test.go":     "package server\n",
			"server/server.go":         "package server\n",
			"server/testdata/mod.rs":   "",
			"server/tests/__init__.py": "",
			"cmd/main.go":              "package main\n",
		}),
		Users: []searchindex.Edge{
			edge("server/maybe.go", "server/limits.go", "Limiter.Allow", false, 3, 4, 5),
			edge("server/server.go", "server/limits.go", "Reset", true, 9, 4),
			edge("server/server.go", "server/limits.go", "Limiter", true, 4),
			edge("cmd/main.go", "server/limits.go", "Reset", true, 7),
			edge("server/other_test.go", "server/limits.go", "Limiter", true, 12),
			edge("server/testdata/mod.rs", "server/limits.go", "Limiter", true, 12),
			edge("server/tests/__init__.py", "server/limits.go", "Limiter", true, 12),
		},
		Uses: []searchindex.Edge{edge("server/limits.go", "config/tenant.go", "Tenant", true, 2)},
		History: brief.History{
			Searched: 120, Since: "2024-01-02T03:04:05Z", Commits: 9,
			Companions: []brief.Companion{{Path: "server/server.go", Together: 7}, {Path: "docs/limits.md", Together: 2}, {Path: "x.go", Together: 1}},
			Last:       []searchindex.Commit{{ID: mustID(t, "1234567890123456789012345678901234567890"), Subject: "limits: count per tenant", Date: "2025-06-07T08:09:10Z"}},
		},
		Documents: []brief.Mention{{Path: "docs/limits.md", Line: 12}},
		Copies:    []repo.Path{"old/limits.go"},
	}
}

func TestFile(t *testing.T) {
	got := brief.File(limitsFacts(t), 0).String()
	want := `[stale: signatures changed since] server/limits.go: Limits requests.
instructions:
  Files in server/ must not log secrets.  (AGENTS.md:3)
  AGENTS.md: Rules
symbols, most used first:
  5: type Limiter struct — A Limiter limits requests of a tenant. (used by 4 files)
  17: func Reset() — Reset starts again. (used by 2 files)
  8: func (l *Limiter) Allow(tenant string) bool — Allow reports whether a request may pass. (used by 1 file)
  12: var v1
  12: var v22
used by 4 files, likely by 1 more (2 of them for tests), and by 1 test:
  server/server.go:4,9,+1  Reset, Limiter
  cmd/main.go:7  Reset
  server/maybe.go:3,4,5  Limiter.Allow (likely)
  server/testdata/mod.rs:12  Limiter
  server/tests/__init__.py:12  Limiter
tests (2 files): go test ./server  # server/limits_test.go named for it, server/other_test.go
uses 1 file: config/tenant.go  Tenant
changes with (the last 120 commits, since 2024-01-02, of at most 30 files):
  server/server.go (7 of 9 commits)
  docs/limits.md (2 of 9 commits)
last commits: 2025-06-07 1234567 limits: count per tenant
named in: docs/limits.md:12
same bytes as: old/limits.go
`
	if got != want {
		t.Errorf("the brief of a file is\n%s\nwant\n%s", got, want)
	}
}

// Where ken cannot know who uses a file, it says unknown, not zero.
func TestUnknownUsers(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*brief.FileFacts)
		want   string
	}{
		{"no grammar", func(f *brief.FileFacts) { f.Outline = nil }, "[unknown] used by: ken does not follow uses"},
		{"broken", func(f *brief.FileFacts) { o := *f.Outline; o.Partial = "broken"; f.Outline = &o }, "[unknown] used by: the file breaks its grammar"},
		{"absent", func(f *brief.FileFacts) { f.Outline = nil; f.Unread = "git lacks the content" }, "[unknown] used by: git lacks the content"},
		{"updating", func(f *brief.FileFacts) { f.History.IndexBusy = true }, "[unknown] used by: another process"},
		{"unused", func(*brief.FileFacts) {}, "used by: no file that ken found"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := limitsFacts(t)
			f.Users = nil
			test.change(&f)
			if got := brief.File(f, 0).String(); !strings.Contains(got, "\n"+test.want) {
				t.Errorf("no line begins with %q in\n%s", test.want, got)
			}
		})
	}
}

func TestCompanions(t *testing.T) {
	for _, test := range []struct {
		path repo.Path
		kind repo.Kind
		want bool
	}{
		{"server/server.go", repo.KindSource, true},
		{"docs/a.md", repo.KindDoc, true},
		{"api.pb.go", repo.KindGenerated, false},
		{"vendor/a.go", repo.KindVendored, false},
		{"go.sum", repo.KindLockfile, false},
		{"src/__snapshots__/a.test.ts.snap", repo.KindTest, false},
	} {
		if got := brief.IsCompanion(test.path, test.kind); got != test.want {
			t.Errorf("%s (%s) counts as a file that changes with others: %v, want %v", test.path, test.kind, got, test.want)
		}
	}
}

func TestShallow(t *testing.T) {
	f := limitsFacts(t)
	f.History.Shallow = true
	if got := brief.File(f, 0).String(); !strings.Contains(got, "note: the clone is shallow: its history is cut") {
		t.Errorf("the brief does not say that the history is cut:\n%s", got)
	}
}

func mustID(t *testing.T, hex string) repo.ID {
	t.Helper()
	id, err := repo.ParseID(hex)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A brief never exceeds its budget.
func TestBudget(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	f := limitsFacts(t)
	for i := range 60 {
		f.Users = append(f.Users, edge(repo.Path(fmt.Sprintf("user/u%d.go", i)), f.Path, "Reset", true, i+1))
	}
	for i := range 9 {
		f.History.Companions = append(f.History.Companions, brief.Companion{Path: repo.Path(fmt.Sprintf("c%d.go", i)), Together: 5})
	}
	for range 50 {
		budget := brief.MinBudget + random.IntN(2000)
		if got := len(brief.File(f, budget).String()); got > budget*brief.BytesPerToken {
			t.Fatalf("a brief of %d tokens has %d bytes", budget, got)
		}
	}
	// A larger budget adds users and nothing else.
	small, large := brief.File(f, 600), brief.File(f, 1200)
	for i, s := range small.Sections {
		added := len(large.Sections[i].Items) - len(s.Items)
		if grows := strings.HasPrefix(s.Subject, "used by"); added < 0 || grows != (added > 0) {
			t.Errorf("a larger budget adds %d lines to %q", added, s.Subject)
		}
		if n := len(large.Sections[i].Items); strings.HasPrefix(s.Subject, "changes with") && n != 5 {
			t.Errorf("%q has %d lines whatever the budget, want 5", s.Subject, n)
		}
	}
}

// A list that was shortened says how many items it leaves out, and the brief names the subjects without any.
func TestShortenedListsSayHowMany(t *testing.T) {
	f := limitsFacts(t)
	for i := range 60 {
		f.Users = append(f.Users, edge(repo.Path(fmt.Sprintf("user/u%d.go", i)), f.Path, "Reset", true, i+1))
	}
	b := brief.File(f, 300)
	text := b.String()
	for _, s := range b.Sections {
		if s.More > 0 && !strings.Contains(s.String(), fmt.Sprintf("+%d\n", s.More)) {
			t.Errorf("%q leaves out %d and does not say so:\n%s", s.Subject, s.More, s)
		}
	}
	if !strings.Contains(text, "\n  +") {
		t.Errorf("no list was shortened:\n%s", text)
	}
	b = brief.File(f, 160)
	if want := "left out: " + strings.Join(b.Omitted, ", ") + "\n"; len(b.Omitted) == 0 || !strings.Contains(b.String(), want) {
		t.Errorf("the brief does not say %q:\n%s", want, b)
	}
}

func TestDirectory(t *testing.T) {
	files := map[repo.Path]string{
		"go.mod":                "module shop\n",
		"server/limits.go":      "package server\n",
		"server/limits_test.go": "package server\n",
		"server/main/main.go":   "package main\n\nfunc main() {}\n",
	}
	got := brief.Directory(brief.DirectoryFacts{
		Path:     "server",
		Words:    []brief.Section{{Subject: "server", Verdict: "fresh, outline", Text: "Package server serves."}},
		Project:  newProject(t, files),
		Kinds:    kinds,
		Code:     true,
		Followed: true,
		Central: []brief.CentralFile{
			{Path: "server/limits.go", Users: 4, Outside: 3, About: "Limiter limits"},
			{Path: "server/index.ts", Users: 2},
			{Path: "server/doc.go", Users: 1, Outside: 1, About: "Package server serves."},
		},
		Parts:   []brief.Part{{Path: "server/main"}, {Path: "server/a", About: "Package server serves."}, {Path: "server/b", About: "Begins.", Verdict: "stale"}},
		Entries: []brief.FileAbout{{Path: "server/main/main.go", About: "Begins."}},
		Tests:   []repo.Path{"server/limits_test.go"},
		Dependents: []searchindex.Pair{
			{From: "cmd/a.go", To: "server/limits.go"},
			{From: "cmd/b.go", To: "server/limits.go"},
			{From: "cmd/b.go", To: "server/doc.go"},
			{From: "web/a.go", To: "server/limits.go"},
			{From: "web/a_test.go", To: "server/limits.go"},
		},
		History: brief.History{Searched: 5, Since: "2024-01-02", Commits: 3, Companions: []brief.Companion{{Path: "web/a.go", Together: 2}}},
	}, 0).String()
	want := `server: Package server serves.
central files, most used first:
  server/limits.go (used by 4 files, 3 outside): Limiter limits
  server/doc.go (used by 1 file outside)
entry points: server/main/main.go: Begins.
run its tests:
  go test ./server  # server/limits_test.go
  go test ./...  # all tests, go.mod:1
used from outside by 3 files, and by 1 test:
  cmd/b.go  doc.go, limits.go
  cmd/a.go  limits.go
  web/a.go  limits.go
changes with (the last 5 commits, since 2024-01-02, of at most 30 files): web/a.go (2 of 3 commits)
last commits: none of the last 5 commits, since 2024-01-02 touched this directory
`
	if got != want {
		t.Errorf("the brief of a directory is\n%s\nwant\n%s", got, want)
	}
}

func TestRepository(t *testing.T) {
	files := map[repo.Path]string{
		"go.mod":                "module shop\n",
		"Makefile":              "test:\n\tgo test ./...\n\nlint:\n\tgo vet ./...\n",
		"server/limits_test.go": "package server\n",
	}
	got := brief.Repository(brief.RepositoryFacts{
		Words:   []brief.Section{{Subject: ".", Verdict: "fresh, outline", Text: "Routes orders."}},
		Project: newProject(t, files),
		Parts:   []brief.Part{{Path: "server", About: "Package server serves."}, {Path: "empty"}},
		Start:   []brief.FileAbout{{Path: "README.md"}},
		Central: []brief.CentralFile{{Path: "server/limits.go", Users: 4, About: "Limiter limits"}},
		Tests:   []repo.Path{"server/limits_test.go"},
		Stale:   []brief.StaleSummary{{Subject: "summary of server", Why: "limits.go changed"}},
	}, 0).String()
	for _, want := range []string{
		".: Routes orders.\n",
		"test: make test  # Makefile:1",
		"run one test file, for example: go test ./server  # server/limits_test.go\n",
		"lint: make lint  # Makefile:4\n",
		"main parts: server/: Package server serves.\n",
		"start reading at: README.md\n",
		"most used files: server/limits.go (used by 4 files): Limiter limits\n",
		"stale texts: summary of server: limits.go changed\n",
	} {
		if !strings.Contains(got, want) && !strings.Contains(got, strings.Replace(want, ": make", ":\n  make", 1)) {
			t.Errorf("the brief of a repository does not have %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "empty") {
		t.Errorf("the brief names a directory of which nothing is known:\n%s", got)
	}
}

// A command that runs several test files names each of them.
func TestCommandNamesItsTestFiles(t *testing.T) {
	for _, s := range brief.File(limitsFacts(t), 0).Sections {
		if !strings.HasPrefix(s.Subject, "tests") {
			continue
		}
		var got []string
		for _, f := range s.Items[0].Files {
			got = append(got, f.Path)
		}
		if want := []string{"server/limits_test.go", "server/other_test.go"}; !slices.Equal(got, want) {
			t.Errorf("the command %q names %q, want %q", s.Items[0].Command, got, want)
		}
		return
	}
	t.Error("the brief has no section about tests")
}
