package state

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ken/internal/fault"
)

func TestDocuments(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"docs/b.md": "b", "docs/a/z.md": "z", "docs/a.md": "a", "docs/binary": "x\x00y", "docs/link": "->b.md", "docs/empty": "",
		"docs/.git/config": "c", "docs/skipped/x": "x", "docs/late": strings.Repeat("x", textStart) + "\x00", "docs/large": "", "docs/wide": "\xff\xfea\x00",
		"one.md": "one", "link.md": "->one.md", "sub/.git": "gitdir: elsewhere", "sub/f": "f",
	})
	if err := os.WriteFile(filepath.Join(dir, "docs/large"), bytes.Repeat([]byte("x"), maxDocument+1), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var got []string
	collect := func(path string, content []byte) error {
		if path != "docs/late" {
			path += "=" + string(content)
		}
		got = append(got, path)
		return nil
	}
	var left []string
	unreadable := func(path string, _ error) { left = append(left, path) }
	skipped := filepath.Join(dir, "docs/skipped")
	if err := Documents(t.Context(), "", []string{"one.md", "docs/", "link.md", "docs/a.md", "sub"}, skipped, unreadable, collect); err != nil {
		t.Fatal(err)
	}
	if want := []string{"docs/large", "docs/wide"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
	want := []string{"docs/a.md=a", "docs/a/z.md=z", "docs/b.md=b", "docs/empty=", "docs/late", "link.md=one", "one.md=one", "sub/f=f"}
	if !slices.Equal(got, want) {
		t.Errorf("documents %q, want %q", got, want)
	}
	if err := Documents(t.Context(), "", []string{"one.md", "none"}, "", unreadable, collect); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing path: %v, want an error", err)
	}
	if err := Documents(t.Context(), "", []string{"docs/large"}, "", unreadable, collect); err == nil {
		t.Error("a named file that is too large gave no error")
	}
	if err := Documents(t.Context(), "", []string{"docs/binary"}, "", unreadable, collect); err == nil {
		t.Error("a named file that is not text gave no error")
	}
	stop := errors.New("stop")
	if err := Documents(t.Context(), "", []string{"docs"}, "", unreadable, func(string, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Documents returned the error %v; want that of the callback", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Documents(ctx, "", []string{"docs"}, "", unreadable, collect); fault.KindOf(err) != fault.Interrupted {
		t.Errorf("Documents returned the error %v; want an interruption", err)
	}
}
