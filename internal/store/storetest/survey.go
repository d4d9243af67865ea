package storetest

import (
	"fmt"
	"testing"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A SurveyStore also stores the data of surveys.
type SurveyStore interface {
	store.Files
	store.Directories
	store.Leases
}

// RunSurvey runs the tests of directories. Every call of open must return a new, empty store.
func RunSurvey(t *testing.T, open func(t *testing.T) SurveyStore) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, SurveyStore)
	}{
		{"an empty store returns nothing", testSurveyEmpty},
		{"directory records are read unchanged", testDirectories},
		{"keeping a record twice changes nothing", testKeptAlready},
		{"the store copies records", testRecordIsOwn},
		{"two directories can have the same record", testTwoPlaces},
		{"latest is the newest outline and the newest other", testLatest},
		{"a record in the future is ignored", testDirectoryAhead},
		{"written from finds records of a basis at any path", testWrittenFrom},
		{"written of returns summaries without outlines, newest first", testWrittenOf},
		{"a newer record removes a failure", testFailures},
		{"leases are read unchanged", testLeases},
		{"a lease can be taken again only after it expired", testTake},
		{"one of many concurrent takes succeeds", testTakeAtOnce},
		{"settle adds the record and ends the lease, or neither", testSettle},
		{"one of many concurrent settles succeeds", testSettleAtOnce},
		{"pruning work trees removes their leases", testPruneLeases},
		{"many directories at once", testManyDirectories},
		{"a cancelled context stops everything", testSurveyCancelled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
	t.Run("random surveys have the same result as the memory store", func(t *testing.T) { testSurveyModel(t, open) })
}

// SurveyBasis returns a basis with two files and a child that depend on a text.
func SurveyBasis(text string) store.DirBasis {
	return store.DirBasis{
		Files: []store.BasisFile{
			{Name: []byte("a.go"), ID: ID(text), Shape: store.OutlineShape{Language: "go", Interface: fresh.Digest(ID256("i " + text).Bytes()), Tokens: fresh.Digest(ID256("t " + text).Bytes())}},
			{Name: []byte("LICENSE"), ID: ID("license")},
		},
		Children: []store.BasisChild{{Name: []byte("child"), Text: fresh.Digest(ID256("c " + text).Bytes())}},
	}
}

// The recipes of these tests.
const (
	OutlineRecipe = "outline/1"
	ModelRecipe   = "prompt/1 model"
)

// Directory returns a record about a directory, written by a model from the basis of a
// text so many seconds after Epoch.
func Directory(path repo.Path, text string, seconds int) *store.DirRecord {
	return &store.DirRecord{
		Path: path, Basis: SurveyBasis(text), Text: fmt.Sprintf("about %s", text), Author: "ann", Recipe: ModelRecipe,
		At: Epoch.Add(time.Duration(seconds) * time.Second),
	}
}

// Outlined returns an outline of a directory.
func Outlined(path repo.Path, text string, seconds int) *store.DirRecord {
	r := Directory(path, text, seconds)
	r.Author, r.Recipe = "ken outline", OutlineRecipe
	return r
}

// Lease returns a lease that expires so many seconds after Epoch.
func Lease(path repo.Path, token string, seconds int) store.Lease {
	return store.Lease{
		Path: path, Token: token, Expires: Epoch.Add(time.Duration(seconds) * time.Second),
		Basis: SurveyBasis(string(path)), Recipe: ModelRecipe,
	}
}

// SaveDirRecords keeps records, which must succeed.
func SaveDirRecords(t testing.TB, s store.Directories, records ...*store.DirRecord) {
	t.Helper()
	if err := s.SaveDirRecords(t.Context(), records); err != nil {
		t.Fatalf("keep: %v", err)
	}
}

func wantLatest(t testing.TB, s store.Directories, want map[repo.Path][]*store.DirRecord) {
	t.Helper()
	got, err := s.Latest(t.Context())
	if err != nil {
		t.Fatalf("latest: %v", err)
	}
	equal(t, "latest", got, want)
}

func wantWritten(t testing.TB, s store.Directories, want map[fresh.Digest][]*store.DirRecord, bases ...fresh.Digest) {
	t.Helper()
	got, err := s.DirRecordsByBasis(t.Context(), bases)
	if err != nil {
		t.Fatalf("written from: %v", err)
	}
	equal(t, "written from", got, want)
}

func wantFailures(t testing.TB, s store.Directories, want ...store.DirFailure) {
	t.Helper()
	got, err := s.Failures(t.Context())
	if err != nil {
		t.Fatalf("failures: %v", err)
	}
	byPath := make(map[repo.Path]store.DirFailure)
	for _, f := range want {
		byPath[f.Path] = f
	}
	equal(t, "failures", got, byPath)
}

func wantLeases(t testing.TB, s store.Leases, worktree string, want ...store.Lease) {
	t.Helper()
	got, err := s.Leases(t.Context(), worktree)
	if err != nil {
		t.Fatalf("leases: %v", err)
	}
	byPath := make(map[repo.Path]store.Lease)
	for _, l := range want {
		byPath[l.Path] = l
	}
	equal(t, "leases of "+worktree, got, byPath)
}

// take takes a lease so many seconds after Epoch, which must be possible or not.
func take(t testing.TB, s store.Leases, worktree string, l store.Lease, seconds int, want bool) {
	t.Helper()
	ok, err := s.Acquire(t.Context(), worktree, l, Epoch.Add(time.Duration(seconds)*time.Second))
	if ok != want || err != nil {
		t.Errorf("take %s of %s at %d: %v, %v", l.Token, l.Path, seconds, ok, err)
	}
}

func settle(t testing.TB, s store.Leases, worktree string, l store.Lease, r *store.DirRecord, want bool) {
	t.Helper()
	ok, err := s.Complete(t.Context(), worktree, l, r)
	if ok != want || err != nil {
		t.Errorf("settle %s of %s: %v, %v", l.Token, l.Path, ok, err)
	}
}
