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

func (w *fakeRepo) verify(t rapid.TB, opts registry.VerifyOptions) *registry.Report {
	t.Helper()
	w.calls, w.store.scans = calls{}, 0
	rep, err := w.registry().Verify(w.ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func (w *fakeRepo) status(t rapid.TB, opts registry.VerifyOptions) *registry.Report {
	t.Helper()
	w.calls, w.store.scans = calls{}, 0
	before := w.store.commits
	rep, err := w.registry().Status(w.ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	if w.store.commits != before {
		t.Fatal("Status wrote to the store")
	}
	return rep
}

func (w *fakeRepo) writeSummaries(t rapid.TB, updates ...registry.Update) []registry.WriteResult {
	t.Helper()
	written, err := w.registry().Write(w.ctx, updates)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// describe stores a text for the current content of each path.
func (w *fakeRepo) describe(t rapid.TB, paths ...repo.Path) {
	t.Helper()
	for _, p := range paths {
		if got := w.writeSummaries(t, registry.Update{Path: p, Text: "about " + string(p)}); got[0].Result != registry.Stored {
			t.Fatalf("writing a summary of %s returned %s, %s; want it stored", p, got[0].Result, got[0].Reason)
		}
	}
}

func (w *fakeRepo) show(t rapid.TB, p repo.Path) registry.Summary {
	t.Helper()
	known, err := w.registry().Show(w.ctx, []repo.Path{p})
	if err != nil {
		t.Fatal(err)
	}
	return known[0]
}

func (w *fakeRepo) close(t rapid.TB, opts registry.CloseOptions) *registry.CloseResult {
	t.Helper()
	c, err := w.registry().Close(w.ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// verdicts formats each verdict as a line: verdict, summary, path, and anything exceptional.
func verdicts(rep *registry.Report) []string {
	lines := []string{}
	for _, v := range rep.Verdicts {
		line := fmt.Sprintf("%s %s %s", v.Finding, v.Summary, v.Path)
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
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b repo.ID) bool { return a == b }), cmp.AllowUnexported(registry.Verdict{})); diff != "" {
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
