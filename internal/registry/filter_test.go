package registry_test

import (
	"testing"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

// filtered returns a verified repository whose notes.f has a filter driver that keeps only the first line.
func filtered(t *testing.T) *fakeRepo {
	t.Helper()
	w := committed(t, ".gitattributes", "*.f filter", "a.go", "alpha", "notes.f", "title\nbody")
	w.verify(t, registry.VerifyOptions{})
	w.describe(t, "notes.f")
	return w
}

func TestFilteredPathsAreTheirBytes(t *testing.T) {
	w := filtered(t)
	if w.index["notes.f"].ID != blob("title") {
		t.Fatal("the filter did not filter")
	}
	if k := w.show(t, "notes.f"); k.Verdict != fresh.Fresh || k.ID != blob("title\nbody") || k.CurrentID != k.ID {
		t.Errorf("the summary is %+v", k)
	}
	rep := w.status(t, registry.VerifyOptions{})
	entered(t, rep, registry.StateTrust)
	opened(t, w)
	same(t, "counts", rep.Counts, registry.Counts{Files: 3, Match: 3, Fresh: 1, None: 2})
}

// For git nothing has changed: the blob and HEAD are the same.
func TestLossyFilterHidesNothing(t *testing.T) {
	for name, opts := range map[string]registry.VerifyOptions{"by exception": {}, "row by row": {All: true}, "by path": {Paths: []repo.Path{"notes.f"}}} {
		t.Run(name, func(t *testing.T) {
			w := filtered(t)
			w.put("notes.f", "title\nother body")
			w.commit() // with the same tree
			rep := w.status(t, opts)
			entered(t, rep, registry.StateVerify, registry.ReasonDirty)
			same(t, "found", notable(rep), []string{"mismatch stale notes.f"})
			w.verify(t, registry.VerifyOptions{})
			rep = w.status(t, registry.VerifyOptions{})
			same(t, "verified", verdicts(rep), []string{"match stale notes.f"})
			opened(t, w)
		})
	}
}

func TestFilterComesAndGoes(t *testing.T) {
	w := committed(t, ".gitattributes", "", "notes.f", "title\nbody")
	w.describe(t, "notes.f")
	w.verify(t, registry.VerifyOptions{})
	w.put(".gitattributes", "*.f filter")
	w.put("notes.f", "title\nbody")
	w.verify(t, registry.VerifyOptions{})
	if verdictOf(t, w, "notes.f") != fresh.Fresh {
		t.Error("stale, but the text was written from these bytes")
	}
	w.put(".gitattributes", "")
	w.touch("notes.f")
	w.verify(t, registry.VerifyOptions{})
	if k := w.show(t, "notes.f"); k.Verdict != fresh.Fresh || k.CurrentID != blob("title\nbody") {
		t.Errorf("the summary is %+v", k)
	}
}

// After the filter was removed from the attributes, the index still has the blob that the filter made. The blob
// was never on disk and proves nothing about the bytes.
func TestFilterGoesFromTheAttributes(t *testing.T) {
	w := filtered(t)
	w.put("other.f.txt", "title") // the same blob
	w.describe(t, "other.f.txt")
	w.put(".gitattributes", "")
	w.commit()
	ask := func(when string) {
		t.Helper()
		for name, opts := range map[string]registry.VerifyOptions{"": {}, " --all": {All: true}, " PATH": {Paths: []repo.Path{"notes.f"}}} {
			if rep := w.status(t, opts); rep.Counts.Stale != 0 {
				t.Errorf("%s, status%s: %q, and nothing is stale", when, name, verdicts(rep))
			}
		}
		if k := w.show(t, "notes.f"); k.Verdict != fresh.Fresh || k.CurrentID != blob("title\nbody") || k.ID != k.CurrentID {
			t.Errorf("%s: shown %s for content %s, want fresh for the bytes on the disk", when, k.Verdict, k.CurrentID)
		}
	}
	ask("before verify")
	w.verify(t, registry.VerifyOptions{})
	ask("after verify")
	w.verify(t, registry.VerifyOptions{Full: true})
	ask("after verify --full")
	w.touch("notes.f")
	ask("after touch")
}

func TestConversions(t *testing.T) {
	for _, c := range []struct {
		name       string
		attributes string
		stored     string // the content in the index
		disk       string
		want       repo.ID
		change     bool
	}{
		{"no conversion", "", "one\n", "one\r\n", blob("one\r\n"), true},
		{"text", "a.x text", "one\n", "one\r\n", blob("one\n"), false},
		{"text, edited", "a.x text", "one\n", "two\r\n", blob("two\n"), true},
		{"text, and CRLF in the index", "a.x text", "one\r\n", "two\r\n", blob("two\n"), true},
		{"auto", "a.x auto", "one\n", "one\r\n", blob("one\n"), false},
		{"auto, edited", "a.x auto", "one\n", "two\r\n", blob("two\n"), true},
		{"auto, and CRLF in the index", "a.x auto", "one\r\n", "two\r\n", blob("two\r\n"), true},
		{"auto, and no text", "a.x auto", "one\n", "one\x00\r\n", blob("one\x00\r\n"), true},
		{"encoding", "a.x encoding", "café", "caf\xe9", blob("café"), false},
		{"encoding, edited", "a.x encoding", "café", "th\xe9", blob("thé"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := committed(t, ".gitattributes", "", "a.x", c.stored)
			w.put(".gitattributes", c.attributes)
			w.commit()
			w.verify(t, registry.VerifyOptions{})
			w.describe(t, "a.x")
			w.write("a.x", c.disk)
			rep := w.status(t, registry.VerifyOptions{All: true})
			v := rep.Verdicts[1]
			if v.ID != c.want || (v.Content.State == fresh.Stale) != c.change || (v.Summary != fresh.Fresh) != c.change {
				t.Errorf("the verdict is %s, %s with the id %s; want the id %s, and changed: %t", v.Content, v.Summary, v.ID, c.want, c.change)
			}
			if (rep.State == registry.StateTrust) == c.change {
				t.Errorf("the entry state is %s for the reasons %q; changed should be %t", rep.State, rep.Reasons, c.change)
			}
			if k := w.show(t, "a.x"); k.CurrentID != c.want || k.CurrentMD5 != digest(c.disk) {
				t.Errorf("the summary is %+v", k)
			}
		})
	}
}

// An attributes file counts before it is tracked.
func TestUntrackedAttributesBesideTheFile(t *testing.T) {
	w := settled(t, "dir/a.x", "one\n")
	w.write("dir/.gitattributes", "a.x encoding")
	w.write("dir/a.x", "caf\xe9")
	if k := w.show(t, "dir/a.x"); k.CurrentID != blob("café") {
		t.Errorf("dir/a.x has the current id %s; want that of the converted text, %s", k.CurrentID, blob("café"))
	}
}

func TestChangedWhileGitConverts(t *testing.T) {
	w := settled(t, ".gitattributes", "a.x encoding", "a.x", "café")
	w.write("a.x", "caf\xe9")
	w.afterCleaned = func() { w.write("a.x", "th\xe9") }
	same(t, "verdicts", verdicts(w.status(t, registry.VerifyOptions{})), []string{"unknown unknown a.x"})
	w.write("a.x", "caf\xe9")
	w.afterCleaned = nil
	same(t, "at rest", verdicts(w.status(t, registry.VerifyOptions{})), []string{})
}

func TestAttributesDecideTheKind(t *testing.T) {
	attributes := "gen.go generated\nven.go vendored\nbin.go binary\nours.go -generated\nours.go -vendored\n"
	w := committed(t, ".gitattributes", attributes,
		"bin.go", "x", "gen.go", "x", "ours.go", "generated, says its head", "plain.go", "x", "ven.go", "x")
	kinds := map[string]string{}
	for _, v := range w.verify(t, registry.VerifyOptions{}).Verdicts {
		kinds[v.Path] = v.Kind.String() + " " + v.Summary.String()
	}
	same(t, "kinds", kinds, map[string]string{
		".gitattributes": "data none", "bin.go": "binary excluded", "gen.go": "generated excluded",
		"ours.go": "source none", "plain.go": "source none", "ven.go": "vendored excluded",
	})
}

// A filter that does not change a file is still a filter.
func TestFilterThatChangedNothingYet(t *testing.T) {
	w := settled(t, ".gitattributes", "*.f filter", "notes.f", "title")
	w.describe(t, "notes.f")
	w.put("notes.f", "title\nbody")
	w.commit()
	same(t, "verdicts", verdicts(w.verify(t, registry.VerifyOptions{})), []string{"mismatch stale notes.f"})
}

// While a filtered file is not checked out, its blob says nothing about the bytes that its text was written from.
// Whether it was edited is unknown.
func TestFilteredAndNotCheckedOut(t *testing.T) {
	w := filtered(t)
	kept := *w.disk["notes.f"]
	w.flag("notes.f", repo.SkipWorktree)
	w.remove("notes.f")
	want := registry.Counts{Files: 3, Match: 2, Unknown: 1, None: 2}
	for _, opts := range []registry.VerifyOptions{{}, {All: true}, {Full: true}} {
		rep := w.status(t, opts)
		entered(t, rep, registry.StateTrust)
		same(t, "found", notable(rep), []string{"unknown unknown notes.f"})
		same(t, "counts", rep.Counts, want)
	}
	w.verify(t, registry.VerifyOptions{Full: true})
	rep := w.status(t, registry.VerifyOptions{})
	entered(t, rep, registry.StateTrust)
	same(t, "verified", rep.Counts, want)
	if k := w.show(t, "notes.f"); k.Verdict != fresh.Unknown || k.Text == "" {
		t.Errorf("the summary is %+v", k)
	}

	w.index["notes.f"].Flags = 0
	w.writeIndex()
	w.write("notes.f", kept.bytes)
	same(t, "back", notable(w.verify(t, registry.VerifyOptions{})), []string{})
	if verdictOf(t, w, "notes.f") != fresh.Fresh {
		t.Error("stale, but the text was written from these bytes")
	}
}
