package content_test

import (
	"os"
	"path/filepath"
	"testing"

	"ken/internal/content"
)

func TestUsageDoesNotFollowLinks(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{filepath.Join(outside, "large"), filepath.Join(root, "d", "small")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(root, "d", "link")); err != nil {
		t.Fatal(err)
	}
	w, err := content.Open(root, content.Options{}).Usage(t.Context(), "d")
	if want := int64(5 + len(outside)); err != nil || w.Files != 2 || w.Bytes != want || !w.Dir || w.Missed != "" {
		t.Errorf("Usage = %+v, %v, want 2 files with %d bytes", w, err, want)
	}
	names, err := content.Open(root, content.Options{}).Names(t.Context(), "d/link")
	if err != nil || names != nil {
		t.Errorf("Names followed a link: %v, %v", names, err)
	}
}
