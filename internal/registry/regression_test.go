package registry_test

import (
	"testing"

	"ken/internal/registry"
	"ken/internal/repo"
)

// Verifications during a session of edits stay cheap: one that proves the same as the last one still settles its
// rows.
func TestEditAfterEditReadsNoOtherRow(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta", "c.go", "gamma")
	for _, bytes := range []string{"one", "two!", "three"} {
		w.write("a.go", bytes)
		w.verify(t, registry.VerifyOptions{})
		if w.store.scans > 0 {
			t.Errorf("%q: every row was read", bytes)
		}
	}
}

// Being behind the upstream does not affect the last verification.
func TestTouchWhileBehindLeavesTheBaselineClean(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	w.behind = 1
	w.verify(t, registry.VerifyOptions{})
	w.touch("a.go")
	w.verify(t, registry.VerifyOptions{})
	w.behind = 0
	entered(t, w.status(t, registry.VerifyOptions{}), registry.StateTrust)
}

// A row that a summary created is known to be raw before any baseline counts it.
func TestLossyFilterOnAPathDescribedBeforeItsFirstVerification(t *testing.T) {
	w := settled(t, ".gitattributes", "*.f filter", "a.go", "alpha")
	w.put("notes.f", "title")
	w.describe(t, "notes.f")
	w.put("notes.f", "title\nbody")
	w.commit()
	same(t, "verify", verdicts(w.verify(t, registry.VerifyOptions{})), []string{"mismatch stale notes.f"})
	same(t, "status", verdicts(w.status(t, registry.VerifyOptions{})), []string{"match stale notes.f"})
}

// A path is fresh directly after it was described, also with a filter.
func TestStatusOfAFilteredPathJustDescribed(t *testing.T) {
	w := settled(t, ".gitattributes", "*.f filter", "a.go", "alpha")
	w.put("notes.f", "title\nbody")
	w.describe(t, "notes.f")
	same(t, "status", verdicts(w.status(t, registry.VerifyOptions{})), []string{})
}

// The blob that a filter made proves nothing about the bytes, also for status.
func TestStatusOfANewFilteredPath(t *testing.T) {
	w := settled(t, ".gitattributes", "*.f filter", "a.go", "title")
	w.describe(t, "a.go")
	w.put("notes.f", "title\nbody")
	same(t, "status", verdicts(w.status(t, registry.VerifyOptions{})), []string{"new none notes.f"})
}

// Git uses an untracked .gitattributes, also below the root. A file that was verified before it existed, and that
// has not changed since, is judged by it.
func TestUntrackedAttributesBelowTheRootAreNoticed(t *testing.T) {
	w := settled(t, "a.go", "alpha", "dir/below/b.txt", "beta\r\n", "other/c.txt", "gamma")
	w.describe(t, "dir/below/b.txt")
	w.verify(t, registry.VerifyOptions{})
	same(t, "before", verdicts(w.status(t, registry.VerifyOptions{})), []string{})
	w.write("dir/.gitattributes", "*.txt generated")
	want := []string{"match excluded dir/below/b.txt"}
	same(t, "status", verdicts(w.status(t, registry.VerifyOptions{Paths: []repo.Path{"dir"}, All: true})), want)
	same(t, "verify", verdicts(w.verify(t, registry.VerifyOptions{Paths: []repo.Path{"dir"}, All: true})), want)
	w.verify(t, registry.VerifyOptions{})
	w.write("dir/.gitattributes", "# nothing")
	want = []string{"match fresh dir/below/b.txt"}
	same(t, "status without the line", verdicts(w.status(t, registry.VerifyOptions{Paths: []repo.Path{"dir"}, All: true})), want)
}

// A kind that was set by an attribute disappears with the attribute.
func TestKindFollowsAttributesThatGo(t *testing.T) {
	w := newFakeRepo(t)
	w.info = "*.go generated"
	w.put("a.go", "alpha")
	w.commit()
	w.verify(t, registry.VerifyOptions{})
	w.info = ""
	same(t, "verify", verdicts(w.verify(t, registry.VerifyOptions{All: true})), []string{"match none a.go"})
}

// A full run corrects the md5 if line ends changed and the blob did not.
func TestFullRefreshesTheMD5(t *testing.T) {
	w := newFakeRepo(t)
	w.autocrlf = true
	w.put("a.txt", "one\r\n")
	w.commit()
	w.verify(t, registry.VerifyOptions{})
	w.put("a.txt", "one\n")
	w.verify(t, registry.VerifyOptions{Full: true})
	rep := w.status(t, registry.VerifyOptions{All: true})
	if rep.Verdicts[0].MD5 != digest("one\n") {
		t.Errorf("md5 %s is that of other bytes", rep.Verdicts[0].MD5)
	}
}

// A proof by the index counts for every method, with any settings.
func TestSettingChangedUnderACleanIndex(t *testing.T) {
	w := newFakeRepo(t)
	w.autocrlf = true
	w.put("a.txt", "one\r\n")
	w.commit()
	w.autocrlf = false // git status: clean
	w.verify(t, registry.VerifyOptions{})
	w.describe(t, "a.txt")
	rep := w.status(t, registry.VerifyOptions{})
	if k := w.show(t, "a.txt"); len(rep.Verdicts) != 0 || rep.Counts.Fresh != 1 {
		t.Errorf("show says %s, status %q; %s %q", k.Verdict, verdicts(rep), rep.State, rep.Reasons)
	}
}

// A late text about older bytes changes no verdict.
func TestSupersededTextLeavesTrust(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	w.describe(t, "a.go")
	w.writeSummaries(t, registry.Update{Path: "a.go", Text: "x", Read: blob("older").String()})
	entered(t, w.status(t, registry.VerifyOptions{}), registry.StateTrust)
}
