package registry_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
)

func id(t *testing.T, digit string) repo.ID {
	t.Helper()
	s := ""
	for range 40 {
		s += digit
	}
	id, err := repo.ParseID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestEnter(t *testing.T) {
	head, other, tree, otherTree := id(t, "a"), id(t, "b"), id(t, "c"), id(t, "d")
	// The facts if nothing happened since the last session.
	still := registry.EntryFacts{
		Tracked: 3, Rows: true, Verified: true, Head: head, Tree: tree, Policy: "p",
		Baseline: store.Verification{Head: head, Tree: tree, Clean: true, Policy: "p"},
	}
	for _, c := range []struct {
		name    string
		change  func(*registry.EntryFacts)
		state   registry.State
		reasons []registry.Reason
	}{
		{"nothing happened", func(*registry.EntryFacts) {}, registry.StateTrust, nil},
		{"nothing is tracked", func(s *registry.EntryFacts) { s.Tracked = 0 }, registry.StateNew, nil},
		{"nothing is tracked any more", func(s *registry.EntryFacts) { *s = registry.EntryFacts{Rows: true, Verified: true} }, registry.StateNew, nil},
		{"no rows", func(s *registry.EntryFacts) { s.Rows = false }, registry.StateBootstrap, nil},
		{"single rows only", func(s *registry.EntryFacts) {
			s.Verified, s.Baseline = false, store.Verification{}
		}, registry.StateVerify, []registry.Reason{"no_baseline"}},
		{"a commit", func(s *registry.EntryFacts) { s.Head, s.Tree = other, otherTree }, registry.StateVerify, []registry.Reason{"head_moved"}},
		{"an amend that keeps the tree", func(s *registry.EntryFacts) { s.Head = other }, registry.StateTrust, nil},
		{"an amend that keeps the tree, and the old commit is gone", func(s *registry.EntryFacts) {
			s.Head, s.BaselineLost = other, true
		}, registry.StateTrust, nil},
		{"history rewritten", func(s *registry.EntryFacts) {
			s.Head, s.Tree, s.BaselineLost = other, otherTree, true
		}, registry.StateVerify, []registry.Reason{"head_moved", "baseline_lost"}},
		{"an edit", func(s *registry.EntryFacts) { s.Dirty = true }, registry.StateVerify, []registry.Reason{"dirty"}},
		{"verified while dirty, clean since", func(s *registry.EntryFacts) { s.Baseline.Clean = false }, registry.StateVerify, []registry.Reason{"baseline_dirty"}},
		{"dirty as before", func(s *registry.EntryFacts) {
			s.Baseline.Clean, s.Dirty = false, true
		}, registry.StateVerify, []registry.Reason{"dirty"}},
		{"fetched, not pulled", func(s *registry.EntryFacts) { s.Behind = 1 }, registry.StateVerify, []registry.Reason{"behind"}},
		{"flags", func(s *registry.EntryFacts) { s.Flagged = true }, registry.StateVerify, []registry.Reason{"flags"}},
		{"another policy", func(s *registry.EntryFacts) { s.Policy = "q" }, registry.StateVerify, []registry.Reason{"policy_changed"}},
		{"in a merge", func(s *registry.EntryFacts) {
			s.Dirty, s.Conflicted = true, true
		}, registry.StateVerify, []registry.Reason{"dirty", "conflicted"}},
		{"unborn, verified so", func(s *registry.EntryFacts) {
			s.Head, s.Tree, s.Baseline.Head, s.Baseline.Tree = repo.ID{}, repo.ID{}, repo.ID{}, repo.ID{}
			s.Dirty, s.Baseline.Clean = true, false
		}, registry.StateVerify, []registry.Reason{"dirty"}},
		{"first commit after an unborn verification", func(s *registry.EntryFacts) {
			s.Baseline.Head, s.Baseline.Tree, s.Baseline.Clean = repo.ID{}, repo.ID{}, false
		}, registry.StateVerify, []registry.Reason{"head_moved", "baseline_dirty"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := still
			c.change(&s)
			state, reasons := registry.EntryState(s)
			if state != c.state {
				t.Errorf("state %s, want %s", state, c.state)
			}
			if diff := cmp.Diff(c.reasons, reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}
