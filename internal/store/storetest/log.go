package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Log stores records of files and directories, for one machine or for a team.
type Log interface {
	store.Records
	store.Directories
	// Newest is a method of [store.Files].
	Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error)
}

// RunLog runs the tests of records. Every call of open must return a new, empty store.
func RunLog(t *testing.T, open func(t *testing.T) Log) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, func(*testing.T) Log)
	}{
		{"an empty store has nothing to share", testShareEmpty},
		{"since returns each record once, in order", testSince},
		{"since returns only the latest outline", testShareOutlines},
		{"a mark of another store means the beginning", testForeignMark},
		{"added records are unchanged, also after a second time", testAddRecords},
		{"records in the future are neither added nor returned", testAddRecordsInFuture},
		{"a cancelled context stops everything", testShareCancelled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
	for _, c := range []struct {
		name string
		test func(*testing.T, Log)
	}{
		{"records of files are read unchanged", testRecords},
		{"adding the record of a file twice changes nothing", testDuplicates},
		{"of records at the same time, the one with the highest id is the newest", testNewest},
		{"a record with only an md5 matches every content with this md5", testMD5Only},
		{"the id of a content takes precedence over the md5", testIDsDecide},
		{"many contents at once", testMany},
		{"an empty store has no directories", testDirectoriesEmpty},
		{"directory records are read unchanged", testDirectories},
		{"keeping a record twice changes nothing", testKeptAlready},
		{"the store copies records", testRecordIsOwn},
		{"two directories can have the same record", testTwoPlaces},
		{"latest is the newest outline and the newest other", testLatest},
		{"a record in the future is ignored", testDirectoryAhead},
		{"written from finds records of a basis at any path", testWrittenFrom},
		{"written of returns summaries without outlines, newest first", testWrittenOf},
		{"a newer record removes a failure", testFailures},
		{"many directories at once", testManyDirectories},
		{"a cancelled context stops everything about directories", testDirectoriesCancelled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
	t.Run("random records have the same result as the reference", func(t *testing.T) { testRecordsModel(t, open) })
	t.Run("random surveys have the same result as the reference", func(t *testing.T) { testDirectoriesModel(t, open) })
}

// Since returns all records of a store after a mark. It calls the store with the limit most.
func Since(t testing.TB, s store.Records, mark store.Mark, most int) ([]store.Record, store.Mark) {
	t.Helper()
	var all []store.Record
	for range 10_000 {
		list, next, err := s.Since(t.Context(), mark, most)
		if err != nil {
			t.Fatalf("since %q: %v", mark, err)
		}
		if len(list) > most {
			t.Fatalf("Since returned %d records, want at most %d", len(list), most)
		}
		mark = next
		if len(list) == 0 {
			return all, mark
		}
		all = append(all, list...)
	}
	t.Fatal("Since does not reach an end")
	return nil, ""
}

// AddRecords adds records, which must succeed.
func AddRecords(t testing.TB, s store.Records, list ...store.Record) {
	t.Helper()
	if err := s.AddRecords(t.Context(), list); err != nil {
		t.Fatalf("add records: %v", err)
	}
}

func ofFile(r fresh.Record) store.Record { return store.Record{File: &r} }

func ofDir(r *store.DirRecord) store.Record { return store.Record{Directory: r} }

// encoded returns records as JSON, to compare them.
func encoded(list []store.Record) []string {
	var out []string
	for _, r := range list {
		b, err := json.Marshal(r)
		if err != nil {
			panic(err) // plain data always encodes
		}
		out = append(out, string(b))
	}
	return out
}

func testShareEmpty(t *testing.T, open func(*testing.T) Log) {
	s := open(t)
	for _, mark := range []store.Mark{"", "nonsense", "7:abc 9:def"} {
		if list, _ := Since(t, s, mark, 10); len(list) > 0 {
			t.Errorf("since %q: %v", mark, list)
		}
	}
	AddRecords(t, s)
	if list, _ := Since(t, s, "", 10); len(list) > 0 {
		t.Errorf("after adding no records, Since returned %v; want nothing", list)
	}
}

// filesFirst returns the records of files before those of directories, each in their order.
func filesFirst(list []store.Record) []store.Record {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b store.Record) int {
		switch {
		case a.File != nil && b.File == nil:
			return -1
		case a.File == nil && b.File != nil:
			return 1
		}
		return 0
	})
	return sorted
}

func testSince(t *testing.T, open func(*testing.T) Log) {
	s := open(t)
	one, two := Record("one", "a", 5), Record("two", "b", 1)
	md5Only := Record("three", "c", 2)
	md5Only.Basis, md5Only.Assumed, md5Only.Confirmer, md5Only.Path = md5Of("c"), true, "bob", "\xff"
	AddRecords(t, s, ofFile(one), ofFile(two))
	first, mark := Since(t, s, "", 100)
	equal(t, "the first", encoded(first), encoded([]store.Record{ofFile(one), ofFile(two)}))

	x, y := Directory("x", "x", 3), Directory("y", "y", 2)
	y.Flags = []store.DirFlag{{Path: "y/\xff", Severity: "info", Finding: "f"}}
	SaveDirRecords(t, s, x)
	AddRecords(t, s, ofFile(md5Only), ofFile(one))
	SaveDirRecords(t, s, y, x)
	later, end := Since(t, s, mark, 100)
	second := []store.Record{ofFile(md5Only), ofDir(x), ofDir(y)}
	equal(t, "the second", encoded(filesFirst(later)), encoded(second))
	if again, _ := Since(t, s, end, 100); len(again) > 0 {
		t.Errorf("records after the end: %v", again)
	}
	for most := 1; most < 4; most++ {
		all, last := Since(t, s, "", most)
		want := []store.Record{ofFile(one), ofFile(two), ofFile(md5Only), ofDir(x), ofDir(y)}
		equal(t, fmt.Sprint("in steps of ", most), encoded(filesFirst(all)), encoded(want))
		equal(t, "the mark", last, end)
	}
}

func testShareOutlines(t *testing.T, open func(*testing.T) Log) {
	s := open(t)
	SaveDirRecords(t, s, Outlined("a", "one", 1), Directory("a", "summary", 0), Outlined("b", "one", 9))
	_, mark := Since(t, s, "", 1)
	SaveDirRecords(t, s, Outlined("a", "two", 2), Directory("a", "later summary", 3), Outlined("b", "older", 8))
	all, _ := Since(t, s, "", 2)
	equal(t, "all", encoded(all), encoded([]store.Record{
		ofDir(Directory("a", "summary", 0)), ofDir(Outlined("b", "one", 9)),
		ofDir(Outlined("a", "two", 2)), ofDir(Directory("a", "later summary", 3)),
	}))
	later, _ := Since(t, s, mark, 2)
	newer := []store.Record{ofDir(Outlined("a", "two", 2)), ofDir(Directory("a", "later summary", 3))}
	equal(t, "later", encoded(later), encoded(newer))
}

func testForeignMark(t *testing.T, open func(*testing.T) Log) {
	s, other := open(t), open(t)
	for i := range 5 {
		AddRecords(t, s, ofFile(Record("here", fmt.Sprint(i), i)), ofDir(Directory("d", fmt.Sprint(i), i)))
		AddRecords(t, other, ofFile(Record("there", fmt.Sprint(i), i)), ofDir(Directory("d", fmt.Sprint("there", i), i)))
	}
	_, mark := Since(t, other, "", 100)
	for s, want := range map[store.Records]bool{s: false, other: true} {
		if _, now, err := s.Since(t.Context(), mark, 0); (now == mark) != want || err != nil {
			t.Errorf("mark %q becomes %q, %v", mark, now, err)
		}
	}
	if list, _ := Since(t, s, mark, 3); len(list) != 10 {
		t.Errorf("Since returned %d records for the mark of another store", len(list))
	}
}

func testAddRecords(t *testing.T, open func(*testing.T) Log) {
	from, to := open(t), open(t)
	AddRecords(t, from, ofFile(Record("one", "a", 1)), ofFile(Record("two", "a", 2)))
	SaveDirRecords(t, from, Directory("", "root", 1), Outlined("x\xff", "x", 2), Directory("x\xff", "x", 3))
	all, _ := Since(t, from, "", 100)
	AddRecords(t, to, slices.Concat(all[2:], all[:1])...)
	for range 2 {
		AddRecords(t, to, all...)
	}
	got, _ := Since(t, to, "", 100)
	g, w := encoded(got), encoded(all)
	slices.Sort(g)
	slices.Sort(w)
	equal(t, "what arrived", g, w)
	newest, err := to.Newest(t.Context(), []repo.Content{Content("a")})
	if err != nil || newest[Content("a")].Text != "two" {
		t.Errorf("newest: %v, %v", newest, err)
	}
	want, err := from.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantLatest(t, to, want)
	// It travels on, as something that is new here.
	if len(got) != 5 {
		t.Errorf("Since returned %d added records, want 5", len(got))
	}
}

func testAddRecordsInFuture(t *testing.T, open func(*testing.T) Log) {
	s := open(t)
	file, directory := Record("about x", "x", 0), Directory("d", "x", 0)
	file.At = time.Now().Add(fresh.MaxClockSkew + time.Hour)
	directory.At = file.At
	AddRecords(t, s, ofFile(file), ofDir(directory), ofFile(Record("of today", "x", 1)))
	if files, ok := s.(store.Files); ok {
		Commit(t, files, "", store.FileChanges{Records: []fresh.Record{file}})
	}
	SaveDirRecords(t, s, directory)
	list, _ := Since(t, s, "", 1)
	equal(t, "what travels", encoded(list), encoded([]store.Record{ofFile(Record("of today", "x", 1))}))
}

func testShareCancelled(t *testing.T, open func(*testing.T) Log) {
	s := open(t)
	AddRecords(t, s, ofFile(Record("about x", "x", 0)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Since(ctx, "", 1); err == nil {
		t.Error("Since ignores a cancelled context")
	}
	if err := s.AddRecords(ctx, []store.Record{ofDir(Directory("d", "x", 0))}); err == nil {
		t.Error("AddRecords ignores a cancelled context")
	}
}

// newest returns the newest records of some contents.
func newest(t *testing.T, s Log, contents ...repo.Content) map[repo.Content]fresh.Record {
	t.Helper()
	found, err := s.Newest(t.Context(), contents)
	if err != nil {
		t.Fatalf("newest: %v", err)
	}
	return found
}

// files returns the records of files as records of a log.
func files(list ...fresh.Record) []store.Record {
	var out []store.Record
	for _, r := range list {
		out = append(out, ofFile(r))
	}
	return out
}

// wantNewest fails the test unless the newest records of some contents are as wanted. A store with rows knows the bases
// of the same contents.
func wantNewest(t *testing.T, s Log, want map[repo.Content]fresh.Record, contents ...repo.Content) {
	t.Helper()
	equal(t, "newest", newest(t, s, contents...), want)
	rows, ok := s.(store.Files)
	if !ok {
		return
	}
	known, err := rows.NewestBases(t.Context(), contents)
	if err != nil {
		t.Fatalf("newest bases: %v", err)
	}
	bases := make(map[repo.Content]fresh.Basis)
	for c, r := range want {
		bases[c] = r.Basis.Key()
	}
	equal(t, "newest bases", known, bases)
}

// wantNewestAt fails the test unless the newest record at a path, in a store with rows, is as wanted.
func wantNewestAt(t *testing.T, s Log, path repo.Path, want fresh.Record) {
	t.Helper()
	rows, ok := s.(store.Files)
	if !ok {
		return
	}
	got, ok, err := rows.NewestAt(t.Context(), path)
	if err != nil || ok != (want != fresh.Record{}) {
		t.Errorf("NewestAt %s = %v, %v", path, ok, err)
	}
	equal(t, "newest at", got, want)
}

func testRecords(t *testing.T, s Log) {
	odd := fresh.Record{
		Basis: fresh.Basis{Content: repo.Content{ID: ID256("x")}},
		Text:  "line\nline\ttab \x00 \xff end", Author: "böb\xff", Recipe: "r\x00", Assumed: true,
		Confirmer: "carol", Path: "\xff\n",
		At: time.Date(1969, 1, 1, 0, 0, 0, 999, time.FixedZone("", -7200)),
	}
	read := odd
	read.At = time.Date(1969, 1, 1, 2, 0, 0, 0, time.UTC)
	plain := Record("about a", "a", 0)
	AddRecords(t, s, files(odd, plain)...)
	want := map[repo.Content]fresh.Record{read.Basis.Content: read, Content("a"): plain}
	wantNewest(t, s, want, read.Basis.Content, Content("a"), Content("none"), repo.Content{})
	list, _ := Since(t, s, "", 10)
	equal(t, "records", encoded(list), encoded(files(read, plain)))
	wantNewestAt(t, s, "elsewhere", fresh.Record{})
	for _, r := range []fresh.Record{read, plain} {
		wantNewestAt(t, s, r.Path, r)
	}
	rows, ok := s.(store.Files)
	if !ok {
		return
	}
	for _, r := range []fresh.Record{read, plain} {
		got, ok, err := rows.Record(t.Context(), r.ID())
		if !ok || err != nil {
			t.Fatalf("Record = %v, %v", ok, err)
		}
		equal(t, "record", got, r)
	}
	if _, ok, err := rows.Record(t.Context(), fresh.Digest{}); ok || err != nil {
		t.Errorf("Record of nothing = %v, %v", ok, err)
	}
}

func testDuplicates(t *testing.T, s Log) {
	first := Record("about x", "x", 0)
	again := first
	again.Path = "elsewhere" // no part of a record's id
	newer := Record("better", "x", 1)
	AddRecords(t, s, files(first, newer, first)...)
	AddRecords(t, s, ofFile(again))
	wantNewest(t, s, map[repo.Content]fresh.Record{Content("x"): newer}, Content("x"))
	wantNewestAt(t, s, "elsewhere", fresh.Record{})
	list, _ := Since(t, s, "", 10)
	equal(t, "records", encoded(list), encoded(files(first, newer)))
}

func testNewest(t *testing.T, s Log) {
	add := func(r, want fresh.Record) {
		t.Helper()
		AddRecords(t, s, ofFile(r))
		wantNewest(t, s, map[repo.Content]fresh.Record{Content("x"): want}, Content("x"))
		wantNewestAt(t, s, "a.go", want)
	}
	// Of records with the same time, the one with the highest id is the newest, in any order of insertion.
	high, low := Record("a", "x", 5), Record("b", "x", 5)
	if high.Compare(low) < 0 {
		high, low = low, high
	}
	add(low, low)
	add(high, high)
	add(Record("old", "x", 4), high)
	for i := range 8 {
		other := Record(fmt.Sprint("other ", i), "x", 5)
		if other.Compare(high) > 0 {
			high = other
		}
		add(other, high)
	}
	add(Record("new", "x", 6), Record("new", "x", 6))
}

func md5Record(text, about string, seconds int) fresh.Record {
	r := Record(text, about, seconds)
	r.Basis = md5Of(about)
	return r
}

func testMD5Only(t *testing.T, s Log) {
	byMD5 := md5Record("by md5", "x", 0)
	AddRecords(t, s, ofFile(byMD5))
	c, other := Content("x"), repo.Content{ID: ID("another id"), MD5: Content("x").MD5}
	noID := repo.Content{MD5: c.MD5}
	want := map[repo.Content]fresh.Record{c: byMD5, other: byMD5, noID: byMD5}
	wantNewest(t, s, want, c, other, noID, Content("y"), repo.Content{ID: c.ID})

	// The newest of both sorts counts.
	for _, r := range []fresh.Record{Record("by id", "x", 1), md5Record("by md5 again", "x", 2)} {
		AddRecords(t, s, ofFile(r))
		wantNewest(t, s, map[repo.Content]fresh.Record{c: r}, c)
	}
}

func testIDsDecide(t *testing.T, s Log) {
	// A record with both holds for its id, whatever the md5.
	r := Record("about x", "x", 0)
	AddRecords(t, s, ofFile(r))
	sameID := repo.Content{ID: ID("x"), MD5: Content("crlf").MD5}
	sameMD5 := repo.Content{ID: ID("filtered"), MD5: Content("x").MD5}
	wantNewest(t, s, map[repo.Content]fresh.Record{sameID: r}, sameID, sameMD5, repo.Content{MD5: Content("x").MD5}, repo.Content{})
}

// manyRecords returns n contents, and records for two of three: by id or by md5.
func manyRecords(n int) (records []fresh.Record, contents []repo.Content, byContent map[repo.Content]fresh.Record) {
	byContent = make(map[repo.Content]fresh.Record)
	for i := range n {
		text := fmt.Sprint(i)
		c := Content(text)
		contents = append(contents, c)
		switch i % 3 {
		case 0:
			byContent[c] = Record("about "+text, text, i)
		case 1:
			byContent[c] = md5Record("about "+text, text, i)
		default:
			continue
		}
		records = append(records, byContent[c])
	}
	return records, contents, byContent
}

func testMany(t *testing.T, s Log) {
	records, contents, want := manyRecords(3000)
	AddRecords(t, s, files(records...)...)
	wantNewest(t, s, want, contents...) // by scanning
	few := map[repo.Content]fresh.Record{}
	for _, c := range contents[:5] {
		if r, ok := want[c]; ok {
			few[c] = r
		}
	}
	wantNewest(t, s, few, contents[:5]...) // one by one
}
