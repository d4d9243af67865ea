package registry_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
)

func baseline(t *testing.T, w *fakeRepo) store.Verification {
	t.Helper()
	b, ok, err := w.store.LastVerification(w.ctx, "")
	if err != nil || !ok {
		t.Fatalf("no baseline: %v", err)
	}
	return b
}

// A verification that is overtaken by another one stores no baseline about rows that it has not seen.
func TestOvertakenVerificationIsNotTrusted(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	w.put("a.go", "other")
	w.commit()
	w.store.beforeCommit = func() { // another verification, with a short-lived content of b.go
		w.write("b.go", "news")
		if _, err := w.registry().Verify(w.ctx, registry.VerifyOptions{}); err != nil {
			t.Error(err)
		}
		w.checkout(w.head)
	}
	w.verify(t, registry.VerifyOptions{})
	if b := baseline(t, w); b.Clean || !b.Index.IsZero() {
		t.Errorf("the baseline is %+v", b)
	}
	rep := w.status(t, registry.VerifyOptions{})
	entered(t, rep, registry.StateVerify, registry.ReasonBaselineDirty)
	same(t, "verdicts", verdicts(rep), []string{"mismatch none b.go"})
}

// A run whose rows another verification changes compares them with the work tree that it read itself. So it shows the
// contents of its own files, even if nothing had changed since the last verification.
func TestRowsOfAnotherRunAreCompared(t *testing.T) {
	change := map[string]func(w *fakeRepo){
		"edited": func(w *fakeRepo) { w.write("b.go", "news") },
		"staged": func(w *fakeRepo) { w.put("b.go", "news") },
	}
	before := map[string]func(w *fakeRepo){
		"clean": func(*fakeRepo) {},
		"dirty": func(w *fakeRepo) { w.write("a.go", "other") },
	}
	for how, edit := range change {
		for entry, prepare := range before {
			for _, all := range []bool{true, false} {
				t.Run(fmt.Sprint(entry, ", ", how, " for a while, all ", all), func(t *testing.T) {
					for name, run := range map[string]func(*registry.Registry, context.Context, registry.VerifyOptions) (*registry.Report, error){
						"Status": (*registry.Registry).Status, "Verify": (*registry.Registry).Verify,
					} {
						w := settled(t, "a.go", "alpha", "b.go", "beta")
						prepare(w)
						w.store.afterView = func() {
							edit(w)
							if _, err := w.registry().Verify(w.ctx, registry.VerifyOptions{}); err != nil {
								t.Error(err)
							}
							w.checkout(w.head)
							prepare(w)
						}
						rep, err := run(w.registry(), w.ctx, registry.VerifyOptions{All: all})
						if err != nil {
							t.Fatal(err)
						}
						i := slices.IndexFunc(rep.Verdicts, func(v registry.FileState) bool { return v.Path == "b.go" })
						if i < 0 {
							t.Errorf("%s does not list b.go, whose row differs: %v", name, verdicts(rep))
						} else if v := rep.Verdicts[i]; v.Content.State != fresh.Stale || v.ID != blob("beta") {
							t.Errorf("%s lists b.go as %s with %s, want mismatch with %s", name, v.Content, v.ID, blob("beta"))
						}
					}
				})
			}
		}
	}
}

func TestOvertakenByAWrite(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	w.put("a.go", "other")
	w.commit()
	first := baseline(t, w).Head
	w.store.beforeCommit = func() {
		w.write("b.go", "news")
		if _, err := w.registry().Write(w.ctx, []registry.Update{{Path: "b.go", Text: "about news"}}); err != nil {
			t.Error(err)
		}
		w.checkout(w.head)
	}
	rep := w.verify(t, registry.VerifyOptions{})
	if rep.LastVerified != first || baseline(t, w).Head != first {
		t.Error("the baseline advanced although another process changed a row")
	}
	same(t, "verdicts", verdicts(w.status(t, registry.VerifyOptions{})), []string{"mismatch stale b.go"})
}

func TestMovedWhileVerifying(t *testing.T) {
	for name, move := range map[string]func(*fakeRepo){
		"HEAD":  func(w *fakeRepo) { w.commit() },
		"index": func(w *fakeRepo) { w.put("c.go", "gamma") },
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, "a.go", "alpha", "b.go", "beta")
			first := w.head
			w.put("a.go", "other")
			w.commit()
			w.beforeUnmoved = func() {
				w.beforeUnmoved = nil
				move(w)
			}
			if rep := w.verify(t, registry.VerifyOptions{}); rep.LastVerified != first {
				t.Errorf("last verified %s, want %s", rep.LastVerified, first)
			}
			if b := baseline(t, w); b.Head != first || b.Clean {
				t.Errorf("the baseline is %+v", b)
			}
			rows, err := w.store.RowsOf(w.ctx, "", []repo.Path{"a.go"})
			if err != nil || rows["a.go"].Content.ID != blob("other") {
				t.Errorf("the row was not written: %+v, %v", rows, err)
			}
		})
	}
}

func TestWriteAndTrust(t *testing.T) {
	for name, c := range map[string]struct {
		happen func(*fakeRepo)
		state  registry.State
	}{
		"a row that has not moved":           {func(*fakeRepo) {}, registry.StateTrust},
		"a row whose file was touched":       {func(w *fakeRepo) { w.touch("a.go") }, registry.StateTrust},
		"a row that moved, and moved back":   {func(w *fakeRepo) { w.write("a.go", "other") }, registry.StateVerify},
		"a row of another mode, for a while": {func(w *fakeRepo) { w.chmod("a.go", repo.Executable) }, registry.StateVerify},
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, "a.go", "alpha", "b.go", "beta")
			c.happen(w)
			w.describe(t, "a.go")
			w.checkout(w.head)
			if rep := w.status(t, registry.VerifyOptions{}); rep.State != c.state {
				t.Errorf("the entry state is %s for the reasons %q; want %s", rep.State, rep.Reasons, c.state)
			}
		})
	}
}

func TestVerifyForgetsOtherWorktrees(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	gone := store.FileChanges{Put: []store.FileRow{{Path: "a.go"}}}
	if err := w.store.Commit(w.ctx, "gone", gone, nil); err != nil {
		t.Fatal(err)
	}
	w.write("a.go", "other")
	r := registry.New(w, w, w.store, registry.Options{Worktrees: []string{""}})
	if _, err := r.Verify(w.ctx, registry.VerifyOptions{}); err != nil {
		t.Fatal(err)
	}
	rows, err := w.store.RowsOf(w.ctx, "gone", []repo.Path{"a.go"})
	if err != nil || len(rows) > 0 {
		t.Errorf("RowsOf the removed worktree returned %v, %v; want no rows", rows, err)
	}
}
