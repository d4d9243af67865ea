package install

import (
	"slices"
	"strings"
	"testing"
)

func TestHookPlan(t *testing.T) {
	seen := []Hook{
		{Name: "pre-commit", At: sh("#!/usr/bin/perl\n")},
		{Name: "prepare-commit-msg"},
		{Name: "commit-msg", At: HookFile{Kind: Regular, Content: []byte("x\n")}},
	}
	plan := func(d HooksDir, seen []Hook, opts Options) (HookPlan, []FileResult) {
		t.Helper()
		p, err := d.Plan(seen, opts)
		if err != nil {
			t.Fatal(err)
		}
		return p, here.Result(d, p, opts).Hooks
	}
	d := HooksDir{Path: "/home/a/repo/.githooks"}
	put, told := plan(d, seen, Options{})
	if want := []FileResult{
		{Name: "pre-commit", Path: ".githooks/pre-commit", Action: "set aside", Note: "runs as pre-commit" + AsideSuffix},
		{Name: "prepare-commit-msg", Path: ".githooks/prepare-commit-msg", Action: "created"},
		{Name: "commit-msg", Path: ".githooks/commit-msg", Action: "set aside"},
	}; !slices.Equal(told, want) || put.Idle() {
		t.Errorf("Install reports %+v", told)
	}
	var is []Hook
	for _, s := range put {
		is = append(is, apply(s.Seen, s.FileChange))
	}
	if again, told := plan(d, is, Options{}); !again.Idle() {
		t.Errorf("a second Install reports %+v, want kept", told)
	}
	if back, told := plan(d, is, Options{Uninstall: true}); back.Idle() || told[0].Action != "restored" || told[1].Action != "removed" {
		t.Errorf("Uninstall reports %+v", told)
	}
	// Where a shell is handed the files, none has to be executable, or a script.
	elsewhere := HooksDir{Path: "/home/a/hooks", Sourced: true}
	if _, told := plan(elsewhere, seen, Options{}); told[2].Action != "added" || told[2].Path != "/home/a/hooks/commit-msg" {
		t.Errorf("for a sourced directory: %+v", told)
	}
	// An error in one hook stops the plan, and names the hook.
	seen[2].At = HookFile{Kind: OtherKind}
	if p, err := d.Plan(seen, Options{}); err == nil || p != nil || !strings.Contains(err.Error(), d.Path) {
		t.Errorf("a directory in the place of a hook gives %v, %v; want an error", p, err)
	}
}
