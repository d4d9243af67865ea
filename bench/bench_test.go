package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A repository that an earlier run left is the one that this run would make, and what the rows are about is in it.
func TestGenerate(t *testing.T) {
	for name, c := range map[string]struct {
		plan plan
		head string
	}{
		"files":     {plan{files: 200, commits: 1}, "44e915fed8d522877ed49fe6603101d096596952"},
		"specs":     {plan{files: 200, commits: 2500, specs: 9}, "2e35323aa5558661dc66d44ff66c126acad2ab84"},
		"documents": {plan{files: 200, commits: 30, pages: 20}, "ed8ddf911868eefdcb69d1342da593273227a1eb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bench{env: environment(t.TempDir())}
			b.dir = t.TempDir()
			s, err := b.repository(t.Context(), c.plan)
			if err != nil {
				t.Fatal(err)
			}
			ask := func(args ...string) string {
				r, err := s.git(args...).run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return strings.TrimSpace(string(r.stdout))
			}
			if got := ask("rev-parse", "HEAD"); got != c.head {
				t.Errorf("commit %s, want %s; a new kind of repository wants a new recipe", got, c.head)
			}
			status := ask("status", "--porcelain=v2", "--branch")
			if strings.Count(status, "\n") != 3 || !strings.Contains(status, "branch.ab +0 -0") {
				t.Errorf("want clean and level with its upstream: %s", status)
			}
			if n := strings.Count(ask("ls-files", "--", ":!docs", ":!.spec"), "\n") + 1; n != c.plan.files {
				t.Errorf("%d files, want %d", n, c.plan.files)
			}
			if n := strings.Count(ask("ls-files", "--", ".spec"), "spec.md"); n != c.plan.specs {
				t.Errorf("%d specs, want %d", n, c.plan.specs)
			}
			n, err := strconv.Atoi(ask("rev-list", "--count", "HEAD"))
			if err != nil || n < c.plan.commits || n > c.plan.commits+3 {
				t.Errorf("%d commits, want about %d: %v", n, c.plan.commits, err)
			}
			if c.plan.specs == 0 {
				return
			}
			for what, args := range map[string][]string{
				"merges":         {"rev-list", "--merges", "HEAD"},
				"acks":           {"log", "--format=%H", "--grep=^Spec-OK:"},
				"edits of specs": {"log", "--format=%H", "--diff-filter=M", "--", ".spec"},
				"moved specs":    {"log", "--format=%H", "--diff-filter=R", "-M", "--", ".spec"},
				"governed files": {"ls-files", "--", s.plan.governed(8)[3]},
			} {
				if ask(args...) == "" {
					t.Errorf("no %s", what)
				}
			}
		})
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
