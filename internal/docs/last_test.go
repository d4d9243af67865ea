package docs

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ken/internal/testrepo"
	"ken/internal/workspace"
)

// checker opens the documents of a directory again, as each command does.
func checker(t *testing.T, dir string) *Checker {
	t.Helper()
	ws, err := workspace.Open(t.Context(), workspace.Options{Dir: dir, Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return &Checker{Workspace: ws}
}

// reportOf returns a report without the mentions that hold, which are not cached.
func reportOf(t *testing.T, c *Checker) *Report {
	t.Helper()
	rep, err := c.Check(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	rep.Mentions = slices.DeleteFunc(rep.Mentions, func(m CheckedMention) bool { return m.Verdict == Holds })
	return rep
}

// cachedReports returns the number of records in the cache of a clone.
func cachedReports(t *testing.T, dir string) int {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, ".git/ken/cache/digests/docs-record-*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// After any change of the repository, the cached report equals one that is made without a cache. While nothing
// changes, no git process is started.
func TestCachedReport(t *testing.T) {
	r := testrepo.New(t)
	r.Write("README.md", "Read `api/a.go`, `api/b.go`, `made.txt` and `late.txt`. `RunAll` runs it.\n")
	r.Write("api/a.go", "package api\n\n// RunAll runs.\nfunc RunAll() {}\n")
	r.Write("api/b.go", "package api\n")
	r.Write("api/c.go", "package api // c\n")
	r.Write("late.txt", "x\n")
	r.Commit("first")
	r.Git("rm", "-q", "api/b.go", "late.txt")
	r.Commit("second")
	var policy Policy
	ask := func() *Report {
		t.Helper()
		c := checker(t, r.Dir)
		c.Policy = policy
		return reportOf(t, c)
	}
	steps := []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"a file comes, untracked", func() { r.Write("late.txt", "x\n") }},
		{"it goes", func() { r.Remove("late.txt") }},
		{"a directory of that name comes", func() { r.Write("late.txt/file", "x\n") }}, // a directory has no stat that must settle
		{"and goes", func() { r.Remove("late.txt") }},
		{"it is ignored, by a file that is not tracked", func() { r.Write(".gitignore", "late.txt\n") }},
		{"by the clone", func() { r.Remove(".gitignore"); r.Write(".git/info/exclude", "late.txt\n") }},
		{"or not at all", func() { r.Remove(".git/info/exclude") }},
		{"a tracked file goes", func() { r.Remove("api/c.go"); r.Write("README.md", "`api/c.go`\n"); r.Commit("away"); r.Age() }},
		{"the word goes", func() { r.Write("api/a.go", "package api\n") }},
		{"and is committed", func() { r.Commit("third"); r.Age() }},
		{"the document changes", func() { r.Write("README.md", "Read `api/b.go`.\n"); r.Commit("fourth"); r.Age() }},
		{"the policy", func() { policy.OK = []Accepted{{Mention: "api/b.go"}} }},
		{"a document is edited", func() {
			r.Write("README.md", "# Title\n\nRead `api/b.go`, `Nothing`, `api/a.go` and [it](docs/page.md#first).\n")
			r.Write("docs/page.md", "# First\n\n[top](../README.md#title) `api/b.go` `RunAll` `x.c`\n")
			r.Commit("fifth")
			r.Age()
			ask()
			r.Write("README.md", "# Title\n\nSome more words.\n\nRead `api/b.go`, `Nothing`, `api/a.go` and [it](docs/page.md#first).\n")
		}},
		{"its mentions change", func() { r.Write("README.md", "# Title\n\n`api/c.go`, `api/a.go`, `RunAll` and `StopAll`.\n") }},
		{"another one loses a heading", func() { r.Write("docs/page.md", "# Second\n\n[top](../README.md#title) `api/b.go` was removed.\n") }},
		{"a document goes", func() { r.Remove("docs/page.md") }},
		{"HEAD moves, and nothing else", func() { r.Git("reset", "-q", "--soft", "HEAD~1") }},
	}
	r.Age()
	cached := 0
	for _, s := range steps {
		ask()
		if cachedReports(t, r.Dir) > 0 {
			cached++
		}
		s.do()
		got := ask()
		if err := os.RemoveAll(r.Path(".git/ken")); err != nil {
			t.Fatal(err)
		}
		if want := ask(); !sameReport(t, got, want) {
			t.Errorf("%s: the cached report is %+v, want %+v", s.name, got, want)
		}
	}
	if cached < len(steps)/3 {
		t.Errorf("%d of %d reports were cached; want at least a third", cached, len(steps))
	}
	r.Write("README.md", "Read `api/b.go`, and more.\n")
	r.Commit("last")
	r.Age()
	// Git treats two stats within a second as one. Make it read the file again.
	r.Remove(".git/index")
	r.Git("reset", "-q")
	want := ask()
	if cachedReports(t, r.Dir) == 0 {
		t.Fatal("no report was cached")
	}
	t.Setenv("PATH", filepath.Join(r.Dir, "nowhere"))
	if got := ask(); !sameReport(t, got, want) {
		t.Errorf("without git: %+v, want %+v", got, want)
	}
	r.Write("README.md", "One more line.\n\nRead `api/b.go`, and more.\n")
	if got := ask(); len(got.Mentions) != len(want.Mentions) {
		t.Errorf("without git, after an edit: %+v, want the same mentions as %+v", got, want)
	}
}

func sameReport(t *testing.T, a, b *Report) bool {
	t.Helper()
	one, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	two, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(one) == string(two)
}

// A report with an unknown part is cached if git lacks an object, and no longer used once git has it.
func TestCachedReportOfPartialClone(t *testing.T) {
	origin := testrepo.New(t)
	origin.Git("config", "uploadpack.allowFilter", "true")
	origin.Write("README.md", "Read `api/b.go`.\n")
	origin.Write("api/b.go", "package api\n")
	origin.Commit("first")
	origin.Write("README.md", "Read `api/b.go`, please.\n")
	origin.Git("rm", "-q", "api/b.go")
	origin.Commit("second")
	dir := filepath.Join(t.TempDir(), "clone")
	origin.Git("clone", "-q", "--filter=blob:none", "file://"+origin.Dir, dir)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "README.md"), old, old); err != nil {
		t.Fatal(err)
	}
	origin.Git("-C", dir, "update-index", "-q", "--refresh")
	later := func() time.Time { return time.Now().Add(time.Minute) }
	ask := func() *Report {
		c := checker(t, dir)
		c.Now = later
		return reportOf(t, c)
	}
	lacking := ask()
	if len(lacking.Mentions) != 1 || lacking.Mentions[0].Verdict != Unknown {
		t.Fatalf("without the old document: %+v; want one unknown mention", lacking.Mentions)
	}
	if n := cachedReports(t, dir); n != 1 {
		t.Fatalf("%d reports were cached; want the one that lacks an object", n)
	}
	if again := ask(); !sameReport(t, again, lacking) {
		t.Errorf("the cached report is %+v, want %+v", again, lacking)
	}
	origin.Git("-C", dir, "cat-file", "-p", "HEAD~1:README.md") // fetches it
	if whole := ask(); len(whole.Mentions) != 1 || whole.Mentions[0].Verdict != Gone {
		t.Errorf("with the old document: %+v; want one mention that is gone", whole.Mentions)
	}
}

// A link at the path of a makefile is no reason to check all documents each time.
func TestCachedReportWithLinkedMakefile(t *testing.T) {
	r := testrepo.New(t)
	r.Write("README.md", "Run `make test`.\n")
	r.Write("build/root.mk", "test:\n")
	r.Symlink("build/root.mk", "Makefile")
	r.Commit("first")
	c := checker(t, r.Dir)
	c.Now = func() time.Time { return time.Now().Add(time.Minute) }
	reportOf(t, c)
	if n := cachedReports(t, r.Dir); n != 1 {
		t.Errorf("%d reports were cached, want 1", n)
	}
}

// If git lacks contents that show where a file moved, the report is cached until git gets an object.
func TestCachedReportWhereMovesAreUnknown(t *testing.T) {
	origin := testrepo.New(t)
	origin.Git("config", "uploadpack.allowFilter", "true")
	origin.Write("README.md", "Read `api/b.go`.\n")
	text := "package api\n\n" + strings.Repeat("// a line that stays\n", 20)
	origin.Write("api/b.go", text)
	origin.Commit("first")
	origin.Git("mv", "api/b.go", "api/c.go")
	origin.Write("api/c.go", text+"\nvar C int\n")
	origin.Commit("second")
	dir := filepath.Join(t.TempDir(), "clone")
	origin.Git("clone", "-q", "--filter=blob:none", "file://"+origin.Dir, dir)
	ask := func() *Report {
		c := checker(t, dir)
		c.Now = func() time.Time { return time.Now().Add(time.Minute) }
		return reportOf(t, c)
	}
	lacking := ask()
	if len(lacking.Mentions) != 1 || lacking.Mentions[0].Verdict == Moved {
		t.Fatalf("without the old file: %+v; want one mention that is not known to have moved", lacking.Mentions)
	}
	if n := cachedReports(t, dir); n != 1 {
		t.Fatalf("%d reports were cached, want 1", n)
	}
	if again := ask(); !sameReport(t, again, lacking) {
		t.Errorf("the cached report is %+v, want %+v", again, lacking)
	}
	origin.Git("-C", dir, "cat-file", "-p", "HEAD~1:api/b.go") // fetches it
	if whole := ask(); len(whole.Mentions) != 1 || whole.Mentions[0].Verdict != Moved {
		t.Errorf("with the old file: %+v; want one mention that moved", whole.Mentions)
	}
}

// After any sequence of edits, moves and commits, a check that takes over the last one equals one without it.
func TestCheckAfterCheck(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { liveDocuments(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func liveDocuments(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	const steps = 25
	r := testrepo.New(t)
	code := []string{"api/a.go", "api/b.go", "lib/util.py", "Makefile"}
	pages := []string{"README.md", "docs/guide.md", "CLAUDE.md"}
	pick := func(list []string) string { return list[rnd.IntN(len(list))] }
	names := []string{"RunAll", "StopAll", "Server.Close", "util.load_all", "MAX_RETRIES", "SERVER_URL"}
	codeText := func(p string) string {
		if p == "Makefile" {
			return pick([]string{"test:\n\ttrue\n", "check:\n\ttrue\n", "test check:\n\ttrue\n"})
		}
		if strings.HasSuffix(p, ".py") {
			return pick([]string{"def load_all():\n    pass\n", "MAX_RETRIES = 3\n", "# load_all is gone\nurl = env('SERVER_URL')\n"})
		}
		return "package api\n\n" + pick([]string{"func RunAll() {}\n", "func StopAll() { RunAll() }\n", "type Server struct{}\n\nfunc (s *Server) Close() {}\n", "// StopAll\n"})
	}
	pageText := func() string {
		text := "# First\n\n"
		for range 1 + rnd.IntN(5) {
			text += pick([]string{
				"Read `" + pick(code) + "`.", "Call `" + pick(names) + "`.", "Set " + pick(names) + " and `--dry-run`.", "Run `make test` or `make check`.",
				"See [it](" + pick([]string{"guide.md#first", "docs/guide.md#second", "../README.md#first"}) + ").", "Look at `made.txt`.",
				"```go\nRunAll()\n```",
			}) + "\n\n"
		}
		return text
	}
	for _, p := range code {
		r.Write(p, codeText(p))
	}
	for _, p := range pages {
		r.Write(p, pageText())
	}
	r.Commit("first")
	for step := range steps {
		what := ""
		switch p := pick(code); rnd.IntN(9) {
		case 0, 1:
			what = "edit " + p
			r.Write(p, codeText(p))
		case 2:
			what = "remove " + p
			if _, err := os.Stat(r.Path(p)); err == nil {
				r.Remove(p)
			}
		case 3, 4:
			p = pick(pages)
			what = "edit " + p
			r.Write(p, pageText())
		case 5:
			what = "a file that is not tracked comes or goes"
			if _, err := os.Stat(r.Path("made.txt")); err == nil {
				r.Remove("made.txt")
			} else {
				r.Write("made.txt", "x\n")
			}
		case 6:
			what = "stage"
			r.Git("add", "-u")
		default:
			what = "commit"
			r.Git("add", "-A", "--", ":!made.txt")
			r.Git("commit", "-q", "--allow-empty", "-m", fmt.Sprint(step))
		}
		got := reportOf(t, checker(t, r.Dir))
		kept := t.TempDir()
		if err := os.Rename(r.Path(".git/ken"), filepath.Join(kept, "ken")); err != nil {
			t.Fatal(err)
		}
		want := reportOf(t, checker(t, r.Dir))
		if err := os.RemoveAll(r.Path(".git/ken")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(kept, "ken"), r.Path(".git/ken")); err != nil {
			t.Fatal(err)
		}
		if one, two := lines(t, got), lines(t, want); one != two {
			t.Fatalf("step %d, %s: after the last check\n%s\nwithout it\n%s", step, what, one, two)
		}
	}
}

// lines lists the mentions of a report, its documents and what is unknown.
func lines(t *testing.T, rep *Report) string {
	t.Helper()
	var b strings.Builder
	for _, m := range rep.Mentions {
		text, err := json.Marshal(m.JSON())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	fmt.Fprintf(&b, "%v %v %q", rep.Documents, rep.Unread, rep.Gap)
	return b.String()
}
