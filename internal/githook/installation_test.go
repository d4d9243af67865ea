package githook

import (
	"slices"
	"strings"
	"testing"
)

func TestPlan(t *testing.T) {
	seen := []Place{
		{Name: "pre-commit", At: sh("#!/usr/bin/perl\n")},
		{Name: "prepare-commit-msg"},
		{Name: "commit-msg", At: File{Kind: Regular, Content: []byte("x\n")}},
	}
	plan := func(d Dir, seen []Place, opts Options) (Plan, []Outcome) {
		t.Helper()
		p, err := d.Plan(seen, opts)
		if err != nil {
			t.Fatal(err)
		}
		return p, here.Installation(d, p, opts).Hooks
	}
	d := Dir{Path: "/home/a/repo/.githooks"}
	put, told := plan(d, seen, Options{})
	if want := []Outcome{
		{Name: "pre-commit", Path: ".githooks/pre-commit", Action: "set aside", Note: "runs as pre-commit" + Aside},
		{Name: "prepare-commit-msg", Path: ".githooks/prepare-commit-msg", Action: "created"},
		{Name: "commit-msg", Path: ".githooks/commit-msg", Action: "set aside"},
	}; !slices.Equal(told, want) || put.Idle() {
		t.Errorf("installed: %+v", told)
	}
	var is []Place
	for _, s := range put {
		is = append(is, do(s.Seen, s.Change))
	}
	if again, told := plan(d, is, Options{}); !again.Idle() {
		t.Errorf("installed twice: %+v", told)
	}
	if back, told := plan(d, is, Options{Uninstall: true}); back.Idle() || told[0].Action != "restored" || told[1].Action != "removed" {
		t.Errorf("taken out: %+v", told)
	}
	// Where a shell is handed the files, none has to be executable, or a script.
	elsewhere := Dir{Path: "/home/a/hooks", Sourced: true}
	if _, told := plan(elsewhere, seen, Options{}); told[2].Action != "added" || told[2].Path != "/home/a/hooks/commit-msg" {
		t.Errorf("sourced: %+v", told)
	}
	// What is refused of one is refused of all, and says where.
	seen[2].At = File{Kind: Strange}
	if p, err := d.Plan(seen, Options{}); err == nil || p != nil || !strings.Contains(err.Error(), d.Path) {
		t.Errorf("a directory for a hook: %v, %v", p, err)
	}
}
