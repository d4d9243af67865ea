package git

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ken/internal/repo"
	"ken/internal/testrepo"
)

// What is pending is in the index that a hook was handed, if that is of this
// repository.
func TestPending(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a", "1")
	r.Write("b", "1")
	r.Commit("first")
	g, err := Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	head := headOf(t, r, "HEAD")
	pending := func(want ...repo.Path) {
		t.Helper()
		p, err := g.Pending(t.Context(), head)
		if err != nil || p.Merge || !slices.Equal(p.Paths, want) {
			t.Errorf("%+v, %v; want %q", p, err, want)
		}
	}
	pending()
	r.Write("b", "2")
	pending()
	r.Git("add", "b")
	pending("b")
	other := filepath.Join(r.Dir, ".git", "another")
	if err := os.Rename(filepath.Join(r.Dir, ".git", "index"), other); err != nil {
		t.Fatal(err)
	}
	r.Git("read-tree", "HEAD")
	pending()
	t.Setenv("GIT_INDEX_FILE", other)
	pending("b")
	t.Setenv("GIT_DIR", filepath.Join(r.Dir, ".git"))
	pending("b")
	t.Setenv("GIT_DIR", t.TempDir())
	pending()
}

func TestResolve(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a", "1")
	r.Commit("first")
	g, err := Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	head := headOf(t, r, "HEAD")
	for rev, want := range map[string]bool{
		"HEAD": true, "main": true, head.String()[:10]: true,
		"": false, "nobody": false, "HEAD^{tree}": false, "--all": false, "HEAD\nmain": false, "HEAD~9": false,
	} {
		id, ok, err := g.Resolve(t.Context(), rev)
		if err != nil || ok != want || ok && id != head {
			t.Errorf("%q: %v %v %v", rev, id, ok, err)
		}
	}
}
