//go:build unix

package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/sqlite"
)

// Only the owner can read the database, unless the group can write to the repository. A write keeps the permissions that
// the owner chose.
func TestDatabaseIsPrivate(t *testing.T) {
	write := func(path string) {
		t.Helper()
		s := sqlite.Open(path, sqlite.Options{})
		record := fresh.Record{Text: "x", Author: "a", Path: "a.go", At: time.Unix(1, 0), Basis: fresh.Basis{Content: repo.Content{ID: repo.SHA1.Blob([]byte(path))}}}
		if err := s.Commit(t.Context(), "w", store.FileChanges{Records: []fresh.Record{record}}, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := func(path string, mode os.FileMode) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != mode {
			t.Errorf("%s has mode %o, want %o", filepath.Base(path), info.Mode().Perm(), mode)
		}
	}
	private := filepath.Join(t.TempDir(), "git", "ken", "ken.db")
	write(private)
	want(private, 0o600)
	if err := os.Chmod(private, 0o644); err != nil {
		t.Fatal(err)
	}
	write(private)
	want(private, 0o644)

	common := filepath.Join(t.TempDir(), "git")
	if err := os.MkdirAll(common, 0o775); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(common, 0o775); err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(common, "ken", "ken.db")
	write(ours)
	want(ours, 0o660)
}
