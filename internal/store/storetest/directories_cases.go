package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

type (
	latest  = map[repo.Path][]*store.DirRecord
	written = map[fresh.Digest][]*store.DirRecord
)

func testDirectoriesEmpty(t *testing.T, s Log) {
	wantLatest(t, s, latest{})
	wantWritten(t, s, written{})
	wantWritten(t, s, written{}, fresh.Digest{1}, fresh.Digest{})
	wantFailures(t, s)
	if r, err := s.DirRecord(t.Context(), fresh.Digest{1}); r != nil || err != nil {
		t.Errorf("DirRecord returned %v, %v; want none", r, err)
	}
	SaveDirRecords(t, s)
	wantLatest(t, s, latest{})
}

func testDirectories(t *testing.T, s Log) {
	full := &store.DirRecord{
		Path: "dir/\xff\xfe\n\"name\x00\x7f",
		Basis: store.DirBasis{
			Files: []store.BasisFile{
				{Name: []byte("\xff\x00\n"), ID: ID256("sha256"), Shape: store.OutlineShape{Language: "c++", Partial: true, Interface: fresh.Digest{1}, Tokens: fresh.Digest{31: 1}, Digest: fresh.Digest{7}}},
				{Name: []byte("no content")},
				{Name: []byte("no interface"), ID: ID("x"), Shape: store.OutlineShape{Language: "go", Tokens: fresh.Digest{2}}},
				{Name: []byte("no tokens"), ID: ID("y"), Shape: store.OutlineShape{Language: "go", Interface: fresh.Digest{3}}},
			},
			Children: []store.BasisChild{{Name: []byte("\xc3\x28"), Text: fresh.Digest{4}}, {Name: []byte("no text")}},
		},
		Text: "what it is\n\tüber \u2028 all\n", Author: "ann", Recipe: ModelRecipe, Confirmer: "bob", Partial: true,
		At: time.Date(2026, 5, 6, 7, 8, 9, 123456000, time.UTC),
		Flags: []store.DirFlag{
			{Path: "dir/\xff", Severity: "critical", Finding: `a "key" in it`, Content: ID256("sha256")},
			{Path: `"quoted"`, Severity: "info", Finding: ""},
		},
	}
	bare := &store.DirRecord{Path: "", Text: "the root", At: Epoch}
	many := &store.DirRecord{Path: "many", Text: "many", Recipe: OutlineRecipe, At: Epoch}
	for i := range 1000 {
		many.Basis.Files = append(many.Basis.Files, store.BasisFile{Name: fmt.Append(nil, "file ", i), ID: ID(fmt.Sprint(i))})
		many.Basis.Children = append(many.Basis.Children, store.BasisChild{Name: fmt.Append(nil, "dir ", i), Text: fresh.Digest{byte(i), 1}})
	}
	SaveDirRecords(t, s, full, bare, many)
	wantLatest(t, s, latest{full.Path: {full}, "": {bare}, "many": {many}})
	b := full.Basis.Digest()
	wantWritten(t, s, written{b: {full}}, b)
	for _, want := range []*store.DirRecord{full, bare, many} {
		got, err := s.DirRecord(t.Context(), want.ID())
		if err != nil {
			t.Fatalf("kept: %v", err)
		}
		equal(t, "kept", got, want)
	}

	// Times are stored in UTC with microseconds.
	odd := Directory("odd", "odd", 0)
	odd.At = time.Date(2026, 5, 6, 7, 8, 9, 123456789, time.FixedZone("", 3600))
	SaveDirRecords(t, s, odd)
	got, err := s.Latest(t.Context())
	if err != nil || len(got["odd"]) != 1 {
		t.Fatalf("latest: %v, %v", got["odd"], err)
	}
	r := got["odd"][0]
	if want := odd.At.Truncate(time.Microsecond); !r.At.Equal(want) || r.At.Location() != time.UTC || r.ID() != odd.ID() {
		t.Errorf("at %v, want %v in UTC", r.At, want)
	}
}

func testKeptAlready(t *testing.T, s Log) {
	r, other := Directory("a", "x", 0), Directory("a", "y", 1)
	SaveDirRecords(t, s, r, r)
	SaveDirRecords(t, s, r)
	wantLatest(t, s, latest{"a": {r}})
	SaveDirRecords(t, s, other)
	f := store.DirFailure{Path: "a", Reason: "no", At: other.At.Add(time.Second)}
	if err := s.SaveFailure(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	SaveDirRecords(t, s, r, other)
	wantLatest(t, s, latest{"a": {other}})
	wantFailures(t, s, f)
	b := r.Basis.Digest()
	wantWritten(t, s, written{b: {r}}, b)
}

func testRecordIsOwn(t *testing.T, s Log) {
	r := Directory("a", "x", 0)
	SaveDirRecords(t, s, r)
	r.Text, r.Path = "changed", "b"
	wantLatest(t, s, latest{"a": {Directory("a", "x", 0)}})
}

// Two directories may have the same content, and get the same summary at the same time.
func testTwoPlaces(t *testing.T, s Log) {
	a, b := Outlined("a", "x", 0), Outlined("b", "x", 0)
	SaveDirRecords(t, s, a, b)
	wantLatest(t, s, latest{"a": {a}, "b": {b}})
	basis := a.Basis.Digest()
	wantWritten(t, s, written{basis: {b}}, basis) // the last of them
}

func testLatest(t *testing.T, s Log) {
	SaveDirRecords(t, s, Outlined("a", "x", 0), Directory("a", "x", 1), Outlined("only", "o", 5))
	wantLatest(t, s, latest{"a": {Directory("a", "x", 1), Outlined("a", "x", 0)}, "only": {Outlined("only", "o", 5)}})
	SaveDirRecords(t, s, Outlined("a", "y", 2))
	wantLatest(t, s, latest{"a": {Outlined("a", "y", 2), Directory("a", "x", 1)}, "only": {Outlined("only", "o", 5)}})
	// An older record does not replace the latest, even if it is added later.
	SaveDirRecords(t, s, Outlined("a", "z", 1), Directory("a", "z", 0))
	wantLatest(t, s, latest{"a": {Outlined("a", "y", 2), Directory("a", "x", 1)}, "only": {Outlined("only", "o", 5)}})
	// Of records with the same time, the one with the highest id is the latest.
	other := Directory("a", "w", 1)
	other.Recipe = "another recipe"
	newest := func(a, b *store.DirRecord) *store.DirRecord {
		if a.Compare(b) > 0 {
			return a
		}
		return b
	}
	SaveDirRecords(t, s, other, Outlined("a", "w", 2), Directory("b", "x", 3), Outlined("b", "x", 3))
	b := []*store.DirRecord{Outlined("b", "x", 3), Directory("b", "x", 3)}
	slices.SortFunc(b, func(a, b *store.DirRecord) int { return b.Compare(a) })
	wantLatest(t, s, latest{
		"a":    {newest(Outlined("a", "w", 2), Outlined("a", "y", 2)), newest(other, Directory("a", "x", 1))},
		"only": {Outlined("only", "o", 5)},
		"b":    b,
	})
}

// A text that is dated more than a day ahead would be the latest for ever.
func testDirectoryAhead(t *testing.T, s Log) {
	now, ahead := Directory("a", "x", 1), Directory("a", "x", 2)
	ahead.Text, ahead.At = "of the year 9999", time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	SaveDirRecords(t, s, now, ahead)
	wantLatest(t, s, latest{"a": {now}})
	basis := SurveyBasis("x").Digest()
	wantWritten(t, s, written{basis: {now}}, basis)
	of, err := s.PastDirRecords(t.Context(), []repo.Path{"a"})
	if err != nil || len(of["a"]) != 1 || of["a"][0].Text != now.Text {
		t.Errorf("PastDirRecords returned %v, %v; want no record in the future", of["a"], err)
	}
	in, err := s.DirRecordsByVersion(t.Context(), []store.DirVersion{{Path: "a", Basis: basis}})
	if list := in[store.DirVersion{Path: "a", Basis: basis}]; err != nil || len(list) != 1 || list[0].Text != now.Text {
		t.Errorf("DirRecordsByVersion returned %v, %v; want no record in the future", list, err)
	}
	if r, err := s.DirRecord(t.Context(), ahead.ID()); r != nil || err != nil {
		t.Errorf("the record of the year 9999 is found by its id: %v, %v", r, err)
	}
}

func testWrittenFrom(t *testing.T, s Log) {
	x, y, none := SurveyBasis("x").Digest(), SurveyBasis("y").Digest(), SurveyBasis("none").Digest()
	again := Directory("moved/here", "x", 4)
	again.Recipe = "another recipe"
	SaveDirRecords(t, s, Directory("a", "x", 0), Outlined("a", "x", 9), Directory("b", "x", 3), again, Outlined("c", "x", 2), Outlined("b", "y", 1))
	wantWritten(t, s, written{x: {Outlined("a", "x", 9), again}, y: {Outlined("b", "y", 1)}}, x, none, y, x)
	wantWritten(t, s, written{y: {Outlined("b", "y", 1)}}, y)
	// The shape of a file is not part of the basis id.
	bare := SurveyBasis("x")
	for i := range bare.Files {
		bare.Files[i].Shape = store.OutlineShape{}
	}
	wantWritten(t, s, written{x: {Outlined("a", "x", 9), again}}, bare.Digest())
}

func testWrittenOf(t *testing.T, s Log) {
	var want []*store.DirRecord
	for i := range store.MaxPastRecords + 2 {
		r := Directory("a", fmt.Sprint("x", i), i)
		SaveDirRecords(t, s, r, Outlined("a", fmt.Sprint("o", i), i), Directory("b", "x", i))
		want = append([]*store.DirRecord{r}, want...)
	}
	got, err := s.PastDirRecords(t.Context(), []repo.Path{"a", "nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "written of", got, latest{"a": want[:store.MaxPastRecords]})
}

func testFailures(t *testing.T, s Log) {
	failure := func(path repo.Path, reason string, seconds int) store.DirFailure {
		return store.DirFailure{Path: path, Basis: SurveyBasis(reason).Digest(), Reason: reason, At: Epoch.Add(time.Duration(seconds) * time.Second)}
	}
	keep := func(f store.DirFailure) {
		t.Helper()
		if err := s.SaveFailure(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	root := store.DirFailure{Path: "", Reason: "no key\xff", At: Epoch}
	odd := failure("\xff\n", "odd", 0)
	keep(root)
	keep(odd)
	wantFailures(t, s, root, odd)

	keep(failure("a", "one", 1))
	keep(failure("a", "two", 2))
	wantFailures(t, s, root, odd, failure("a", "two", 2))
	keep(failure("a", "late news", 1))
	wantFailures(t, s, root, odd, failure("a", "two", 2))

	SaveDirRecords(t, s, Directory("a", "before", 1), Directory("b", "another", 9))
	wantFailures(t, s, root, odd, failure("a", "two", 2))
	SaveDirRecords(t, s, Outlined("a", "after", 3))
	wantFailures(t, s, root, odd)
	keep(failure("a", "late news", 2))
	wantFailures(t, s, root, odd)
	// At the same time, the order is that in which they came.
	keep(failure("a", "again", 3))
	wantFailures(t, s, root, odd, failure("a", "again", 3))
	SaveDirRecords(t, s, Directory("a", "and again", 3))
	wantFailures(t, s, root, odd)
}

func testManyDirectories(t *testing.T, s Log) {
	const n = 512
	want, from := make(latest), make(written)
	var records []*store.DirRecord
	var bases []fresh.Digest
	for i := range n {
		r := Outlined(repo.Path(fmt.Sprintf("dir%03d", i)), fmt.Sprint(i), i)
		records = append(records, r)
		want[r.Path] = []*store.DirRecord{r}
		bases = append(bases, r.Basis.Digest(), fresh.Digest{1, byte(i)})
		from[r.Basis.Digest()] = want[r.Path]
	}
	SaveDirRecords(t, s, records...)
	wantLatest(t, s, want)
	wantWritten(t, s, from, bases...)
	wantWritten(t, s, written{bases[0]: from[bases[0]]}, bases[:2]...)
}

func testDirectoriesCancelled(t *testing.T, s Log) {
	SaveDirRecords(t, s, Directory("a", "x", 0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s returned the error %v; want the cancellation", what, err)
		}
	}
	_, err := s.Latest(ctx)
	check("latest", err)
	_, err = s.DirRecordsByBasis(ctx, nil)
	check("written from", err)
	_, err = s.Failures(ctx)
	check("failures", err)
	check("keep nothing", s.SaveDirRecords(ctx, nil))
	check("keep", s.SaveDirRecords(ctx, []*store.DirRecord{Directory("a", "y", 1)}))
	check("keep failure", s.SaveFailure(ctx, store.DirFailure{Path: "a", At: Epoch}))
	wantLatest(t, s, latest{"a": {Directory("a", "x", 0)}})
	wantFailures(t, s)
}
