package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ken/internal/testrepo"
)

// keptListings lists the cache files with listings of specs.
func keptListings(t *testing.T, r *testrepo.Repo) []string {
	t.Helper()
	common := r.Git("rev-parse", "--path-format=absolute", "--git-common-dir")
	files, err := filepath.Glob(filepath.Join(common, "ken/cache/digests/spec-listing-*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Without changes, ken spec ls answers from its cache and starts no git process. A change in this
// worktree or in another changes the answer at once.
func TestSpecCache(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\n")
	r.Commit("first")
	linked := r.Worktree("linked")

	list := func() string { return mustKen(t, r, "spec", "ls", "--json") }
	cold := func() string {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(r.Dir, ".git/ken/cache")); err != nil {
			t.Fatal(err)
		}
		return list()
	}
	// ken caches an answer only if the files have not changed for a few clock ticks.
	settle := func() {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); ; {
			list()
			if len(keptListings(t, r)) > 0 {
				return
			}
			if time.Now().After(end) {
				t.Fatal("the answer was never cached")
			}
		}
	}
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"a spec is edited", func() { r.Write(".spec/a/spec.md", "---\ncode: [b.go]\n---\n") }},
		{"it is committed", func() { r.Commit("edit") }},
		{"a node is added elsewhere", func() { linked.Write(".spec/b/spec.md", "---\n---\n") }},
		{"it is taken away", func() { os.RemoveAll(linked.Path(".spec/b")) }},
		{"a branch is made main", func() { r.Write(".ken/config.yaml", "spec: {main: linked}\n") }},
		{"a worktree goes", func() { os.RemoveAll(linked.Dir) }},
	} {
		settle()
		change.do()
		if warm, want := list(), cold(); warm != want {
			t.Errorf("%s: warm answer\n%s\ncold answer\n%s", change.name, warm, want)
		}
	}
	settle()
	trace := filepath.Join(t.TempDir(), "trace")
	ken(t, r, func(c *exec.Cmd) {
		c.Path, c.Args = "/usr/bin/strace", append([]string{"strace", "-f", "-e", "trace=execve", "-o", trace}, c.Args...)
	}, "spec", "ls")
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "execve("); n != 1 {
		t.Errorf("a warm read starts %d programs:\n%s", n-1, text)
	}
	// ken ignores a damaged cache file.
	for _, junk := range []string{"", "\n", "{}\n{}", "{\"key\":\"\"}\n{\"nodes\":null}"} {
		for _, memo := range keptListings(t, r) {
			if err := os.WriteFile(memo, []byte(junk), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if list() != cold() {
			t.Errorf("ken used the damaged cache file %q", junk)
		}
	}
}
