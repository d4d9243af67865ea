package registry_test

import (
	"crypto/md5"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/registry"
	"ken/internal/repo"
)

// settled returns a repository that was verified and has not changed since.
func settled(t *testing.T, files ...string) *fakeRepo {
	t.Helper()
	w := committed(t, files...)
	w.verify(t, registry.VerifyOptions{})
	return w
}

func TestTrustOpensNothing(t *testing.T) {
	for name, happen := range map[string]func(*fakeRepo){
		"nothing happened":             func(*fakeRepo) {},
		"an untracked file":            func(w *fakeRepo) { w.write("c.go", "gamma") },
		"an upstream that is level":    func(w *fakeRepo) { w.behind = 0 },
		"an amend that keeps the tree": func(w *fakeRepo) { w.commit() },
		"files written unseen by any stat": func(w *fakeRepo) {
			w.forge("a.go", "ALPHA")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, "a.go", "alpha", "b.go", "beta")
			happen(w)
			rep := w.status(t, registry.VerifyOptions{})
			entered(t, rep, registry.StateTrust)
			opened(t, w)
			same(t, "counts", rep.Counts, registry.Counts{Files: 2, Match: 2, None: 2})
			entered(t, w.verify(t, registry.VerifyOptions{}), registry.StateTrust)
			opened(t, w)
		})
	}
}

func TestWhyNoTrust(t *testing.T) {
	for _, c := range []struct {
		name    string
		happen  func(rapid.TB, *fakeRepo)
		reasons []registry.Reason
	}{
		{"an edit", func(_ rapid.TB, w *fakeRepo) { w.write("a.go", "x") }, []registry.Reason{"dirty"}},
		{"a mode", func(_ rapid.TB, w *fakeRepo) { w.chmod("a.go", repo.Executable) }, []registry.Reason{"dirty"}},
		{"something staged", func(_ rapid.TB, w *fakeRepo) { w.put("a.go", "x") }, []registry.Reason{"dirty"}},
		{"a commit", func(_ rapid.TB, w *fakeRepo) {
			w.put("a.go", "x")
			w.commit()
		}, []registry.Reason{"head_moved"}},
		{"a commit rewritten", func(t rapid.TB, w *fakeRepo) {
			first := w.head
			w.put("a.go", "x")
			w.commit()
			w.verify(t, registry.VerifyOptions{})
			w.checkout(first)
			w.lost = true
		}, []registry.Reason{"head_moved", "baseline_lost"}},
		{"verified dirty, then stashed", func(t rapid.TB, w *fakeRepo) {
			w.write("a.go", "x")
			w.verify(t, registry.VerifyOptions{})
			w.checkout(w.head)
		}, []registry.Reason{"baseline_dirty"}},
		{"fetched", func(_ rapid.TB, w *fakeRepo) { w.behind = 2 }, []registry.Reason{"behind"}},
		{"assume-unchanged", func(_ rapid.TB, w *fakeRepo) { w.flag("a.go", repo.AssumeUnchanged) }, []registry.Reason{"flags"}},
		{"skip-worktree, and there", func(_ rapid.TB, w *fakeRepo) { w.flag("a.go", repo.SkipWorktree) }, []registry.Reason{"flags"}},
		{"unmerged", func(_ rapid.TB, w *fakeRepo) { w.flag("a.go", repo.Conflicted) }, []registry.Reason{"dirty", "conflicted"}},
		{"another policy", func(_ rapid.TB, w *fakeRepo) { w.policy.Exclude = []string{"b.go"} }, []registry.Reason{"policy_changed"}},
		{"attributes outside the tree", func(_ rapid.TB, w *fakeRepo) { w.info = "*.go generated" }, []registry.Reason{"policy_changed"}},
		{"attributes edited", func(_ rapid.TB, w *fakeRepo) { w.write(".gitattributes", "*.go text") }, []registry.Reason{"dirty", "policy_changed"}},
		{"a path meant to be added", func(_ rapid.TB, w *fakeRepo) {
			w.write("c.go", "")
			w.index["c.go"] = &repo.Entry{Path: "c.go", ID: blob(""), Mode: repo.Regular, Flags: repo.IntentToAdd}
		}, []registry.Reason{"dirty"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := settled(t, ".gitattributes", "", "a.go", "alpha", "b.go", "beta")
			c.happen(t, w)
			entered(t, w.status(t, registry.VerifyOptions{}), registry.StateVerify, c.reasons...)
		})
	}
}

func TestRacyEntryIsReadAndBreaksNoTrust(t *testing.T) {
	w := committed(t, "a.go", "alpha", "b.go", "beta")
	w.scribble("a.go", "ALPHA")
	w.stage("a.go")
	w.commit()
	w.tick()
	w.verify(t, registry.VerifyOptions{})
	w.refresh() // from now on the stat proves it
	w.scribble("b.go", "BETA")
	w.stage("b.go")
	w.commit()
	w.verify(t, registry.VerifyOptions{}) // in that tick, so the row proves nothing

	rep := w.status(t, registry.VerifyOptions{})
	entered(t, rep, registry.StateTrust)
	opened(t, w, "b.go")

	w.scribble("b.go", "Beta") // same tick and size, so the same stat
	rep = w.status(t, registry.VerifyOptions{})
	entered(t, rep, registry.StateVerify, registry.ReasonDirty)
	same(t, "a write in the same tick", verdicts(rep), []string{"mismatch none b.go"})
}

func TestRowVouchesForATouchedFile(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	w.touch("a.go")
	w.status(t, registry.VerifyOptions{})
	opened(t, w, "a.go")
	entered(t, w.verify(t, registry.VerifyOptions{}), registry.StateTrust)
	// Trust writes no rows, so only a verification stores a row that proves something.
	w.verify(t, registry.VerifyOptions{Paths: []repo.Path{"a.go"}})
	for range 3 {
		w.verify(t, registry.VerifyOptions{})
		opened(t, w)
	}
	entered(t, w.status(t, registry.VerifyOptions{}), registry.StateTrust)
}

func TestRowVouchesForADirtyFile(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	w.write("a.go", "other")
	w.verify(t, registry.VerifyOptions{})
	opened(t, w, "a.go")
	w.verify(t, registry.VerifyOptions{})
	opened(t, w)
	w.forge("a.go", "OTHER")
	w.write("b.go", "news")
	w.verify(t, registry.VerifyOptions{})
	opened(t, w, "b.go")
}

// A row that was read in the tick of a write has no stat, so that ken notices the next write in that tick.
func TestReadingInTheTickOfAWriteVouchesForNothing(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	w.scribble("a.go", "beta.")
	w.verify(t, registry.VerifyOptions{})
	w.scribble("a.go", "gamma")
	same(t, "verdicts", verdicts(w.verify(t, registry.VerifyOptions{})), []string{"mismatch none a.go"})
}

func TestLineEndingsAreNeverVouchedFor(t *testing.T) {
	for name, convert := range map[string]bool{"converted": true, "convertible": false} {
		t.Run(name, func(t *testing.T) {
			w := newFakeRepo(t)
			w.autocrlf = convert
			w.put("a.txt", "one\r\n")
			w.commit()
			w.verify(t, registry.VerifyOptions{})
			w.touch("a.txt")
			w.verify(t, registry.VerifyOptions{Paths: []repo.Path{"a.txt"}})
			for range 2 {
				w.status(t, registry.VerifyOptions{})
				if len(w.calls.read) == 0 {
					t.Error("a stat proved bytes that a setting may convert")
				}
			}
		})
	}
}

// ken converts line ends again after a setting changed, although no byte and no stat did. The work tree differs from
// HEAD then, but the file is as it was verified.
func TestSettingChangesLineEndings(t *testing.T) {
	w := newFakeRepo(t)
	w.autocrlf = true
	w.put("a.txt", "one\n")
	w.write("a.txt", "one\r\n")
	w.commit()
	w.verify(t, registry.VerifyOptions{})
	entered(t, w.status(t, registry.VerifyOptions{}), registry.StateTrust)
	w.autocrlf = false
	rep := w.status(t, registry.VerifyOptions{})
	entered(t, rep, registry.StateVerify, registry.ReasonDirty, registry.ReasonPolicyChanged)
	same(t, "verdicts", verdicts(w.status(t, registry.VerifyOptions{All: true})), []string{"match none a.txt"})
}

// The index keeps the content under the former setting until git looks at the file again. A verification under the new one
// has the right content, and later runs keep to it, even if nothing converts bytes any more.
func TestContentsVerifiedWithoutConversion(t *testing.T) {
	w := newFakeRepo(t)
	w.autocrlf = true
	w.put("a.txt", "one\r\n")
	w.put("x.sum", "one\r\n") // a lockfile: status need not read it to learn its kind
	w.commit()
	w.tick()
	w.verify(t, registry.VerifyOptions{})
	w.autocrlf = false
	for _, run := range []string{"the first", "the second"} {
		for _, v := range w.status(t, registry.VerifyOptions{All: true}).Verdicts {
			if v.ID != blob("one\r\n") {
				t.Errorf("before %s verification, %s has content %s, want %s", run, v.Path, v.ID, blob("one\r\n"))
			}
		}
		w.verify(t, registry.VerifyOptions{})
	}
}

// The md5 is of the bytes on disk, also where git converts them to the content that the row has.
func TestMD5OfBytesThatGitConverts(t *testing.T) {
	w := newFakeRepo(t)
	w.put("a.txt", "one\n")
	w.commit()
	w.tick()
	w.autocrlf = true
	w.verify(t, registry.VerifyOptions{})
	w.write("a.txt", "one\r\n")
	w.tick()
	want := repo.MD5(md5.Sum([]byte("one\r\n")))
	for _, v := range w.status(t, registry.VerifyOptions{All: true}).Verdicts {
		same(t, "md5 of "+v.Path, v.MD5, want)
	}
}

func TestChangedAttributesEndAllVouching(t *testing.T) {
	w := settled(t, ".gitattributes", "", "a.go", "alpha", "b.go", "beta")
	w.write("a.go", "other")
	w.verify(t, registry.VerifyOptions{})
	w.write(".gitattributes", "*.go generated")
	rep := w.status(t, registry.VerifyOptions{})
	entered(t, rep, registry.StateVerify, registry.ReasonDirty, registry.ReasonPolicyChanged)
	opened(t, w, ".gitattributes", "a.go", "b.go")
	rep = w.verify(t, registry.VerifyOptions{})
	same(t, "counts", rep.Counts, registry.Counts{Files: 3, Match: 2, Mismatch: 1, None: 1, Excluded: 2})
}

func TestVerifyAfterOneEditReadsOneFile(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta", "c.go", "gamma")
	w.describe(t, "a.go", "b.go")
	w.write("a.go", "other")
	rep := w.verify(t, registry.VerifyOptions{})
	opened(t, w, "a.go")
	if w.store.scans > 0 {
		t.Error("every row was read")
	}
	same(t, "counts", rep.Counts, registry.Counts{Files: 3, Match: 2, Mismatch: 1, Fresh: 1, Stale: 1, None: 1})
	w.write("b.go", "news")
	w.status(t, registry.VerifyOptions{})
	opened(t, w, "b.go")
	if w.store.scans > 0 {
		t.Error("every row was read for a second edit")
	}
}

func TestFullReadsEveryByte(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta", "c.go", "gamma")
	w.forge("b.go", "BETA")
	rep := w.verify(t, registry.VerifyOptions{Full: true})
	entered(t, rep, registry.StateTrust)
	same(t, "verdicts", verdicts(rep), []string{"mismatch none b.go"})
	rep = w.status(t, registry.VerifyOptions{})
	if rep.State == registry.StateTrust {
		t.Error("trusted, although the last verification found a change that no stat shows")
	}
}

func TestOneSnapshotPerRegistry(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	w.calls = calls{}
	r := w.registry()
	paths := []repo.Path{"a.go"}
	for name, ask := range map[string]func() error{
		"status":  func() error { _, err := r.Status(w.ctx, registry.VerifyOptions{}); return err },
		"verify":  func() error { _, err := r.Verify(w.ctx, registry.VerifyOptions{}); return err },
		"write":   func() error { _, err := r.Write(w.ctx, []registry.Update{{Path: "a.go", Text: "x"}}); return err },
		"confirm": func() error { _, err := r.Confirm(w.ctx, paths, ""); return err },
		"show":    func() error { _, err := r.Show(w.ctx, paths); return err },
		"list":    func() error { _, err := r.List(w.ctx, nil, nil); return err },
		"close":   func() error { _, err := r.Close(w.ctx, registry.CloseOptions{}); return err },
		"content": func() error { _, _, err := r.ShowContent(w.ctx, contentOf("alpha")); return err },
	} {
		if err := ask(); err != nil {
			t.Fatalf("%s returned the error %v", name, err)
		}
	}
	if w.calls.snapshots != 1 {
		t.Errorf("git was asked for %d snapshots; want 1", w.calls.snapshots)
	}
}

// The index is the verified one, and every file is as in the index. Only the row has the edit.
func TestStashedEditIsFoundByException(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	w.write("a.go", "other")
	w.verify(t, registry.VerifyOptions{})
	w.checkout(w.head)
	rep := w.status(t, registry.VerifyOptions{})
	same(t, "verdicts", verdicts(rep), []string{"mismatch none a.go"})
	if w.store.scans > 0 {
		t.Error("every row was read")
	}
}

func TestMeantToBeAddedIsItsBytes(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	w.write("c.go", "gamma")
	w.writeIndex()
	w.index["c.go"] = &repo.Entry{
		Path: "c.go", ID: blob(""), Mode: repo.Regular, Flags: repo.IntentToAdd, Stat: w.disk["c.go"].stat,
	}
	if v := w.status(t, registry.VerifyOptions{}).Verdicts[0]; v.Path != "c.go" || v.ID != blob("gamma") {
		t.Errorf("the first verdict is %+v; want the content of c.go in the work tree", v)
	}
}
