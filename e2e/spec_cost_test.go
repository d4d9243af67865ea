package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// A spy is a program in place of git that records the arguments of each call and the output of git log.
type spy struct{ dir string }

func newSpy(t *testing.T) *spy {
	t.Helper()
	s := &spy{t.TempDir()}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >> %[1]s/calls\ncase \" $* \" in\n*' log '*) %[2]s \"$@\" | tee -a %[1]s/walked ;;\n*) exec %[2]s \"$@\" ;;\nesac\n", s.dir, git)
	if err := os.WriteFile(filepath.Join(s.dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

var walkedDate = regexp.MustCompile(`\x00\d{4}-\d\d-\d\dT`)

// list runs ken spec ls, and returns how many git processes it started and how many
// commits they listed.
func (s *spy) list(t *testing.T, r *testrepo.Repo) (calls, walked int) {
	t.Helper()
	for _, name := range []string{"calls", "walked"} {
		os.Remove(filepath.Join(s.dir, name))
	}
	o := ken(t, r, func(c *exec.Cmd) {
		c.Env = append(c.Env, "PATH="+s.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	}, "spec", "ls", "--json")
	if o.status != 0 || strings.Contains(o.stdout, `"drift": null`) {
		t.Fatalf("exit %d\n%s%s", o.status, o.stdout, o.stderr)
	}
	said, _ := os.ReadFile(filepath.Join(s.dir, "calls"))
	text, _ := os.ReadFile(filepath.Join(s.dir, "walked"))
	return bytes.Count(said, []byte("\n")), len(walkedDate.FindAll(text, -1))
}

// A warm overlay starts one git for each worktree that proposes something, and compares no trees.
func TestWarmOverlayComparesNoTrees(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	r.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\n")
	r.Write("a.go", "package a\n")
	r.Commit("first")
	for _, name := range []string{"one", "two"} {
		w := r.Worktree(name)
		w.Write("a.go", "package a // "+name+"\n")
		w.Commit(name)
	}
	s := newSpy(t)
	var answers []string
	for range 3 {
		os.Remove(filepath.Join(s.dir, "calls"))
		o := ken(t, r, func(c *exec.Cmd) {
			c.Env = append(c.Env, "PATH="+s.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		}, "spec", "overlay", "--json")
		answers = append(answers, o.stdout)
	}
	calls, _ := os.ReadFile(filepath.Join(s.dir, "calls"))
	if bytes.Count(calls, []byte("\n")) > 2 || bytes.Contains(calls, []byte("diff")) {
		t.Errorf("a warm overlay of two worktrees started:\n%s", calls)
	}
	if answers[0] != answers[2] || !strings.Contains(answers[2], `"kind": "code"`) {
		t.Errorf("the warm answer is\n%s, the cold one\n%s", answers[2], answers[0])
	}
}

// The number of git processes does not depend on the number of specs: two hundred specs with
// drift take as many as two.
func TestSpecProcessesDoNotGrowWithSpecs(t *testing.T) {
	t.Parallel()
	var calls []int
	for _, n := range []int{2, 200} {
		r := testrepo.New(t)
		for i := range n {
			r.Write(fmt.Sprintf("f%d.go", i), "package f\n")
			r.Write(fmt.Sprintf(".spec/n%d/spec.md", i), fmt.Sprintf("---\ncode: [f%d.go]\n---\n", i))
		}
		r.Commit("first")
		for i := range n {
			r.Write(fmt.Sprintf("f%d.go", i), "package f // moved on\n")
		}
		r.Commit("code")
		c, walked := newSpy(t).list(t, r)
		if walked != 2 {
			t.Errorf("%d commits were walked, of 2", walked)
		}
		calls = append(calls, c)
	}
	if calls[0] != calls[1] || calls[0] > 5 {
		t.Errorf("2 nodes take %d processes, 200 nodes %d", calls[0], calls[1])
	}
}

// After HEAD moves, ken reads only the commits that it has not read before.
func TestSpecReadsOnlyNewCommits(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	r.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\n")
	const n = 30
	commit := func() {
		t.Helper()
		r.Write("a.go", r.Git("rev-list", "--all", "--count")+"\n")
		r.Commit("code")
	}
	for range n {
		commit()
	}
	s := newSpy(t)
	for _, step := range []struct {
		name string
		do   func()
		want int
	}{
		{"everything", func() {}, n},
		{"nothing new", func() {}, 0},
		{"a commit", commit, 1},
		{"three more", func() { commit(); commit(); commit() }, 3},
		{"back", func() { r.Git("reset", "--quiet", "--hard", "HEAD~10") }, 0},
		{"a branch", func() { r.Git("checkout", "--quiet", "-b", "side"); commit(); commit() }, 2},
		{"to main and back", func() { r.Git("checkout", "--quiet", "main"); r.Git("checkout", "--quiet", "side") }, 0},
		{"an amended commit", func() { r.Git("commit", "--quiet", "--amend", "-m", "amended") }, 1},
		{"a merge", func() { r.Git("merge", "--quiet", "-s", "ours", "--no-edit", "HEAD@{1}") }, 1},
		{"a linked worktree's", func() { w := r.Worktree("linked"); w.Write("b.go", "b\n"); w.Commit("b") }, 1},
		{"packed", func() { r.Git("gc", "--quiet") }, 0},
	} {
		step.do()
		if _, walked := s.list(t, r); walked != step.want {
			t.Errorf("%s: %d commits were walked, want %d", step.name, walked, step.want)
		}
	}
}

// ken spec ls changes neither the work tree nor the refs, and gives the same answer without its
// cache.
func TestSpecNeedsNoState(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\n")
	r.Commit("first")
	r.Write("a.go", "package a // 1\n")
	r.Commit("code")
	first := mustKen(t, r, "spec", "ls", "--json")
	if dirt := r.Git("status", "--porcelain", "--ignored"); dirt != "" {
		t.Errorf("ken left %s in the work tree", dirt)
	}
	if refs := r.Git("for-each-ref"); strings.Count(refs, "\n") != 0 {
		t.Errorf("ken created refs:\n%s", refs)
	}
	os.RemoveAll(r.Path(".git/ken"))
	if again := mustKen(t, r, "spec", "ls", "--json"); again != first {
		t.Errorf("without the cache:\n%s\nwith it:\n%s", again, first)
	}
	clone := r.Clone()
	if there := mustKen(t, clone, "spec", "ls", "--json"); there != first {
		t.Errorf("in a clone:\n%s\nhere:\n%s", there, first)
	}
}
