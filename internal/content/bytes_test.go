package content

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ken/internal/repo"
)

func TestBytes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "one")
	write("empty", "")
	write("large", "0123456789")
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	paths := []repo.Path{"a", "empty", "large", "link", "nothing", "../a", "."}
	var mu sync.Mutex
	got := make(map[repo.Path]string)
	failed := make(map[repo.Path]error)
	err := Open(dir, Options{}).Bytes(t.Context(), paths, 9, func(i int, b []byte, err error) {
		mu.Lock()
		defer mu.Unlock()
		got[paths[i]], failed[paths[i]] = string(b), err
	})
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[repo.Path]string{"a": "one", "empty": ""} {
		if failed[p] != nil || got[p] != want {
			t.Errorf("reading %s gave %q, %v; want %q", p, got[p], failed[p], want)
		}
	}
	if !errors.Is(failed["large"], ErrTooLarge) {
		t.Errorf("reading the large file gave the error %v; want %v", failed["large"], ErrTooLarge)
	}
	for _, p := range []repo.Path{"link", "nothing", "../a", "."} {
		if failed[p] == nil || got[p] != "" {
			t.Errorf("reading %s gave %q, %v; want an error", p, got[p], failed[p])
		}
	}
}
