package git

import (
	"reflect"
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/testrepo"
)

func TestFilesNamed(t *testing.T) {
	r := testrepo.New(t)
	r.Write(".spec/a/spec.md", "a\n")
	r.Write(".spec/a b\n\"/spec.md", "b\n")
	r.Write(".spec/a/other.md", "x\n")
	r.Write("src/.spec/c/spec.md", "not ours\n")
	r.Write(".special/spec.md", "not ours\n")
	r.Symlink("../a/spec.md", ".spec/l/spec.md")
	r.Commit("first")
	g, err := Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	set, err := g.FilesNamed(t.Context(), headOf(t, r, "HEAD"), ".spec", "spec.md")
	if err != nil || len(set) != 2 {
		t.Fatalf("FilesNamed returned %v, %v; want 2 files", set, err)
	}
	for path, text := range map[repo.Path]string{".spec/a/spec.md": "a\n", ".spec/a b\n\"/spec.md": "b\n"} {
		want := strings.TrimSpace(r.Git("hash-object", string(path)))
		if set[path].String() != want {
			t.Errorf("the id of %s (%q) is %s; want %s", path, text, set[path], want)
		}
	}
	if set, err := g.FilesNamed(t.Context(), repo.ID{}, ".spec", "spec.md"); err != nil || len(set) != 0 {
		t.Errorf("of no commit: %v, %v", set, err)
	}
	absent, err := repo.ParseID(strings.Repeat("1", 40))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.FilesNamed(t.Context(), absent, ".spec", "spec.md"); err == nil {
		t.Error("a commit that is not there has files: want an error")
	}
}

func TestEntriesAt(t *testing.T) {
	r := testrepo.New(t)
	r.Write("dir/a\tb.go", "a\n")
	r.Symlink("x", "link")
	commit := idOf(t, r.Commit("first"))
	got, err := opened(t, r.Dir).EntriesAt(t.Context(), commit)
	want := []repo.File{
		{Path: "dir/a\tb.go", ID: repo.SHA1.Blob([]byte("a\n")), Mode: repo.Regular},
		{Path: "link", ID: repo.SHA1.Blob([]byte("x")), Mode: repo.Symlink},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the listing is %+v, %v; want %+v", got, err, want)
	}
}
