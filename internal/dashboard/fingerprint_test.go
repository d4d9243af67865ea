package dashboard

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ken/internal/board"
	"ken/internal/surveyrun"
	"ken/internal/testrepo"
	"ken/internal/web"
)

// newRepo returns a repository with a spec.
func newRepo(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	r.Write("api.go", "package api\n")
	r.Write(".spec/api/spec.md", "---\ntitle: The API\ncode:\n  - api.go\n---\nIt answers.\n")
	r.Commit("begin")
	return r
}

// The fingerprint changes when anything that a board depends on changes.
func TestFingerprintCoversBoard(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	r := newRepo(t)
	r.Write(".ken/state/workflow.json", "{}")
	r.Write(".ken/state/.archive/one/manifest.json", "{}")
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var runs *board.Part[board.Runs]
	p := NewFingerprinter(FingerprintOptions{
		Root:     r.Dir,
		StateDir: t.TempDir(),
		Runs:     func(context.Context) *board.Part[board.Runs] { return runs },
		Now:      func() time.Time { return clock },
	})
	take := func() web.Fingerprint {
		t.Helper()
		got, err := p.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	var spool string
	for _, name := range p.databases(r.Path(".git")) {
		if filepath.Dir(name) != r.Path(".git/ken") {
			spool = name
		}
	}
	if spool == "" {
		t.Fatal("databases lists no spool")
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	head := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	for _, c := range []struct {
		what string
		do   func()
	}{
		{"an edit", func() { r.Write("api.go", "package api // edited\n") }},
		{"an edit of the same length", func() { r.Write("api.go", "package api // EDITED\n") }},
		{"a new file", func() { r.Write("new.go", "package api\n"); r.Git("add", "new.go") }},
		{"an edit of that", func() { r.Write("new.go", "package api // edited\n") }},
		{"a mode", func() { r.Chmod("api.go", 0o755) }},
		{"a file that is gone", func() { r.Remove("api.go") }},
		{"a commit", func() { r.Git("commit", "-q", "--allow-empty", "-m", "more") }},
		{"a branch", func() { r.Git("branch", "side") }},
		{"refs that are packed", func() { r.Git("pack-refs", "--all") }},
		{"a ref that is packed", func() { write(r.Path(".git/packed-refs"), r.Read(".git/packed-refs")+head+" refs/heads/zz\n") }},
		{"the attributes of this clone", func() { r.Write(".git/info/attributes", "*.go text\n") }},
		{"what this clone excludes", func() { r.Write(".git/info/exclude", "*.tmp\n") }},
		{"where the history ends", func() { r.Write(".git/shallow", head+"\n") }},
		{"another branch that is checked out", func() { r.Git("symbolic-ref", "HEAD", "refs/heads/side") }},
		{"the index", func() { r.Git("rm", "-q", "--cached", "api.go") }},
		{"a spec", func() { r.Write(".spec/api/spec.md", "---\ntitle: Other\n---\n") }},
		{"a new spec", func() { r.Write(".spec/api/new/spec.md", "---\ntitle: New\n---\n") }},
		{"the configuration", func() { r.Write(".ken/config.yaml", "# none\n") }},
		{"the contract", func() { r.Write(".ken/contract.yaml", "# none\n") }},
		{"the workflow", func() { r.Write(".ken/state/workflow.json", `{"phase":"x"}`) }},
		{"a snapshot", func() { r.Write(".ken/state/.archive/two/manifest.json", "{}") }},
		{"what is in a snapshot", func() { r.Write(".ken/state/.archive/one/more", "x") }},
		{"the database", func() { write(r.Path(".git/ken/ken.db"), "not yet") }},
		{"its log", func() { write(r.Path(".git/ken/ken.db-wal"), "x") }},
		{"the spool", func() { write(spool, "not yet") }},
		{"the spool's log", func() { write(spool+"-wal", "x") }},
		{"git's settings", func() { r.Git("config", "core.attributesFile", "x") }},
		{"a worktree", func() { r.Git("worktree", "add", "-q", "--detach", r.Path("../other"), "main") }},
		{"a run that was handed out", func() {
			runs = board.RunsPart(&board.Runs{Runs: []surveyrun.Run{{ID: 1}}}, nil)
		}},
		{"age", func() { clock = clock.Add(24 * time.Hour) }},
	} {
		before := take()
		if again := take(); again != before {
			t.Fatalf("before %s: two fingerprints of the same state differ", c.what)
		}
		c.do()
		if take() == before {
			t.Errorf("the fingerprint did not change after: %s", c.what)
		}
	}
}
