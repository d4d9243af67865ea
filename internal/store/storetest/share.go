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

// A ShareStore can also exchange records with other stores.
type ShareStore interface {
	SurveyStore
	store.Records
}

// RunShare runs the tests of exchanging records. Every call of open must return a new, empty store.
func RunShare(t *testing.T, open func(t *testing.T) ShareStore) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, func(*testing.T) ShareStore)
	}{
		{"an empty store has nothing to share", testShareEmpty},
		{"since returns each record once, in order", testSince},
		{"since returns only the latest outline", testShareOutlines},
		{"a mark of another store means the beginning", testForeignMark},
		{"added records are unchanged, also after a second time", testAddRecords},
		{"added records make rows fresh", testAddRecordsUpdatesRows},
		{"records in the future are neither added nor returned", testAddRecordsInFuture},
		{"a cancelled context stops everything", testShareCancelled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
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
		t.Fatalf("absorb: %v", err)
	}
}

func about(r fresh.Record) store.Record { return store.Record{File: &r} }

func in(r *store.DirRecord) store.Record { return store.Record{Directory: r} }

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

func testShareEmpty(t *testing.T, open func(*testing.T) ShareStore) {
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

func testSince(t *testing.T, open func(*testing.T) ShareStore) {
	s := open(t)
	one, two := Record("one", "a", 5), Record("two", "b", 1)
	md5Only := Record("three", "c", 2)
	md5Only.Basis, md5Only.Assumed, md5Only.Confirmer, md5Only.Path = md5Of("c"), true, "bob", "\xff"
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{one, two}})
	first, mark := Since(t, s, "", 100)
	equal(t, "the first", encoded(first), encoded([]store.Record{about(one), about(two)}))

	x, y := Directory("x", "x", 3), Directory("y", "y", 2)
	y.Flags = []store.DirFlag{{Path: "y/\xff", Severity: "info", Finding: "f"}}
	SaveDirRecords(t, s, x)
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{md5Only, one}})
	SaveDirRecords(t, s, y, x)
	later, end := Since(t, s, mark, 100)
	equal(t, "the second", encoded(later), encoded([]store.Record{about(md5Only), in(x), in(y)}))
	if again, _ := Since(t, s, end, 100); len(again) > 0 {
		t.Errorf("records after the end: %v", again)
	}
	for most := 1; most < 4; most++ {
		all, last := Since(t, s, "", most)
		equal(t, fmt.Sprint("in steps of ", most), encoded(all), encoded([]store.Record{about(one), about(two), about(md5Only), in(x), in(y)}))
		equal(t, "the mark", last, end)
	}
}

func testShareOutlines(t *testing.T, open func(*testing.T) ShareStore) {
	s := open(t)
	SaveDirRecords(t, s, Outlined("a", "one", 1), Directory("a", "summary", 0), Outlined("b", "one", 9))
	_, mark := Since(t, s, "", 1)
	SaveDirRecords(t, s, Outlined("a", "two", 2), Directory("a", "later summary", 3), Outlined("b", "older", 8))
	all, _ := Since(t, s, "", 2)
	equal(t, "all", encoded(all), encoded([]store.Record{
		in(Directory("a", "summary", 0)), in(Outlined("b", "one", 9)), in(Outlined("a", "two", 2)), in(Directory("a", "later summary", 3)),
	}))
	later, _ := Since(t, s, mark, 2)
	equal(t, "later", encoded(later), encoded([]store.Record{in(Outlined("a", "two", 2)), in(Directory("a", "later summary", 3))}))
}

func testForeignMark(t *testing.T, open func(*testing.T) ShareStore) {
	s, other := open(t), open(t)
	for i := range 5 {
		AddRecords(t, s, about(Record("here", fmt.Sprint(i), i)), in(Directory("d", fmt.Sprint(i), i)))
		AddRecords(t, other, about(Record("there", fmt.Sprint(i), i)), in(Directory("d", fmt.Sprint("there", i), i)))
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

func testAddRecords(t *testing.T, open func(*testing.T) ShareStore) {
	from, to := open(t), open(t)
	Commit(t, from, "", store.FileChanges{Records: []fresh.Record{Record("one", "a", 1), Record("two", "a", 2)}})
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
		t.Errorf("Since returned %d absorbed records", len(got))
	}
}

func testAddRecordsUpdatesRows(t *testing.T, open func(*testing.T) ShareStore) {
	s := open(t)
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a.go", "x"), Row("b.go", "y")}})
	AddRecords(t, s, about(Record("about x", "x", 0)))
	tally, err := s.Counts(t.Context(), "")
	if err != nil || tally.Fresh != 1 || tally.None != 1 {
		t.Errorf("Counts returned %+v, %v; want 1 fresh and 1 without a summary", tally, err)
	}
}

func testAddRecordsInFuture(t *testing.T, open func(*testing.T) ShareStore) {
	s := open(t)
	file, directory := Record("about x", "x", 0), Directory("d", "x", 0)
	file.At = time.Now().Add(fresh.MaxClockSkew + time.Hour)
	directory.At = file.At
	AddRecords(t, s, about(file), in(directory), about(Record("of today", "x", 1)))
	Commit(t, s, "", store.FileChanges{Records: []fresh.Record{file}})
	SaveDirRecords(t, s, directory)
	list, _ := Since(t, s, "", 1)
	equal(t, "what travels", encoded(list), encoded([]store.Record{about(Record("of today", "x", 1))}))
}

func testShareCancelled(t *testing.T, open func(*testing.T) ShareStore) {
	s := open(t)
	AddRecords(t, s, about(Record("about x", "x", 0)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Since(ctx, "", 1); err == nil {
		t.Error("Since ignores a cancelled context")
	}
	if err := s.AddRecords(ctx, []store.Record{in(Directory("d", "x", 0))}); err == nil {
		t.Error("AddRecords ignores a cancelled context")
	}
}
