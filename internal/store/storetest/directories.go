package storetest

import (
	"fmt"
	"testing"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

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
