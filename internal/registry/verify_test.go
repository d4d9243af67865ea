package registry_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/fault"
	"ken/internal/registry"
	"ken/internal/repo"
)

// Each case begins with a.go and b.go committed, described and verified.
func TestVerdicts(t *testing.T) {
	type counts = registry.Counts
	for _, c := range []struct {
		name   string
		happen func(rapid.TB, *fakeRepo)
		want   []string
		counts counts
	}{
		{
			"nothing happens",
			func(rapid.TB, *fakeRepo) {},
			[]string{},
			counts{Files: 2, Match: 2, Fresh: 2},
		},
		{
			"an edit",
			func(_ rapid.TB, w *fakeRepo) { w.write("a.go", "other") },
			[]string{"mismatch stale a.go"},
			counts{Files: 2, Match: 1, Mismatch: 1, Fresh: 1, Stale: 1},
		},
		{
			"an edit that somebody verified",
			func(t rapid.TB, w *fakeRepo) {
				w.write("a.go", "other")
				w.verify(t, registry.VerifyOptions{})
			},
			[]string{"match stale a.go"},
			counts{Files: 2, Match: 2, Fresh: 1, Stale: 1},
		},
		{
			"an edit that was taken back",
			func(t rapid.TB, w *fakeRepo) {
				w.write("a.go", "other")
				w.verify(t, registry.VerifyOptions{})
				w.write("a.go", "alpha")
			},
			[]string{"mismatch fresh a.go restored"},
			counts{Files: 2, Match: 1, Mismatch: 1, Fresh: 2},
		},
		{
			"a touch",
			func(_ rapid.TB, w *fakeRepo) { w.touch("a.go") },
			[]string{},
			counts{Files: 2, Match: 2, Fresh: 2},
		},
		{
			"a mode",
			func(_ rapid.TB, w *fakeRepo) { w.chmod("a.go", repo.Executable) },
			[]string{},
			counts{Files: 2, Match: 2, Fresh: 2},
		},
		{
			"a new file",
			func(_ rapid.TB, w *fakeRepo) { w.put("c.go", "gamma") },
			[]string{"new none c.go"},
			counts{Files: 3, Match: 2, New: 1, Fresh: 2, None: 1},
		},
		{
			"a copy",
			func(_ rapid.TB, w *fakeRepo) { w.put("c.go", "alpha") },
			[]string{"new fresh c.go"},
			counts{Files: 3, Match: 2, New: 1, Fresh: 3},
		},
		{
			"removed from the index",
			func(_ rapid.TB, w *fakeRepo) {
				w.remove("a.go")
				w.stage("a.go")
			},
			[]string{"missing gone a.go"},
			counts{Files: 1, Match: 1, Missing: 1, Fresh: 1},
		},
		{
			"gone from the disk",
			func(_ rapid.TB, w *fakeRepo) { w.remove("a.go") },
			[]string{"missing gone a.go"},
			counts{Files: 2, Match: 1, Missing: 1, Fresh: 1, Gone: 1},
		},
		{
			"gone from the disk, still",
			func(t rapid.TB, w *fakeRepo) {
				w.remove("a.go")
				w.verify(t, registry.VerifyOptions{})
			},
			[]string{"missing gone a.go"},
			counts{Files: 2, Match: 1, Missing: 1, Fresh: 1, Gone: 1},
		},
		{
			"gone from the disk, and back",
			func(t rapid.TB, w *fakeRepo) {
				w.remove("a.go")
				w.verify(t, registry.VerifyOptions{})
				w.write("a.go", "alpha")
			},
			[]string{},
			counts{Files: 2, Match: 2, Fresh: 2},
		},
		{
			"a directory in its place",
			func(_ rapid.TB, w *fakeRepo) { w.disk["a.go"] = &file{dir: true} },
			[]string{"missing gone a.go"},
			counts{Files: 2, Match: 1, Missing: 1, Fresh: 1, Gone: 1},
		},
		{
			"a link in its place",
			func(_ rapid.TB, w *fakeRepo) { w.link("a.go", "b.go") },
			[]string{"mismatch excluded a.go"},
			counts{Files: 2, Match: 1, Mismatch: 1, Fresh: 1, Excluded: 1},
		},
		{
			"gone from the disk, after a link in its place",
			func(t rapid.TB, w *fakeRepo) {
				w.link("a.go", "b.go")
				w.verify(t, registry.VerifyOptions{})
				w.remove("a.go")
			},
			[]string{"missing gone a.go"},
			counts{Files: 2, Match: 1, Missing: 1, Fresh: 1, Gone: 1},
		},
		{
			"gone from the disk, after a binary in its place",
			func(t rapid.TB, w *fakeRepo) {
				w.write("a.go", "\x00")
				w.verify(t, registry.VerifyOptions{})
				w.remove("a.go")
				w.verify(t, registry.VerifyOptions{})
			},
			[]string{"missing gone a.go"},
			counts{Files: 2, Match: 1, Missing: 1, Fresh: 1, Gone: 1},
		},
		{
			"gone from the disk, and a binary back in its place",
			func(t rapid.TB, w *fakeRepo) {
				w.write("a.go", "\x00")
				w.tick()
				w.verify(t, registry.VerifyOptions{})
				away := w.disk["a.go"]
				w.remove("a.go")
				w.verify(t, registry.VerifyOptions{})
				w.disk["a.go"] = away
			},
			[]string{"mismatch excluded a.go"},
			counts{Files: 2, Match: 1, Mismatch: 1, Fresh: 1, Excluded: 1},
		},
		{
			"a rename",
			func(_ rapid.TB, w *fakeRepo) { w.mv("a.go", "z.go") },
			[]string{"missing gone a.go", "new fresh z.go was a.go"},
			counts{Files: 2, Match: 1, Missing: 1, New: 1, Fresh: 2},
		},
		{
			"a rename of what was stale",
			func(t rapid.TB, w *fakeRepo) {
				w.put("a.go", "alphabet")
				w.verify(t, registry.VerifyOptions{})
				w.mv("a.go", "z.go")
			},
			[]string{"missing gone a.go", "new stale z.go was a.go"},
			counts{Files: 2, Match: 1, Missing: 1, New: 1, Fresh: 1, Stale: 1},
		},
		{
			"a rename with an edit",
			func(_ rapid.TB, w *fakeRepo) {
				w.mv("a.go", "z.go")
				w.put("z.go", "alphabet")
			},
			[]string{"missing gone a.go", "new stale z.go was a.go"},
			counts{Files: 2, Match: 1, Missing: 1, New: 1, Fresh: 1, Stale: 1},
		},
		{
			"a rename with an edit, committed",
			func(_ rapid.TB, w *fakeRepo) {
				w.put("a.go", "alphabet")
				w.mv("a.go", "z.go")
				w.commit()
			},
			[]string{"missing gone a.go", "new stale z.go was a.go"},
			counts{Files: 2, Match: 1, Missing: 1, New: 1, Fresh: 1, Stale: 1},
		},
		{
			// For git it is not the file of HEAD, regardless of the last check.
			"a rename of what has become another file",
			func(t rapid.TB, w *fakeRepo) {
				w.put("a.go", "other")
				w.verify(t, registry.VerifyOptions{})
				w.mv("a.go", "z.go")
			},
			[]string{"missing gone a.go", "new none z.go was a.go"},
			counts{Files: 2, Match: 1, Missing: 1, New: 1, Fresh: 1, None: 1},
		},
		{
			"a conflict",
			func(_ rapid.TB, w *fakeRepo) { w.flag("a.go", repo.Conflicted) },
			[]string{"conflicted unknown a.go"},
			counts{Files: 2, Match: 1, Conflicted: 1, Fresh: 1},
		},
		{
			"a conflict over something new",
			func(_ rapid.TB, w *fakeRepo) {
				w.put("c.go", "gamma")
				w.flag("c.go", repo.Conflicted)
			},
			[]string{"conflicted unknown c.go"},
			counts{Files: 3, Match: 2, Conflicted: 1, Fresh: 2},
		},
		{
			"not checked out",
			func(_ rapid.TB, w *fakeRepo) {
				w.flag("a.go", repo.SkipWorktree)
				w.remove("a.go")
			},
			[]string{"sparse fresh a.go"},
			counts{Files: 2, Match: 1, Sparse: 1, Fresh: 2},
		},
		{
			"kept from reading",
			func(_ rapid.TB, w *fakeRepo) {
				w.touch("a.go")
				w.disk["a.go"].readErr = fs.ErrPermission
			},
			[]string{"unknown unknown a.go"},
			counts{Files: 2, Match: 1, Unknown: 1, Fresh: 1},
		},
		{
			"kept from looking",
			func(_ rapid.TB, w *fakeRepo) { w.disk["a.go"].lstatErr = fs.ErrPermission },
			[]string{"unknown unknown a.go"},
			counts{Files: 2, Match: 1, Unknown: 1, Fresh: 1},
		},
		{
			"an edit of a file that git is configured to ignore",
			func(_ rapid.TB, w *fakeRepo) {
				w.flag("a.go", repo.AssumeUnchanged)
				w.write("a.go", "other")
			},
			[]string{"mismatch stale a.go"},
			counts{Files: 2, Match: 1, Mismatch: 1, Fresh: 1, Stale: 1},
		},
		{
			"a file meant to be added",
			func(_ rapid.TB, w *fakeRepo) {
				w.write("c.go", "gamma")
				w.index["c.go"] = &repo.Entry{Path: "c.go", ID: blob(""), Mode: repo.Regular, Flags: repo.IntentToAdd, Stat: w.disk["c.go"].stat}
			},
			[]string{"new none c.go"},
			counts{Files: 3, Match: 2, New: 1, Fresh: 2, None: 1},
		},
		{
			"an empty file meant to be added",
			func(_ rapid.TB, w *fakeRepo) {
				w.write("c.go", "")
				w.index["c.go"] = &repo.Entry{Path: "c.go", ID: blob(""), Mode: repo.Regular, Flags: repo.IntentToAdd, Stat: w.disk["c.go"].stat}
			},
			[]string{"new none c.go"},
			counts{Files: 3, Match: 2, New: 1, Fresh: 2, None: 1},
		},
		{
			"files nobody summarises",
			func(_ rapid.TB, w *fakeRepo) {
				w.put("x.sum", "lock")
				w.put("y.bin", "\x00")
				w.link("z", "/elsewhere")
				w.stage("z")
			},
			[]string{"new excluded x.sum", "new excluded y.bin", "new excluded z"},
			counts{Files: 5, Match: 2, New: 3, Fresh: 2, Excluded: 3},
		},
		{
			"a submodule, not checked out",
			func(_ rapid.TB, w *fakeRepo) {
				w.disk["sub"] = &file{dir: true}
				w.index["sub"] = &repo.Entry{Path: "sub", ID: blob("commit"), Mode: repo.Gitlink}
			},
			[]string{"new excluded sub"},
			counts{Files: 3, Match: 2, New: 1, Fresh: 2, Excluded: 1},
		},
		{
			"a submodule that moved on",
			func(t rapid.TB, w *fakeRepo) {
				w.disk["sub"] = &file{dir: true}
				w.index["sub"] = &repo.Entry{Path: "sub", ID: blob("commit"), Mode: repo.Gitlink}
				w.verify(t, registry.VerifyOptions{})
				w.subs["sub"] = repo.Submodule{Head: blob("later")}
			},
			[]string{"mismatch excluded sub"},
			counts{Files: 3, Match: 2, Mismatch: 1, Fresh: 2, Excluded: 1},
		},
		{
			"a submodule that cannot be read",
			func(_ rapid.TB, w *fakeRepo) {
				w.disk["sub"] = &file{dir: true}
				w.index["sub"] = &repo.Entry{Path: "sub", ID: blob("commit"), Mode: repo.Gitlink}
				w.subs["sub"] = repo.Submodule{Err: fs.ErrPermission}
			},
			[]string{"unknown unknown sub"},
			counts{Files: 3, Match: 2, Unknown: 1, Fresh: 2},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, opts := range map[string]registry.VerifyOptions{"verify": {}, "verify fully": {Full: true}} {
				w := committed(t, "a.go", "alpha", "b.go", "beta")
				w.describe(t, "a.go", "b.go")
				w.verify(t, registry.VerifyOptions{})
				c.happen(t, w)
				rep := w.status(t, registry.VerifyOptions{})
				same(t, "status", verdicts(rep), c.want)
				same(t, "status: counts", rep.Counts, c.counts)
				done := w.verify(t, opts)
				same(t, name, verdicts(done), c.want)
				same(t, name+": counts", done.Counts, c.counts)
			}
		})
	}
}

func TestVerdictsSayWhy(t *testing.T) {
	w := committed(t, "a.go", "alpha", "b.go", "beta", "c.go", "gamma", "d.go", "delta", "e.sum", "lock")
	w.verify(t, registry.VerifyOptions{})
	w.remove("a.go")
	w.stage("a.go")
	w.disk["b.go"] = &file{dir: true}
	w.touch("c.go")
	w.disk["c.go"].readErr = fs.ErrPermission
	w.flag("d.go", repo.Conflicted)
	why := map[string]string{}
	for _, v := range w.verify(t, registry.VerifyOptions{All: true}).Verdicts {
		why[v.Path] = v.Reason
	}
	same(t, "reasons", why, map[string]string{
		"a.go": "no longer tracked", "b.go": "a directory is in its place", "c.go": fs.ErrPermission.Error(),
		"d.go": "merge conflict", "e.sum": "lockfile",
	})
}

// Status has the same counts as the verification that follows it.
func TestStatusKnowsKinds(t *testing.T) {
	w := committed(t, "a.go", "alpha", "b.go", "generated", "big.go", "eleven byte")
	w.policy.MaxBytes = 10
	status := w.status(t, registry.VerifyOptions{})
	same(t, "files read", w.calls.read, []repo.Path{"a.go", "b.go"})
	same(t, "counted", status.Counts, registry.Counts{Files: 3, New: 3, None: 1, Excluded: 2})
	same(t, "verified", w.verify(t, registry.VerifyOptions{}).Counts, status.Counts)
	w.put("a.go", "generated now")
	w.put("c.go", "generated")
	w.commit()
	same(t, "after a commit", w.status(t, registry.VerifyOptions{}).Counts, registry.Counts{
		Files: 4, Match: 2, Mismatch: 1, New: 1, Excluded: 4,
	})
}

// A file that is not checked out cannot differ. A sparse checkout is trusted, has the same counts as its
// verification, and lists the files that it omits.
func TestSparseIsTrusted(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta", "c.go", "gamma")
	w.describe(t, "a.go")
	w.flag("a.go", repo.SkipWorktree)
	w.remove("a.go")
	want := registry.Counts{Files: 3, Match: 2, Sparse: 1, Fresh: 1, None: 2}
	for _, all := range []bool{false, true} {
		rep := w.status(t, registry.VerifyOptions{All: all})
		entered(t, rep, registry.StateTrust)
		same(t, "counts", rep.Counts, want)
		same(t, "listed", verdicts(rep)[0], "sparse fresh a.go")
	}
	quiet := w.status(t, registry.VerifyOptions{OmitSparse: true})
	same(t, "counted", quiet.Counts, want)
	same(t, "and not listed", verdicts(quiet), []string{})
	full := w.verify(t, registry.VerifyOptions{Full: true})
	same(t, "verified", full.Counts, want)
	entered(t, w.verify(t, registry.VerifyOptions{}), registry.StateTrust)
	w.write("a.go", "other")
	entered(t, w.status(t, registry.VerifyOptions{}), registry.StateVerify, registry.ReasonDirty, registry.ReasonFlags)
}

func TestBootstrap(t *testing.T) {
	w := committed(t, "b.go", "beta", "a.go", "alpha", "c.sum", "lock")
	rep := w.status(t, registry.VerifyOptions{})
	entered(t, rep, registry.StateBootstrap)
	same(t, "all are new, in order", verdicts(rep), []string{"new none a.go", "new none b.go", "new excluded c.sum"})
	same(t, "only files that their name does not exclude are read", w.calls.read, []repo.Path{"a.go", "b.go"})
	rep = w.verify(t, registry.VerifyOptions{OmitNew: true})
	entered(t, rep, registry.StateBootstrap)
	same(t, "what is new is not listed", verdicts(rep), []string{})
	same(t, "and counted all the same", rep.Counts, registry.Counts{Files: 3, New: 3, None: 2, Excluded: 1})
	if rep.LastVerified != w.head {
		t.Errorf("verified %s, want HEAD", rep.LastVerified)
	}
	w.put("d.go", "delta")
	same(t, "a later new file is", verdicts(w.verify(t, registry.VerifyOptions{OmitNew: true})), []string{"new none d.go"})
}

func TestNothingTracked(t *testing.T) {
	w := newFakeRepo(t)
	w.write("a.go", "alpha")
	rep := w.verify(t, registry.VerifyOptions{Untracked: true})
	entered(t, rep, registry.StateNew)
	same(t, "untracked", rep.Untracked, &registry.Paths{Count: 1, Paths: []repo.PathJSON{{Path: "a.go"}}})
	if w.store.commits != 0 || w.calls.stats != 0 {
		t.Errorf("%d commits, %d stats", w.store.commits, w.calls.stats)
	}
}

func TestAllListsEveryPathInOrder(t *testing.T) {
	w := committed(t, "b.go", "beta", "a.go", "alpha", "a/b.go", "deep", "a-b", "dash")
	want := []string{"match none a-b", "match none a.go", "match none a/b.go", "match none b.go"}
	w.verify(t, registry.VerifyOptions{})
	same(t, "trusted", verdicts(w.status(t, registry.VerifyOptions{All: true})), want)
	w.touch("b.go")
	same(t, "verified", verdicts(w.status(t, registry.VerifyOptions{All: true})), want)
	w.write("a.go", "x")
	w.write("a-b", "y")
	w.put("0", "zero")
	same(t, "the notable alone", verdicts(w.verify(t, registry.VerifyOptions{})),
		[]string{"new none 0", "mismatch none a-b", "mismatch none a.go"})
}

func TestVerifySomePaths(t *testing.T) {
	w := committed(t, "a/x.go", "x", "a/y.go", "y", "ab.go", "ab", "z.go", "z")
	w.verify(t, registry.VerifyOptions{})
	first := w.head
	for _, p := range []repo.Path{"a/x.go", "ab.go", "z.go"} {
		w.write(p, "other "+string(p))
	}
	w.commitAll()

	rep := w.verify(t, registry.VerifyOptions{Paths: []repo.Path{"a", "z.go", "a/x.go"}})
	same(t, "verdicts", verdicts(rep), []string{"mismatch none a/x.go", "mismatch none z.go"})
	if rep.Counts.Files != 3 || rep.LastVerified != first {
		t.Errorf("%d files, verified %s; want 3, and an unchanged baseline", rep.Counts.Files, rep.LastVerified)
	}
	rep = w.status(t, registry.VerifyOptions{})
	if rep.LastVerified != first {
		t.Error("the baseline advanced although some paths were not read")
	}
	same(t, "what is left to find", verdicts(rep), []string{"mismatch none ab.go"})

	_, err := w.registry().Verify(w.ctx, registry.VerifyOptions{Paths: []repo.Path{"a/x.go", "nowhere"}})
	if fault.KindOf(err) != fault.Usage {
		t.Errorf("a path without a file: %v", err)
	}
	w.remove("z.go")
	w.stage("z.go")
	same(t, "a path that only a row remembers", verdicts(w.verify(t, registry.VerifyOptions{Paths: []repo.Path{"z.go"}})),
		[]string{"missing gone z.go"})
}

// Other programs read these documents, so their spelling must not change.
func TestReportFields(t *testing.T) {
	w := committed(t, "a.go", "alpha")
	w.describe(t, "a.go")
	w.verify(t, registry.VerifyOptions{})
	w.mv("a.go", "lat\xefn.go")
	b, err := json.Marshal(w.status(t, registry.VerifyOptions{Untracked: true}))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Counts   map[string]int   `json:"counts"`
		Upstream map[string]any   `json:"upstream"`
		Verdicts []map[string]any `json:"verdicts"`
	}
	var top map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &top); err != nil {
		t.Fatal(err)
	}
	same(t, "report", keys(top), strings.Fields("counts head last_verified_sha reasons state untracked upstream verdicts"))
	same(t, "upstream", keys(doc.Upstream), strings.Fields("ahead behind state"))
	same(t, "counts", keys(doc.Counts), strings.Fields(
		"conflicted excluded files fresh gone match mismatch missing new none sparse stale unknown"))
	same(t, "verdict", keys(doc.Verdicts[1]), strings.Fields(
		"content_id content_md5 kind path path_b64 path_changed restored summary verdict"))
	same(t, "renamed", doc.Verdicts[1], map[string]any{
		"path": `"lat\xefn.go"`, "path_b64": "bGF0724uZ28=", "path_changed": "a.go", "restored": false,
		"verdict": "new", "summary": "fresh", "kind": "source",
		"content_id": blob("alpha").String(), "content_md5": digest("alpha").String(),
	})
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
