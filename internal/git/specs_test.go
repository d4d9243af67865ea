package git

import (
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/testrepo"
)

func TestSpecsAt(t *testing.T) {
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
	set, err := g.SpecsAt(t.Context(), headOf(t, r, "HEAD"))
	if err != nil || len(set) != 2 {
		t.Fatalf("%v, %v", set, err)
	}
	for path, text := range map[repo.Path]string{".spec/a/spec.md": "a\n", ".spec/a b\n\"/spec.md": "b\n"} {
		want := strings.TrimSpace(r.Git("hash-object", string(path)))
		if set[path].String() != want {
			t.Errorf("%s (%q): %s, want %s", path, text, set[path], want)
		}
	}
	if set, err := g.SpecsAt(t.Context(), repo.ID{}); err != nil || len(set) != 0 {
		t.Errorf("of no commit: %v, %v", set, err)
	}
	absent, err := repo.ParseID(strings.Repeat("1", 40))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.SpecsAt(t.Context(), absent); err == nil {
		t.Error("a commit that is not there has specs")
	}
}
