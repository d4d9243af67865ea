package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

func testEmpty(t *testing.T, s store.Files) {
	ctx := t.Context()
	if _, ok, err := s.LastVerification(ctx, ""); ok || err != nil {
		t.Errorf("LastVerification = %v, %v", ok, err)
	}
	if rows := Rows(t, s, ""); len(rows) != 0 {
		t.Errorf("Rows = %v", rows)
	}
	if m, err := s.RowsOf(ctx, "", []repo.Path{"a"}); len(m) != 0 || err != nil {
		t.Errorf("RowsOf = %v, %v", m, err)
	}
	if m, err := s.Exceptions(ctx, "", store.MarksUnproven); len(m) != 0 || err != nil {
		t.Errorf("Exceptions = %v, %v", m, err)
	}
	if n, err := s.Counts(ctx, ""); n != (store.FileCounts{}) || err != nil {
		t.Errorf("Counts = %v, %v", n, err)
	}
	if m, err := s.NewestBases(ctx, []repo.Content{Content("x"), {}}); len(m) != 0 || err != nil {
		t.Errorf("NewestBases = %v, %v", m, err)
	}
	if m, err := s.Newest(ctx, []repo.Content{Content("x"), {}}); len(m) != 0 || err != nil {
		t.Errorf("Newest = %v, %v", m, err)
	}
	if _, ok, err := s.Record(ctx, fresh.Digest{1}); ok || err != nil {
		t.Errorf("Record = %v, %v", ok, err)
	}
	if found, err := s.HeadersAt(ctx, []repo.Path{"a"}); len(found) > 0 || err != nil {
		t.Errorf("HeadersAt = %v, %v", found, err)
	}
	if paths, now, err := s.PathsSince(ctx, 0); len(paths) > 0 || now != 0 || err != nil {
		t.Errorf("PathsSince = %v, %d, %v", paths, now, err)
	}
	if _, ok, err := s.NewestAt(ctx, "a"); ok || err != nil {
		t.Errorf("NewestAt = %v, %v", ok, err)
	}
}

func testZeroChange(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{})
	Commit(t, s, "", store.FileChanges{Worktrees: []string{""}})
	testEmpty(t, s)
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "x")}})
	Commit(t, s, "", store.FileChanges{})
	equal(t, "rows", Rows(t, s, ""), []store.FileRow{Row("a", "x")})
}

func testRows(t *testing.T, s store.Files) {
	full := store.FileRow{
		Path: "dir/\xff\xfe\n\"name\x00\x7f", Kind: repo.KindGenerated, Mode: repo.Executable,
		Content: repo.Content{ID: ID256("sha256"), MD5: Content("sha256").MD5},
		Stat:    repo.Stat{Size: 1 << 40, Mtime: -1, Ctime: 1<<63 - 1, Inode: 1<<64 - 1},
		Marks:   store.MarkRaw | store.MarkDiffersFromIndex, Excluded: "generated", SummaryBasis: basisOf("other"),
	}
	rows := []store.FileRow{
		{Path: "bare"},
		{Path: "by md5 alone", Kind: repo.KindDoc, Mode: repo.Symlink, Content: repo.Content{MD5: Content("x").MD5}, SummaryBasis: md5Of("x")},
		full,
		{Path: "link", Kind: repo.KindGitlink, Mode: repo.Gitlink, Content: repo.Content{ID: ID("commit")}},
		{Path: "stale by sha256", Content: Content("y"), SummaryBasis: fresh.Basis{Content: repo.Content{ID: ID256("z")}}},
	}
	Commit(t, s, "", store.FileChanges{Put: slices.Clone(rows)})
	equal(t, "rows", Rows(t, s, ""), rows)

	some, err := s.RowsOf(t.Context(), "", []repo.Path{full.Path, "absent", "bare", "bare", ""})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "rows of", some, map[repo.Path]store.FileRow{full.Path: full, "bare": rows[0]})

	odd, err := s.Exceptions(t.Context(), "", store.MarksUnproven)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "exceptions", odd, map[repo.Path]store.FileRow{full.Path: full, "stale by sha256": rows[4]})

	// If a basis has an id and an md5, the store compares and stores only the id.
	both := Row("both", "now")
	both.SummaryBasis = fresh.Basis{Content: Content("before")}
	Commit(t, s, "two", store.FileChanges{Put: []store.FileRow{both}})
	both.SummaryBasis = basisOf("before")
	equal(t, "a basis with id and md5", Rows(t, s, "two"), []store.FileRow{both})
}

func testOrder(t *testing.T, s store.Files) {
	paths := []repo.Path{"\xff", "b", "a", "a/b", "a-b", "a\xff", "Ä", "B", "a\x00b", "\x01", "aa", "a.go"}
	var put []store.FileRow
	for _, p := range paths {
		put = append(put, Row(p, string(p)))
	}
	Commit(t, s, "", store.FileChanges{Put: put})
	slices.Sort(paths)
	var got []repo.Path
	for _, r := range Rows(t, s, "") {
		got = append(got, r.Path)
	}
	equal(t, "order", got, paths)
}

func testReplace(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "1"), Row("a", "2"), Row("b", "1")}})
	equal(t, "the last wins", Rows(t, s, ""), []store.FileRow{Row("a", "2"), Row("b", "1")})
	other := store.FileRow{Path: "a", Kind: repo.KindLFS, Mode: repo.Symlink, Marks: store.MarkConverted, Excluded: "lfs"}
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{other}})
	equal(t, "replaced whole", Rows(t, s, ""), []store.FileRow{other, Row("b", "1")})
}

func testDelete(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "1"), Row("b", "2"), Row("c\xff", "3")}})
	Commit(t, s, "", store.FileChanges{Delete: []repo.Path{"a", "absent", "a", "c\xff"}})
	equal(t, "rows", Rows(t, s, ""), []store.FileRow{Row("b", "2")})
	Commit(t, s, "never seen", store.FileChanges{Delete: []repo.Path{"b"}})
	equal(t, "rows", Rows(t, s, ""), []store.FileRow{Row("b", "2")})
	wantTally(t, s, "", store.FileCounts{Files: 1, None: 1})
}

func testPutAndDelete(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "1")}, Delete: []repo.Path{"a"}})
	equal(t, "rows", Rows(t, s, ""), nil)
	wantTally(t, s, "", store.FileCounts{})
}

func testWorktreesApart(t *testing.T, s store.Files) {
	names := []string{"", "two", "\xff\n", "it's"}
	for i, name := range names {
		Commit(t, s, name, store.FileChanges{Put: []store.FileRow{Row("a", fmt.Sprint(i))}})
	}
	for i, name := range names {
		equal(t, "rows of "+name, Rows(t, s, name), []store.FileRow{Row("a", fmt.Sprint(i))})
	}
	Commit(t, s, "two", store.FileChanges{Delete: []repo.Path{"a"}})
	equal(t, "rows of two", Rows(t, s, "two"), nil)
	equal(t, "rows of main", Rows(t, s, ""), []store.FileRow{Row("a", "0")})
}

func testPrune(t *testing.T, s store.Files) {
	for _, name := range []string{"", "two", "three"} {
		Commit(t, s, name, store.FileChanges{
			Put: []store.FileRow{Row("a", name)}, Verification: &store.Verification{Head: ID(name)},
			Records: []fresh.Record{Record("about "+name, name, 0)},
		})
	}
	check := func(name string, want int) {
		t.Helper()
		if n := len(Rows(t, s, name)); n != want {
			t.Errorf("%q has %d rows, want %d", name, n, want)
		}
		if _, ok, err := s.LastVerification(t.Context(), name); err != nil || ok != (want > 0) {
			t.Errorf("%q has a baseline: %v, %v", name, ok, err)
		}
		wantTally(t, s, name, store.FileCounts{Files: want, Fresh: want})
	}
	Commit(t, s, "", store.FileChanges{Delete: []repo.Path{"none"}, Worktrees: []string{"", "three", "new"}})
	check("", 1)
	check("two", 0)
	check("three", 1)
	// Alone, without any other change.
	Commit(t, s, "", store.FileChanges{Worktrees: []string{"three"}})
	check("", 0)
	check("three", 1)
	known, err := s.NewestBases(t.Context(), []repo.Content{Content("two")})
	if err != nil || len(known) != 1 {
		t.Errorf("pruning a work tree removed the record of its content: %v, %v", known, err)
	}
	// A pruned work tree can be added again.
	Commit(t, s, "two", store.FileChanges{Put: []store.FileRow{Row("b", "two")}})
	wantTally(t, s, "two", store.FileCounts{Files: 1, Fresh: 1})
}

func testBaseline(t *testing.T, s store.Files) {
	full := store.Verification{
		Head: ID("head"), Tree: ID256("tree"), Index: ID("index"), Clean: true, Policy: "p1", Raw: 3,
		Upstream: repo.Upstream{Ref: "refs/remotes/origin/main", Commit: ID("up"), Known: true, Ahead: 1, Behind: 2},
		At:       time.Date(2026, 5, 6, 7, 8, 9, 123456789, time.FixedZone("", 3600)),
	}
	for _, b := range []store.Verification{full, {}, {At: Epoch}, full} {
		for _, name := range []string{"", "two"} {
			Commit(t, s, name, store.FileChanges{Verification: &b})
			got, ok, err := s.LastVerification(t.Context(), name)
			if !ok || err != nil {
				t.Fatalf("LastVerification = %v, %v", ok, err)
			}
			equal(t, "baseline", ageless(got), b)
			if got.At.Location() != time.UTC {
				t.Errorf("At is in %v, want UTC", got.At.Location())
			}
		}
	}
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "x")}})
	got, ok, err := s.LastVerification(t.Context(), "")
	if !ok || err != nil {
		t.Fatalf("LastVerification = %v, %v", ok, err)
	}
	unsettled := full
	unsettled.Clean, unsettled.Index = false, repo.ID{}
	equal(t, "baseline after rows without one", ageless(got), unsettled)
	Commit(t, s, "", store.FileChanges{Verification: &full, Put: []store.FileRow{Row("b", "x")}})
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{Record("about y", "y", 0)}})
	if got, _, _ = s.LastVerification(t.Context(), ""); !got.Clean {
		t.Error("a new record changed the baseline")
	}
	refused := store.FileChanges{Verification: &store.Verification{Head: ID("other")}, Delete: []repo.Path{"b"}}
	if err := s.Commit(t.Context(), "", Current(t, s, "", refused), func() (bool, error) { return false, nil }); err != nil {
		t.Fatal(err)
	}
	got, _, err = s.LastVerification(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "baseline after rows whose own was refused", ageless(got), unsettled)
	Commit(t, s, "rows only", store.FileChanges{Put: []store.FileRow{Row("a", "x")}})
	if _, ok, err := s.LastVerification(t.Context(), "rows only"); ok || err != nil {
		t.Errorf("LastVerification of rows alone = %v, %v", ok, err)
	}
}

// ageless returns b without its generation, because stores may choose different numbers.
func ageless(b store.Verification) store.Verification {
	b.Generation = 0
	return b
}

func testGeneration(t *testing.T, s store.Files) {
	first := Current(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "1")}, Verification: &store.Verification{Head: ID("1"), Clean: true}})
	late := Current(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "2")}, Verification: &store.Verification{Head: ID("2"), Clean: true}})
	Commit(t, s, "", first)
	if err := s.Commit(t.Context(), "", late, nil); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows land either way", Rows(t, s, ""), []store.FileRow{Row("a", "2")})
	if b, _, _ := s.LastVerification(t.Context(), ""); b.Head != ID("1") || b.Clean {
		t.Errorf("the store set a baseline that is older than the rows of another commit: %+v", b)
	}
	// Rows alone count, and so do deletions; records do not.
	for name, c := range map[string]store.FileChanges{
		"put": {Put: []store.FileRow{Row("b", "1")}}, "delete": {Delete: []repo.Path{"a"}},
		"record": {Records: []fresh.Record{Record("about z", "z", 0)}},
	} {
		next := Current(t, s, "", store.FileChanges{Verification: &store.Verification{Head: ID(name)}})
		Commit(t, s, "", c)
		if err := s.Commit(t.Context(), "", next, nil); err != nil {
			t.Fatal(err)
		}
		b, _, _ := s.LastVerification(t.Context(), "")
		if landed := b.Head == ID(name); landed != (name == "record") {
			t.Errorf("after a concurrent %s, the baseline was set: %v", name, landed)
		}
	}
}

func testStill(t *testing.T, s store.Files) {
	c := store.FileChanges{
		Put: []store.FileRow{Row("a", "x")}, Records: []fresh.Record{Record("about x", "x", 0)},
		Verification: &store.Verification{Head: ID("1")},
	}
	if err := s.Commit(t.Context(), "", c, func() (bool, error) { return false, nil }); err != nil {
		t.Fatal(err)
	}
	wantTally(t, s, "", store.FileCounts{Files: 1, Fresh: 1})
	if _, ok, _ := s.LastVerification(t.Context(), ""); ok {
		t.Error("the store set a baseline although still returned false")
	}
	if err := s.Commit(t.Context(), "", Current(t, s, "", c), nil); err != nil {
		t.Fatal(err)
	}
	if b, ok, _ := s.LastVerification(t.Context(), ""); !ok || b.Head != ID("1") {
		t.Error("the store did not set a baseline without still")
	}
}

func testStillFails(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{
		Put: []store.FileRow{Row("a", "x"), Row("gone", "y")}, Verification: &store.Verification{Head: ID("1")},
	})
	Commit(t, s, "two", store.FileChanges{Put: []store.FileRow{Row("a", "new")}})
	errGit := errors.New("git failed")
	c := Current(t, s, "", store.FileChanges{
		Records: []fresh.Record{Record("about new", "new", 0)},
		Put:     []store.FileRow{Row("a", "new"), Row("b", "new")}, Delete: []repo.Path{"gone"},
		Verification: &store.Verification{Head: ID("2")}, Worktrees: []string{""},
	})
	err := s.Commit(t.Context(), "", c, func() (bool, error) { return true, errGit })
	if !errors.Is(err, errGit) {
		t.Fatalf("err = %v", err)
	}
	equal(t, "rows", Rows(t, s, ""), []store.FileRow{Row("a", "x"), Row("gone", "y")})
	equal(t, "rows of two", Rows(t, s, "two"), []store.FileRow{Row("a", "new")})
	wantTally(t, s, "", store.FileCounts{Files: 2, None: 2})
	if b, _, _ := s.LastVerification(t.Context(), ""); b.Head != ID("1") {
		t.Errorf("head = %v", b.Head)
	}
	if known, err := s.NewestBases(t.Context(), []repo.Content{Content("new")}); err != nil || len(known) > 0 {
		t.Errorf("NewestBases = %v, %v", known, err)
	}
}

func testStillUnasked(t *testing.T, s store.Files) {
	err := s.Commit(t.Context(), "", store.FileChanges{Put: []store.FileRow{Row("a", "x")}}, func() (bool, error) {
		return false, errors.New("asked")
	})
	if err != nil {
		t.Error(err)
	}
}

// A record that is dated more than a day ahead would be the newest for ever.
func testAhead(t *testing.T, s store.Files) {
	now := Record("of today", "x", 5)
	ahead := Record("of the year 9999", "x", 6)
	ahead.At = time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	alone := Record("alone", "y", 6)
	alone.At, alone.Path = time.Now().Add(fresh.MaxClockSkew+time.Hour).UTC().Truncate(time.Microsecond), "y.go"
	soon := Record("soon", "z", 7)
	soon.At, soon.Path = time.Now().Add(fresh.MaxClockSkew-time.Hour).UTC().Truncate(time.Microsecond), "z.go"
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{now, ahead, alone, soon}, Put: []store.FileRow{Row("y.go", "y")}})
	contents := []repo.Content{Content("x"), Content("y"), Content("z")}
	newest, err := s.Newest(t.Context(), contents)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the newest", newest, map[repo.Content]fresh.Record{Content("x"): now, Content("z"): soon})
	known, err := s.NewestBases(t.Context(), contents)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "newest bases", known, map[repo.Content]fresh.Basis{Content("x"): basisOf("x"), Content("z"): basisOf("z")})
	for path, want := range map[repo.Path]string{"a.go": now.Text, "y.go": "", "z.go": soon.Text} {
		if r, ok, err := s.NewestAt(t.Context(), path); err != nil || r.Text != want || ok != (want != "") {
			t.Errorf("the newest at %s is %q, %v; want %q", path, r.Text, err, want)
		}
	}
	written, err := s.HeadersAt(t.Context(), []repo.Path{"a.go", "y.go"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "headers", written, map[repo.Path][]store.RecordHeader{"a.go": {{Basis: now.Basis, At: now.At, ID: now.ID()}}})
	if _, ok, err := s.Record(t.Context(), ahead.ID()); ok || err != nil {
		t.Errorf("the record of the year 9999 is found by its id: %v, %v", ok, err)
	}
	if rows := Rows(t, s, ""); !rows[0].SummaryBasis.IsZero() {
		t.Errorf("the basis of the row is %v, want none: the only record for its content is in the future", rows[0].SummaryBasis)
	}
}

// testWrittenSince: a mark tells records that were there from those that came later.
func testWrittenSince(t *testing.T, s store.Files) {
	at := func(path repo.Path, text string) fresh.Record {
		r := Record(text, text, 5)
		r.Path = path
		return r
	}
	since := func(mark int64, want ...repo.Path) int64 {
		t.Helper()
		paths, now, err := s.PathsSince(t.Context(), mark)
		if err != nil || !slices.Equal(paths, want) {
			t.Errorf("records since %d were written at %q, %v; want %q", mark, paths, err, want)
		}
		return now
	}
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{at("b", "x"), at("a", "y"), at("a", "z")}})
	first := since(0, "a", "b")
	since(first)
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{at("b", "x"), at("\xff", "w")}})
	second := since(first, "\xff")
	since(second)
	since(0, "a", "b", "\xff")
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{at("b", "x")}})
	if now := since(second); now != second {
		t.Errorf("the mark is %d after a record that was there already, want %d", now, second)
	}
}

func testMD5OnlyRows(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "x"), Row("b", "y")}})
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{md5Record("by md5", "x", 0)}})
	noID := repo.Content{MD5: Content("x").MD5}
	wantTally(t, s, "", store.FileCounts{Files: 2, Fresh: 1, None: 1})
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("c", "x"), {Path: "d", Content: noID}}})
	wantTally(t, s, "", store.FileCounts{Files: 4, Fresh: 3, None: 1})

	// The newest of both sorts is the one shown.
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{Record("by id", "x", 1)}})
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{md5Record("by md5 again", "x", 2)}})
	rows, err := s.RowsOf(t.Context(), "", []repo.Path{"a"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "about", rows["a"].SummaryBasis, md5Of("x"))
}

func testManyRows(t *testing.T, s store.Files) {
	const n = 3000
	var put []store.FileRow
	records, _, _ := manyRecords(n)
	for i := range n {
		put = append(put, Row(repo.Path(fmt.Sprintf("d%02d/f%04d", i%7, i)), fmt.Sprint(i)))
	}
	Commit(t, s, "", store.FileChanges{Records: records, Put: put})
	wantTally(t, s, "", store.FileCounts{Files: n, Fresh: 2 * n / 3, None: n / 3})
}

func testRecordsReachRows(t *testing.T, s store.Files) {
	for _, name := range []string{"", "two", "three"} {
		stale := Row("b", "y")
		stale.SummaryBasis = basisOf("before")
		excluded := Row("c", "x")
		excluded.Excluded = "vendored"
		Commit(t, s, name, store.FileChanges{Put: []store.FileRow{Row("a", "x"), stale, excluded}})
	}
	Commit(t, s, "two", store.FileChanges{Records: []fresh.Record{Record("about x", "x", 0), Record("about y", "y", 0)}})
	for _, name := range []string{"", "two", "three"} {
		wantTally(t, s, name, store.FileCounts{Files: 3, Fresh: 2, Excluded: 1})
		rows := Rows(t, s, name)
		equal(t, "about", rows[0].SummaryBasis, basisOf("x"))
		equal(t, "about", rows[1].SummaryBasis, basisOf("y"))
		equal(t, "about", rows[2].SummaryBasis, basisOf("x"))
	}
}

func testPutFindsRecord(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{
		Records: []fresh.Record{Record("about x", "x", 0)},
		Put:     []store.FileRow{Row("a", "x")},
	})
	equal(t, "about", Rows(t, s, "")[0].SummaryBasis, basisOf("x"))
	wrong := Row("b", "x")
	wrong.SummaryBasis = basisOf("something else")
	Commit(t, s, "two", store.FileChanges{Put: []store.FileRow{wrong}})
	equal(t, "about", Rows(t, s, "two")[0].SummaryBasis, basisOf("x"))
	kept := Row("c", "y")
	kept.SummaryBasis = basisOf("x")
	Commit(t, s, "two", store.FileChanges{Put: []store.FileRow{kept}})
	equal(t, "about", Rows(t, s, "two")[1].SummaryBasis, basisOf("x"))
	wantTally(t, s, "two", store.FileCounts{Files: 2, Fresh: 1, Stale: 1})
}

func testRestored(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "x")}, Records: []fresh.Record{Record("about x", "x", 0)}})
	edited := Row("a", "y")
	edited.SummaryBasis = basisOf("x")
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{edited}})
	wantTally(t, s, "", store.FileCounts{Files: 1, Stale: 1})
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "x")}})
	wantTally(t, s, "", store.FileCounts{Files: 1, Fresh: 1})
}

func testSpared(t *testing.T, s store.Files) {
	row := Row("a", "y")
	row.SummaryBasis, row.Marks = basisOf("x"), store.MarkUncounted
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{row, Row("b", "z")}, Records: []fresh.Record{Record("about x", "x", 0)}})
	wantTally(t, s, "", store.FileCounts{Files: 2, Fresh: 1, None: 1})
	equal(t, "row", Rows(t, s, "")[0], row)
	if odd, err := s.Exceptions(t.Context(), "", store.MarksUnproven); err != nil || len(odd) != 1 {
		t.Errorf("exceptions: %v, %v", odd, err)
	}
	row.Marks = 0
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{row}})
	wantTally(t, s, "", store.FileCounts{Files: 2, Stale: 1, None: 1})
	row.Marks = store.MarkUncounted
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{row}})
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{Record("about y", "y", 1)}})
	wantTally(t, s, "", store.FileCounts{Files: 2, Fresh: 1, None: 1})
	Commit(t, s, "", store.FileChanges{Delete: []repo.Path{"a"}})
	wantTally(t, s, "", store.FileCounts{Files: 1, None: 1})
}

func testOlderRecord(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "x")}, Records: []fresh.Record{md5Record("new", "x", 9)}})
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{Record("old, from a spool", "x", 1)}})
	equal(t, "about", Rows(t, s, "")[0].SummaryBasis, md5Of("x"))
}

func wantTally(t testing.TB, s store.Files, worktree string, want store.FileCounts) {
	t.Helper()
	got, err := s.Counts(t.Context(), worktree)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("tally of %q = %+v, want %+v", worktree, got, want)
	}
}

func testTally(t *testing.T, s store.Files) {
	row := func(path repo.Path, text, about, excluded string) store.FileRow {
		r := Row(path, text)
		r.Excluded = excluded
		if about != "" {
			r.SummaryBasis = basisOf(about)
		}
		return r
	}
	unknown := store.FileRow{Path: "conflicted", SummaryBasis: basisOf("x")}
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{
		row("f", "x", "x", ""), row("s", "y", "x", ""), row("n", "z", "", ""), row("e", "x", "x", "binary"), unknown,
	}})
	wantTally(t, s, "", store.FileCounts{Files: 5, Fresh: 1, Stale: 2, None: 1, Excluded: 1})

	// Enough of them that single changes are counted one by one.
	var many []store.FileRow
	for i := range 200 {
		many = append(many, row(repo.Path(fmt.Sprintf("m%03d", i)), fmt.Sprint(i), "", ""))
	}
	Commit(t, s, "", store.FileChanges{Put: many})
	wantTally(t, s, "", store.FileCounts{Files: 205, Fresh: 1, Stale: 2, None: 201, Excluded: 1})
	Commit(t, s, "", store.FileChanges{
		Put:    []store.FileRow{row("f", "y", "x", ""), row("e", "x", "x", ""), row("new", "q", "", ""), row("new", "q", "", "data")},
		Delete: []repo.Path{"n", "n", "m000", "absent"},
	})
	wantTally(t, s, "", store.FileCounts{Files: 204, Fresh: 1, Stale: 3, None: 199, Excluded: 1})
	Commit(t, s, "", store.FileChanges{
		Records: []fresh.Record{Record("about y", "y", 0), Record("about 7", "7", 0), Record("about q", "q", 0)},
		Put:     []store.FileRow{row("m007", "7b", "", "")}, Delete: []repo.Path{"f"},
	})
	wantTally(t, s, "", store.FileCounts{Files: 203, Fresh: 2, Stale: 1, None: 199, Excluded: 1})
	Commit(t, s, "", store.FileChanges{Put: many})
	wantTally(t, s, "", store.FileCounts{Files: 204, Fresh: 3, Stale: 1, None: 199, Excluded: 1})
}

func testReentrant(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "x"), Row("b", "y"), Row("c", "z")}})
	var got []repo.Path
	for r, err := range s.Rows(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Path)
		if _, err := s.NewestBases(t.Context(), []repo.Content{r.Content}); err != nil {
			t.Fatal(err)
		}
		Commit(t, s, "", store.FileChanges{Delete: []repo.Path{"a", "b", "c"}})
	}
	equal(t, "paths", got, []repo.Path{"a", "b", "c"})
}

func testBreak(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "x"), Row("b", "y")}})
	for range s.Rows(t.Context(), "") {
		break
	}
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("c", "z")}})
	equal(t, "rows", len(Rows(t, s, "")), 3)
}

func testCancelled(t *testing.T, s store.Files) {
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "x")}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	want := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s returned the error %v; want the cancellation", what, err)
		}
	}
	_, _, err := s.LastVerification(ctx, "")
	want("LastVerification", err)
	rows := 0
	for _, err := range s.Rows(ctx, "") {
		want("Rows", err)
		rows++
	}
	if rows != 1 {
		t.Errorf("Rows yielded %d times", rows)
	}
	_, err = s.RowsOf(ctx, "", []repo.Path{"a"})
	want("RowsOf", err)
	_, err = s.Exceptions(ctx, "", store.MarksUnproven)
	want("Exceptions", err)
	_, err = s.Counts(ctx, "")
	want("Counts", err)
	_, err = s.NewestBases(ctx, []repo.Content{Content("x")})
	want("Known", err)
	_, err = s.Newest(ctx, []repo.Content{Content("x")})
	want("Newest", err)
	_, _, err = s.Record(ctx, fresh.Digest{1})
	want("Record", err)
	_, _, err = s.NewestAt(ctx, "a")
	want("NewestAt", err)
	_, err = s.HeadersAt(ctx, []repo.Path{"a"})
	want("HeadersAt", err)
	_, _, err = s.PathsSince(ctx, 0)
	want("PathsSince", err)
	want("Commit", s.Commit(ctx, "", store.FileChanges{Put: []store.FileRow{Row("b", "y")}}, nil))
	equal(t, "rows", Rows(t, s, ""), []store.FileRow{Row("a", "x")})
}

func testConcurrent(t *testing.T, s store.Files) {
	const writers, each = 4, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				text := fmt.Sprintf("%d/%d", w, i)
				// A row and its record land together, or the count is wrong below.
				err := s.Commit(t.Context(), fmt.Sprint(w%2), store.FileChanges{
					Records:      []fresh.Record{Record("about "+text, text, i)},
					Put:          []store.FileRow{Row(repo.Path(text), text)},
					Verification: &store.Verification{Head: ID(text)},
				}, func() (bool, error) { return i%2 == 0, nil })
				if err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range each {
				n := 0
				for r, err := range s.Rows(t.Context(), fmt.Sprint(w%2)) {
					if err != nil {
						t.Error(err)
						return
					}
					if !r.SummaryBasis.Matches(r.Content) {
						t.Errorf("the row %v has a basis without a record", r.Path)
					}
					n++
				}
				tally, err := s.Counts(t.Context(), fmt.Sprint(w%2))
				if err != nil || tally.Files < n || tally.Fresh != tally.Files {
					t.Errorf("tally %+v, %v; saw %d rows", tally, err, n)
				}
			}
		})
	}
	wg.Wait()
	for _, name := range []string{"0", "1"} {
		wantTally(t, s, name, store.FileCounts{Files: writers / 2 * each, Fresh: writers / 2 * each})
	}
}
