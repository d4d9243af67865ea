package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ken/internal/cli"
	"ken/internal/docs"
	"ken/internal/testrepo"
)

// Whatever changes between two questions, the kept answer is the one that a reader who
// has kept nothing would give; and while nothing does, no git is started.
func TestKeptDocs(t *testing.T) {
	r := testrepo.New(t)
	r.Write("README.md", "Read `api/a.go`, `api/b.go`, `made.txt` and `late.txt`. `RunAll` runs it.\n")
	r.Write("api/a.go", "package api\n\n// RunAll runs.\nfunc RunAll() {}\n")
	r.Write("api/b.go", "package api\n")
	r.Write("api/c.go", "package api // c\n")
	r.Write("late.txt", "x\n")
	r.Commit("first")
	r.Git("rm", "-q", "api/b.go", "late.txt")
	r.Commit("second")
	ask := func() *docs.Report {
		t.Helper()
		w, err := open(t.Context(), openOptions{dir: r.Dir})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		rep, err := w.Docs(t.Context(), cli.DocsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rep.Mentions = slices.DeleteFunc(rep.Mentions, func(m docs.Judged) bool { return m.Verdict == docs.Holds })
		return rep
	}
	memo := r.Path(".git/ken/cache/answers/" + memoDocs)
	steps := []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"a file comes, untracked", func() { r.Write("late.txt", "x\n") }},
		{"it goes", func() { r.Remove("late.txt") }},
		{"a directory of that name comes", func() { r.Write("late.txt/file", "x\n") }}, // its looks need not settle
		{"and goes", func() { r.Remove("late.txt") }},
		{"it is ignored, by a file that is not tracked", func() { r.Write(".gitignore", "late.txt\n") }},
		{"by the clone", func() { r.Remove(".gitignore"); r.Write(".git/info/exclude", "late.txt\n") }},
		{"or not at all", func() { r.Remove(".git/info/exclude") }},
		{"a tracked file goes", func() { r.Remove("api/c.go"); r.Write("README.md", "`api/c.go`\n"); r.Commit("away"); r.Age() }},
		{"the word goes", func() { r.Write("api/a.go", "package api\n") }},
		{"and is committed", func() { r.Commit("third"); r.Age() }},
		{"the document changes", func() { r.Write("README.md", "Read `api/b.go`.\n"); r.Commit("fourth"); r.Age() }},
		{"the policy", func() { r.Write(".ken/config.yaml", "docs: {ok: [api/b.go]}\n") }},
		{"HEAD moves, and nothing else", func() { r.Git("reset", "-q", "--soft", "HEAD~1") }},
	}
	r.Age()
	kept := 0
	for _, s := range steps {
		ask()
		if _, err := os.Stat(memo); err == nil {
			kept++
		}
		s.do()
		got := ask()
		if err := os.RemoveAll(r.Path(".git/ken")); err != nil {
			t.Fatal(err)
		}
		if want := ask(); !same(t, got, want) {
			t.Errorf("%s: kept %+v, want %+v", s.name, got, want)
		}
	}
	if kept < len(steps)/2 {
		t.Errorf("of %d answers %d were kept", len(steps), kept)
	}
	r.Remove(".ken")
	r.Write("README.md", "Read `api/b.go`, and more.\n")
	r.Commit("last")
	r.Age()
	// Git takes two looks within a second for one: have it look anew.
	r.Remove(".git/index")
	r.Git("reset", "-q")
	want := ask()
	if _, err := os.Stat(memo); err != nil {
		t.Fatal("nothing was kept", err)
	}
	t.Setenv("PATH", filepath.Join(r.Dir, "nowhere"))
	if got := ask(); !same(t, got, want) {
		t.Errorf("without git: %+v, want %+v", got, want)
	}
}

func same(t *testing.T, a, b *docs.Report) bool {
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
