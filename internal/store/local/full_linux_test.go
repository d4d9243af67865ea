package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/local"
	"ken/internal/store/sqlite"
)

// A write on a full disk fails with ErrFull. Earlier records stay readable.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	content := repo.Content{ID: repo.IDFromBytes([]byte(strings.Repeat("a", 20)))}
	keep := func(text string) error {
		s := local.Open(local.Options{CommonDir: dir})
		err := s.Commit(t.Context(), "main", store.FileChanges{
			Records: []fresh.Record{{Basis: fresh.Basis{Content: content}, Text: text, Author: "ann", Recipe: "hand"}},
		}, nil)
		return errors.Join(err, s.Close())
	}
	if err := keep("words"); err != nil {
		t.Fatal(err)
	}
	fill, err := os.Create(filepath.Join(dir, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err = keep(strings.Repeat("more words ", 2000))
		if e, ok := errors.AsType[*fault.Error](err); !ok || !errors.Is(err, sqlite.ErrFull) || !strings.Contains(e.Hint, "free some space") {
			t.Fatalf("a write on a full disk: %v", err)
		}
		s := local.Open(local.Options{CommonDir: dir})
		known, err := s.Newest(t.Context(), []repo.Content{content})
		if err != nil || known[content].Text != "words" {
			t.Errorf("Newest returned %+v, %v; want the text \"words\"", known, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(fill.Name()); err != nil {
		t.Fatal(err)
	}
	if err := keep("other words"); err != nil {
		t.Errorf("write with free space again: %v", err)
	}
}
