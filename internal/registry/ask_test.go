package registry_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

func (r *fakeRepo) verify(t rapid.TB, opts registry.VerifyOptions) *registry.Report {
	t.Helper()
	r.calls, r.store.scans = calls{}, 0
	rep, err := r.registry().Verify(r.ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func (r *fakeRepo) status(t rapid.TB, opts registry.VerifyOptions) *registry.Report {
	t.Helper()
	r.calls, r.store.scans = calls{}, 0
	before := r.store.commits
	rep, err := r.registry().Status(r.ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	if r.store.commits != before {
		t.Fatal("Status wrote to the store")
	}
	return rep
}

func (r *fakeRepo) writeSummaries(t rapid.TB, updates ...registry.Update) []registry.WriteResult {
	t.Helper()
	written, err := r.registry().Write(r.ctx, updates)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// describe stores a text for the current content of each path.
func (r *fakeRepo) describe(t rapid.TB, paths ...repo.Path) {
	t.Helper()
	for _, p := range paths {
		if got := r.writeSummaries(t, registry.Update{Path: p, Text: "about " + string(p)}); got[0].Result != registry.Stored {
			t.Fatalf("writing a summary of %s returned %s, %s; want it stored", p, got[0].Result, got[0].Reason)
		}
	}
}

func (r *fakeRepo) show(t rapid.TB, p repo.Path) registry.Summary {
	t.Helper()
	known, err := r.registry().Show(r.ctx, []repo.Path{p})
	if err != nil {
		t.Fatal(err)
	}
	return known[0]
}

func (r *fakeRepo) close(t rapid.TB, opts registry.CloseOptions) *registry.CloseResult {
	t.Helper()
	c, err := r.registry().Close(r.ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// verdicts formats each verdict as a line: verdict, summary, path, and anything exceptional.
func verdicts(rep *registry.Report) []string {
	lines := []string{}
	for _, v := range rep.Verdicts {
		line := fmt.Sprintf("%s %s %s", v.Content, v.Summary, v.Path)
		if v.Restored {
			line += " restored"
		}
		if v.PathChanged != "" {
			line += " was " + v.PathChanged
		}
		lines = append(lines, line)
	}
	return lines
}

// entered checks the entry state and its reasons.
func entered(t rapid.TB, rep *registry.Report, state registry.State, reasons ...registry.Reason) {
	t.Helper()
	if rep.State != state || !slices.Equal(rep.Reasons, reasons) {
		t.Errorf("the entry state is %s for the reasons %q; want %s for %q", rep.State, rep.Reasons, state, reasons)
	}
}

func same[T any](t rapid.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b repo.ID) bool { return a == b }), cmp.AllowUnexported(registry.FileState{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func opened(t *testing.T, w *fakeRepo, paths ...repo.Path) {
	t.Helper()
	if !slices.Equal(w.calls.read, paths) {
		t.Errorf("opened %q, want %q", w.calls.read, paths)
	}
}

func verdictOf(t *testing.T, w *fakeRepo, p repo.Path) fresh.State {
	t.Helper()
	return w.show(t, p).Verdict
}
