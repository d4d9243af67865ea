package git

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ken/internal/git/objects"
	"ken/internal/repo"
	"ken/internal/testrepo"
)

// At returns the same ids as git rev-parse, for every path in every commit.
func TestContents(t *testing.T) {
	for _, opt := range [][]testrepo.Option{nil, {testrepo.SHA256}} {
		r := testrepo.New(t, opt...)
		ids := randomHistory(t, r, rand.New(rand.NewPCG(5, 6)), 25)
		m := newModel(t, r)
		g, err := Open(t.Context(), r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		var places []repo.CommitPath
		var want []string
		for _, id := range ids {
			for _, name := range append([]string{"dir", "none", "none/at/all", "a/below", "dir/deep/none", "new\nline/x", "/a", "a/", "./a", "dir//b"}, oddNames...) {
				places = append(places, repo.CommitPath{Commit: id, Path: repo.Path(name)})
				what := strings.Fields(m.commit(id).files[repo.Path(name)])
				if len(what) < 3 {
					tree := ""
					if !strings.ContainsAny(name, "\n\r") && !strings.HasSuffix(name, "/") && !strings.HasPrefix(name, ".") {
						tree, _ = r.Try("rev-parse", "-q", "--verify", id.String()+":"+name)
					}
					what = []string{"", "", tree}
				}
				if strings.Contains(name, "//") {
					what[2] = ""
				}
				want = append(want, what[2])
			}
			places = append(places, repo.CommitPath{Commit: id})
			want = append(want, r.Git("rev-parse", id.String()+"^{tree}"))
		}
		places = append(places, places[:20]...)
		want = append(want, want[:20]...)
		c := g.Contents()
		got, err := c.At(t.Context(), places)
		if err != nil {
			t.Fatal(err)
		}
		// With many paths of a commit, At lists the whole commit.
		more := slices.Clone(places)
		for _, id := range ids[:len(ids)/2] {
			for i := range objects.MaxNamed {
				more = append(more, repo.CommitPath{Commit: id, Path: repo.Path(fmt.Sprint("none/", i))})
			}
		}
		many, err := g.Contents().At(t.Context(), more)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range places {
			if got[i].String() != want[i] || many[i] != got[i] {
				t.Errorf("%s in %s is %q, among many %q, want %q", p.Path, p.Commit.Short(), got[i], many[i], want[i])
			}
		}
		if i := slices.IndexFunc(many[len(places):], func(id repo.ID) bool { return !id.IsZero() }); i >= 0 {
			t.Errorf("At found %s, which does not exist", more[len(places)+i].Path)
		}
		t.Run("again without git", func(t *testing.T) {
			withoutGit(t)
			again, err := c.At(t.Context(), places)
			if err != nil || !slices.Equal(got, again) {
				t.Errorf("At without git returned %v, %v; want the same ids as before", again, err)
			}
			if none, err := c.At(t.Context(), nil); err != nil || len(none) != 0 {
				t.Errorf("At without paths returned %v, %v; want nothing", none, err)
			}
		})
	}
}

// At returns the id of a missing content and of a submodule. A missing commit or tree is an error.
func TestContentsOfMissingObjects(t *testing.T) {
	r := testrepo.New(t)
	r.Write("dir/a", "a\n")
	r.Write("other/b", "b\n")
	r.Commit("one")
	head := headOf(t, r, "HEAD")
	r.Git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("12", 20)+",dir/sub")
	r.Git("commit", "-q", "-m", "two")
	two := headOf(t, r, "HEAD")
	blob, tree := r.Git("rev-parse", "HEAD:dir/a"), r.Git("rev-parse", "HEAD:other")
	for _, id := range []string{blob, tree} {
		r.Remove(".git/objects/" + id[:2] + "/" + id[2:])
	}
	g, err := Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	c := g.Contents()
	got, err := c.At(t.Context(), []repo.CommitPath{{Commit: two, Path: "dir/a"}, {Commit: two, Path: "dir/sub"}, {Commit: two, Path: "dir/sub/below"}, {Commit: head, Path: "dir/sub"}, {Commit: two, Path: "other"}})
	if err != nil || fmt.Sprint(got) != fmt.Sprint([]string{blob, strings.Repeat("12", 20), "", "", tree}) {
		t.Errorf("At returned %v, %v; want a blob, a submodule, nothing twice, and a tree", got, err)
	}
	// Many paths: below a complete directory, and below one with a missing tree.
	for _, dir := range []string{"dir/", ""} {
		many := []repo.CommitPath{{Commit: two, Path: "dir/a"}, {Commit: two, Path: "dir/sub"}}
		for i := range objects.MaxNamed {
			many = append(many, repo.CommitPath{Commit: two, Path: repo.Path(fmt.Sprint(dir, "none/", i))})
		}
		got, err := g.Contents().At(t.Context(), many)
		if err != nil || fmt.Sprint(got[:2]) != fmt.Sprint([]string{blob, strings.Repeat("12", 20)}) || !got[7].IsZero() {
			t.Errorf("At returned %v, %v first; want the blob and the submodule", got[:2], err)
		}
		if got, err := g.Contents().At(t.Context(), append(many, repo.CommitPath{Commit: two, Path: "other/b"})); err == nil {
			t.Errorf("other/b is %v", got[len(got)-1])
		}
	}
	absent, err := repo.ParseID(strings.Repeat("34", 20))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []repo.CommitPath{{Commit: two, Path: "other/b"}, {Commit: absent, Path: "a"}, {Commit: absent}, {Path: "a"}} {
		if got, err := c.At(t.Context(), []repo.CommitPath{{Commit: two, Path: "dir/a"}, p}); err == nil {
			t.Errorf("At(%v) returned %v; want an error", p, got)
		}
	}
}
