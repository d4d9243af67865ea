package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A repository that an earlier run left is the one that this run would make.
func TestGenerate(t *testing.T) {
	env := environment(t.TempDir())
	dir, err := repository(t.Context(), t.TempDir(), env, 200)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	if got, want := ask("rev-parse", "HEAD^{tree}"), "c7485a06af4669902c3d03b1a3f27330ade57909"; got != want {
		t.Errorf("tree %s, want %s; a new kind of repository wants a new recipe", got, want)
	}
	if n := strings.Count(ask("ls-files"), "\n") + 1; n != 200 {
		t.Errorf("%d files, want 200", n)
	}
	if got := ask("status", "--porcelain=v2", "--branch"); strings.Count(got, "\n") != 3 || !strings.Contains(got, "branch.ab +0 -0") {
		t.Errorf("want clean and level with its upstream: %s", got)
	}
}

// So is a history with specs, and what the rows are about is in it.
func TestGenerateSpecs(t *testing.T) {
	env := environment(t.TempDir())
	dir, err := specRepository(t.Context(), t.TempDir(), env, specPlan{commits: 300, nodes: 20, files: 3})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(args ...string) string {
		out, err := gitAnswer(t.Context(), dir, env, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got, want := ask("rev-parse", "HEAD"), "08cccb1f32cf5155b93d6da9f73405dda39a36c8"; got != want {
		t.Errorf("commit %s, want %s; a new kind of history wants a new recipe", got, want)
	}
	if n, err := strconv.Atoi(ask("rev-list", "--count", "HEAD")); err != nil || n < 300 || n > 306 {
		t.Errorf("%d commits, want about 300: %v", n, err)
	}
	for what, args := range map[string][]string{
		"merges":        {"rev-list", "--merges", "HEAD"},
		"acks":          {"log", "--format=%H", "--grep=^Spec-OK:"},
		"edits of code": {"rev-list", "HEAD", "--", "src"},
		"edits of spec": {"rev-list", "HEAD^", "--", ".spec"},
	} {
		if ask(args...) == "" {
			t.Errorf("no %s", what)
		}
	}
	if got := ask("status", "--porcelain"); got != "" {
		t.Errorf("want it clean: %s", got)
	}
}

// So is a repository of code.
func TestGenerateCode(t *testing.T) {
	env := environment(t.TempDir())
	dir, err := surveyRepository(t.Context(), t.TempDir(), env, surveyPlan{directories: 24, files: 10})
	if err != nil {
		t.Fatal(err)
	}
	got, err := gitAnswer(t.Context(), dir, env, "rev-parse", "HEAD^{tree}")
	if want := "3cff1eef5b84ac8bb24d505dce3b966abe49166d"; err != nil || got != want {
		t.Errorf("tree %s, %v, want %s; a new kind of repository wants a new recipe", got, err, want)
	}
}

// A refresh touches the directory of the file, and those above without a gap.
func TestMustTouchOnly(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		ok     bool
	}{
		"its directory":     {`{"done":["a/b"]}`, true},
		"and those above":   {`{"done":["a/b","a","."]}`, true},
		"nothing":           {`{"done":[]}`, false},
		"another":           {`{"done":["a/b","a/c"]}`, false},
		"one that is above": {`{"done":["a"]}`, false},
	} {
		if err := mustTouchOnly("a/b/f.go", []byte(c.answer)); (err == nil) != c.ok {
			t.Errorf("%s: mustTouchOnly returned %v; ok should be %t", name, err, c.ok)
		}
	}
}

func TestMissed(t *testing.T) {
	for name, c := range map[string]struct {
		row  row
		want bool
	}{
		"ratio kept":    {row{ken: 5 * time.Millisecond, other: 10 * time.Millisecond, atMost: 0.5}, false},
		"ratio missed":  {row{ken: 6 * time.Millisecond, other: 10 * time.Millisecond, atMost: 0.5}, true},
		"none promised": {row{ken: 60 * time.Millisecond, other: 10 * time.Millisecond}, false},
		"budget kept":   {row{ken: 99 * time.Millisecond, budget: 100 * time.Millisecond}, false},
		"budget missed": {row{ken: 101 * time.Millisecond, budget: 100 * time.Millisecond}, true},
		"memory kept":   {row{memory: 149, memoryBudget: 150}, false},
		"memory missed": {row{memory: 151, memoryBudget: 150}, true},
		"count kept":    {row{counted: true}, false},
		"count missed":  {row{counted: true, count: 1}, true},
	} {
		if got := c.row.missed(); got != c.want {
			t.Errorf("%s: missed = %v", name, got)
		}
	}
}

func TestUpdatePageReplacesTheTable(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n"+tableBegins+"old table\n"+tableEnds+"after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := updatePage(page, []row{{work: "status"}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	if !strings.HasPrefix(text, "before\n"+tableBegins) || !strings.HasSuffix(text, tableEnds+"after\n") {
		t.Errorf("the page around the table changed:\n%s", text)
	}
	if strings.Contains(text, "old table") || strings.Count(text, "| status") != 1 {
		t.Errorf("the page should hold the new table once:\n%s", text)
	}
	if err := os.WriteFile(page, []byte("no marks\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := updatePage(page, nil); err == nil {
		t.Error("a page without the comments was changed, want an error")
	}
}
