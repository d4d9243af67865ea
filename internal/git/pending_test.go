package git

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ken/internal/repo"
	"ken/internal/testrepo"
)

// Pending uses the index of a hook if it belongs to this repository.
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
		var paths []repo.Path
		for _, c := range p.Changes {
			paths = append(paths, c.Path)
		}
		if err != nil || p.Merge || !slices.Equal(paths, want) {
			t.Errorf("the pending changes are %+v, %v; want %q", p, err, want)
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

// Pending returns the new content of each change, and marks unmerged paths.
func TestPendingChanges(t *testing.T) {
	r := testrepo.New(t)
	for _, name := range []string{"edited", "gone", "undecided"} {
		r.Write(".spec/"+name+"/spec.md", name)
	}
	r.Commit("first")
	r.Git("checkout", "-q", "-b", "side")
	r.Write(".spec/undecided/spec.md", "there")
	r.Commit("there")
	r.Git("checkout", "-q", "main")
	r.Write(".spec/undecided/spec.md", "here")
	r.Commit("here")
	if _, err := r.Try("cherry-pick", "side"); err == nil {
		t.Fatal("the merge has no conflict; this test needs one")
	}
	r.Write("spec.md", "none")
	r.Write(".spec/edited/spec.md", "edited again")
	r.Symlink("edited", ".spec/spec.md")
	r.Remove(".spec/gone/spec.md")
	r.Git("add", "spec.md", ".spec/edited", ".spec/spec.md", ".spec/gone")
	g, err := Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Pending(t.Context(), headOf(t, r, "HEAD"))
	if err != nil || p.Merge {
		t.Fatalf("%+v, %v; want changes of an ordinary commit", p, err)
	}
	got := make(map[repo.Path]repo.PendingChange)
	for _, c := range p.Changes {
		if !got[c.Path].Unmerged {
			got[c.Path] = c
		}
	}
	edited := g.ObjectFormat().Blob([]byte("edited again"))
	if len(got) != 5 || got[".spec/edited/spec.md"].ID != edited || !got[".spec/gone/spec.md"].ID.IsZero() ||
		!got[".spec/undecided/spec.md"].Unmerged || got[".spec/spec.md"].Mode != repo.Symlink {
		t.Errorf("%+v; want five paths: edited with its new content, gone with none, undecided unmerged, a link", got)
	}
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
			t.Errorf("Resolve(%q) returned %v, %t, %v; want found to be %t", rev, id, ok, err, want)
		}
	}
}
