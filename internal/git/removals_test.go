package git

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/testrepo"
)

func TestRemovals(t *testing.T) {
	r := testrepo.New(t)
	long := strings.Repeat("a line that is long enough to be found again\n", 20)
	r.Write("a.go", long)
	r.Write("dir/b.go", "short\n")
	r.Write("-c\n.go", "odd "+long)
	first := idOf(t, r.Commit("first"))
	r.Git("mv", "a.go", "moved.go")
	r.Write("moved.go", long+"and more\n")
	r.Remove("dir/b.go")
	r.Git("mv", "--", "-c\n.go", "c.go")
	second := idOf(t, r.Commit("second"))
	r.Git("switch", "-q", "-c", "side", first.String())
	r.Remove("a.go")
	r.Commit("side")
	r.Git("switch", "-q", "main")
	r.Git("merge", "-q", "-s", "ours", "side")
	merge := idOf(t, r.Git("rev-parse", "HEAD"))

	got, err := opened(t, r.Dir).Removals(t.Context(), []repo.ID{merge, second, first})
	if err != nil {
		t.Fatal(err)
	}
	blob := func(s string) repo.ID { return repo.SHA1.Blob([]byte(s)) }
	want := []repo.Removal{
		{Path: "-c\n.go", MovedTo: "c.go", Similarity: 100, ID: blob("odd " + long)},
		{Path: "dir/b.go", ID: blob("short\n")},
		{Path: "a.go", MovedTo: "moved.go", Similarity: 99, ID: blob(long)},
	}
	if len(got[0]) != 0 || len(got[2]) != 0 {
		t.Errorf("Removals returned %v for a merge and %v for a root commit; want none", got[0], got[2])
	}
	if len(got[1]) != len(want) {
		t.Fatalf("Removals returned %+v; want %d", got[1], len(want))
	}
	for _, w := range want {
		found := false
		for _, d := range got[1] {
			found = found || reflect.DeepEqual(d, w)
		}
		if !found {
			t.Errorf("no %+v among %+v", w, got[1])
		}
	}
	if _, err := opened(t, r.Dir).Removals(t.Context(), []repo.ID{repo.SHA1.Blob(nil)}); err == nil {
		t.Error("Removals returned no error for an id that is not a commit")
	}
}

func TestIgnored(t *testing.T) {
	r := testrepo.New(t)
	r.Write(".gitignore", "*.o\n/build/\n!keep.o\n")
	r.Write("a.go", "a\n")
	r.Symlink("a", "link")
	r.Commit("first")
	paths := []repo.Path{"x.o", "dir/y.o", "keep.o", "build/a", "other", "link/behind.o", "-x.o", ":(top)z.o", "[.o", "a.go"}
	want := []bool{true, true, false, true, false, false, true, true, true, false}
	got, err := opened(t, r.Dir).Ignored(t.Context(), paths)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Ignored returned %v, %v; want %v", got, err, want)
	}
	if got, err := opened(t, r.Dir).Ignored(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}

func TestIgnoreDigest(t *testing.T) {
	r := testrepo.New(t)
	r.Commit("first")
	plain := opened(t, r.Dir).IgnoreDigest()
	if plain == "" {
		t.Fatal("IgnoreDigest is \"\" in an ordinary layout")
	}
	r.Write(".git/info/exclude", "*.x\n")
	excluded := opened(t, r.Dir).IgnoreDigest()
	r.Write(".git/mine", "*.y\n")
	r.Git("config", "core.excludesFile", r.Path(".git/mine"))
	own := opened(t, r.Dir).IgnoreDigest()
	if plain == excluded || excluded == own || own == plain {
		t.Errorf("the ignore digests are %s, %s, %s; want three different ones", plain, excluded, own)
	}
}

func opened(t *testing.T, dir string) *Repo {
	t.Helper()
	r, err := openFiltered(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func idOf(t *testing.T, text string) repo.ID {
	t.Helper()
	id, err := repo.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestRemovalsWithoutContents(t *testing.T) {
	r := testrepo.New(t)
	long := strings.Repeat("a line that is long enough to be found again\n", 20)
	r.Write("a.go", long)
	r.Write("b.go", "b "+long)
	r.Write("c.go", "c "+long)
	r.Commit("first")
	r.Git("mv", "a.go", "moved.go")
	whole := idOf(t, r.Commit("whole"))
	r.Git("mv", "b.go", "b2.go")
	r.Write("b2.go", "b "+long+"more\n")
	r.Git("mv", "c.go", "c2.go")
	cut := idOf(t, r.Commit("cut"))
	old := r.Git("rev-parse", "HEAD~1:b.go")
	if err := os.Remove(filepath.Join(r.Dir, ".git", "objects", old[:2], old[2:])); err != nil {
		t.Fatal(err)
	}
	got, err := opened(t, r.Dir).Removals(t.Context(), []repo.ID{whole, cut})
	if err != nil {
		t.Fatal(err)
	}
	to := make(map[repo.Path]repo.Path)
	for _, d := range slices.Concat(got...) {
		to[d.Path] = d.MovedTo
	}
	if want := map[repo.Path]repo.Path{"a.go": "moved.go", "b.go": "", "c.go": "c2.go"}; !reflect.DeepEqual(to, want) {
		t.Errorf("the removed files moved to %v; want %v", to, want)
	}
}

func TestLastRemoval(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "one\n")
	r.Write("dir/b.go", "two\n")
	r.Write("*.go", "odd\n")
	r.Commit("first")
	r.Remove("a.go")
	r.Commit("delete a")
	r.Write("a.go", "again\n")
	r.Commit("add a again")
	r.Remove("a.go")
	last := idOf(t, r.Commit("delete a for good"))
	r.Git("mv", "dir", "other")
	moved := idOf(t, r.Commit("rename dir"))

	for path, want := range map[repo.Path]repo.ID{"a.go": last, "dir": moved, "dir/b.go": moved, "other": {}, "never.go": {}, "*.go": {}} {
		got, err := opened(t, r.Dir).LastRemoval(t.Context(), moved, path)
		if err != nil || got != want {
			t.Errorf("%s was last removed by %v, %v; expected %v", path, got, err, want)
		}
	}
}
