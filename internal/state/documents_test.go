package state

import (
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
		"docs/.git/config": "c", "docs/skipped/x": "x", "docs/late": strings.Repeat("x", textStart) + "\x00", "docs/large": "",
		"one.md": "one", "link.md": "->one.md", "sub/.git": "gitdir: elsewhere", "sub/f": "f",
	})
	if err := os.Truncate(filepath.Join(dir, "docs/large"), maxDocument+1); err != nil {
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
	skip := func(path string) bool { return filepath.Base(path) == "skipped" }
	if err := Documents(t.Context(), []string{"one.md", "docs/", "link.md", "docs/a.md", "sub"}, skip, collect); err != nil {
		t.Fatal(err)
	}
	want := []string{"docs/a.md=a", "docs/a/z.md=z", "docs/b.md=b", "docs/empty=", "docs/late", "link.md=one", "one.md=one", "sub/f=f"}
	if !slices.Equal(got, want) {
		t.Errorf("documents %q, want %q", got, want)
	}
	if err := Documents(t.Context(), []string{"one.md", "none"}, nil, collect); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that is not there: %v", err)
	}
	if err := Documents(t.Context(), []string{"docs/large"}, nil, collect); err == nil {
		t.Error("a file that is too large was named, and nothing said")
	}
	stop := errors.New("stop")
	if err := Documents(t.Context(), []string{"docs"}, nil, func(string, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Documents(ctx, []string{"docs"}, nil, collect); fault.KindOf(err) != fault.Interrupted {
		t.Error(err)
	}
}
