package content_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/content"
	"ken/internal/repo"
)

func TestStat(t *testing.T) {
	root := t.TempDir()
	outside := t.TempDir()
	write(t, outside, "secret", "s")
	write(t, root, "a/b/file", "12345")
	write(t, root, "run", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(root, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"out": outside, "dangling": "nowhere", "loop": "loop", "dirlink": "a", "tofile": "run",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	cases := []struct {
		path string
		want repo.Presence
	}{
		{"a/b/file", repo.RegularFile},
		{"a/b", repo.Directory},
		{"a/b/none", repo.Absent},
		{"a/none/x/y", repo.Absent},
		{"a/none/x/z", repo.Absent},
		{"run", repo.RegularFile},
		{"run/below/a/file", repo.Absent},
		{"out", repo.Link},
		{"out/secret", repo.Absent},
		{"dangling", repo.Link},
		{"loop", repo.Link},
		{"loop/x", repo.Absent},
		{"dirlink", repo.Link},
		{"dirlink/b/file", repo.Absent},
		{"tofile", repo.Link},
		{"", repo.Unreadable},
		{"/etc/passwd", repo.Unreadable},
		{"../x", repo.Unreadable},
		{"a/../run", repo.Unreadable},
		{"a/b/..", repo.Unreadable},
		{"none/../run", repo.Unreadable},
		{"./run", repo.Unreadable},
		{"a//b/file", repo.Unreadable},
		{"a/b/", repo.Unreadable},
		{"run\x00x", repo.Unreadable},
		{"a\x00/b", repo.Unreadable},
		{strings.Repeat("n", 300), repo.Unreadable}, // longer than the maximum length of a name
		{"a/b/file", repo.RegularFile},              // the walk still works after these paths
	}
	paths := make([]string, len(cases))
	for i, c := range cases {
		paths[i] = c.path
	}
	for i, f := range stat(t, root, paths...) {
		if f.Presence != cases[i].want {
			t.Errorf("%q: presence %v, want %v (%v)", paths[i], f.Presence, cases[i].want, f.Err)
		}
		if (f.Err != nil) != (f.Presence == repo.Unreadable) {
			t.Errorf("%q: presence %v with error %v", paths[i], f.Presence, f.Err)
		}
		if f.Executable != (paths[i] == "run") {
			t.Errorf("Stat reports that %q is executable: %t; want the opposite", paths[i], f.Executable)
		}
		if f.Presence == repo.Absent && !f.Stat.IsZero() {
			t.Errorf("%q: absent with a stat", paths[i])
		}
	}
}

// Stat agrees with os.Lstat, for paths in any order.
func TestStatAgreesWithLstat(t *testing.T) {
	root := t.TempDir()
	var paths []string
	for i := range 40 {
		dir := fmt.Sprintf("d%d/e%d/f%d", i%3, i%7, i%5)
		deep := dir + strings.Repeat("/x", i*2) // deeper than maxOpen
		for _, name := range []string{dir + fmt.Sprint("/file", i), deep + fmt.Sprint("/deep", i)} {
			write(t, root, name, strings.Repeat("z", i))
			paths = append(paths, name, name+".gone", filepath.Dir(name)+"/../not/clean")
		}
	}
	for range 30 { // more than one subrange
		paths = append(paths, paths[:240]...)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	for i, f := range stat(t, root, paths...) {
		info, err := os.Lstat(filepath.Join(root, paths[i]))
		switch {
		case strings.Contains(paths[i], ".."):
			if f.Presence != repo.Unreadable {
				t.Fatalf("Stat(%q) returned %v; want it unreadable", paths[i], f)
			}
		case errors.Is(err, fs.ErrNotExist):
			if f.Presence != repo.Absent {
				t.Fatalf("%s: %v, want absent", paths[i], f)
			}
		case f.Presence != repo.RegularFile || f.Stat.Size != info.Size() || f.Stat.Mtime != info.ModTime().UnixNano():
			t.Fatalf("Stat(%q) returned %v; want %v", paths[i], f, info)
		}
	}
}

func TestStatCancelled(t *testing.T) {
	root := t.TempDir()
	write(t, root, "f", "x")
	tree := content.Open(root, content.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.Stat(ctx, []repo.Entry{{Path: "f"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Stat with a cancelled context returned the error %v; want the cancellation", err)
	}
	if found, err := tree.Stat(t.Context(), nil); err != nil || len(found) != 0 {
		t.Errorf("no entries: %v, %v", found, err)
	}
	gone := content.Open(filepath.Join(root, "none"), content.Options{})
	if _, err := gone.Stat(t.Context(), []repo.Entry{{Path: "f"}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no root: %v, want an error rather than an absent file", err)
	}
}
