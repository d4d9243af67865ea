package git_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/testrepo"
)

func parents(t *testing.T, r *testrepo.Repo, n int) (list []repo.Commit, cut bool) {
	t.Helper()
	g := opened(t, r)
	head, err := g.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cut, err = g.FirstParents(t.Context(), head.Commit, n, func(c repo.Commit) error {
		list = append(list, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, cut
}

// A merge has the changes that it brought to the branch. Commits of the merged branch are left out.
func TestFirstParents(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a", "one\n")
	r.Symlink("a", "link")
	r.Commit("first")
	r.Git("checkout", "--quiet", "-b", "side")
	r.Write("b", "two\n")
	r.Commit("beside")
	r.Git("checkout", "--quiet", "main")
	r.Git("merge", "--quiet", "--no-ff", "-m", "merged", "side")
	r.Remove("link")
	r.Write("link", "no link\n")
	r.Commit("third")

	list, cut := parents(t, r, 10)
	var got []string
	for _, c := range list {
		line := c.Subject
		for _, ch := range c.Changes {
			line += fmt.Sprintf(" %s:%o>%o", ch.Path, ch.OldMode, ch.NewMode)
		}
		got = append(got, line)
	}
	want := []string{"third link:120000>100644", "merged b:0>100644", "first a:0>100644 link:0>120000"}
	if !slices.Equal(got, want) || cut {
		t.Errorf("got %q, cut %v\nwant %q", got, cut, want)
	}
	if list, _ := parents(t, r, 2); len(list) != 2 || list[1].Subject != "merged" {
		t.Errorf("two of them: %v", list)
	}
	if list, cut := parents(t, r.Clone("--depth=2"), 10); len(list) != 1 || !cut {
		t.Errorf("of a shallow clone: %v, cut %v", list, cut)
	}
	if list, cut := parents(t, r.Clone("--depth=2"), 1); len(list) != 1 || cut {
		t.Errorf("one of a shallow clone: %v, cut %v; want 1 commit, since no more were asked for", list, cut)
	}
	stop := errors.New("enough")
	g := opened(t, r)
	if _, err := g.FirstParents(t.Context(), list[0].ID, 10, func(repo.Commit) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("FirstParents returned %v instead of the error of f", err)
	}
}

// The changes of each commit, undone from the newest on, give the trees of git: with links, modes, removed files and
// merges.
func TestFirstParentsHasTheChangesBetweenTrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := testrepo.New(t)
		step := func() {
			name := rapid.SampledFrom([]string{"a.go", "lib/b.go", "lib/deep/c.go", "lib/e"}).Draw(rt, "path")
			_ = os.Remove(r.Path(name))
			switch rapid.IntRange(0, 4).Draw(rt, "act") {
			case 0:
			case 1:
				r.Symlink("nowhere", name)
			case 2:
				r.Write(name, "#!/bin/sh\n")
				r.Chmod(name, 0o755)
			default:
				r.Write(name, fmt.Sprintln(rapid.IntRange(0, 3).Draw(rt, "text")))
			}
		}
		for i := range rapid.IntRange(1, 6).Draw(rt, "commits") {
			if i > 0 && rapid.Bool().Draw(rt, "merge") {
				r.Git("checkout", "--quiet", "-b", fmt.Sprint("side", i))
				step()
				r.Commit("beside")
				r.Git("checkout", "--quiet", "main")
				r.Git("merge", "--quiet", "--no-ff", "--no-edit", fmt.Sprint("side", i))
				continue
			}
			step()
			r.Commit(fmt.Sprint("commit ", i))
		}
		list, _ := parents(t, r, 10)
		g := opened(t, r)
		tree := filesAt(t, g, list[0].ID)
		for i, c := range list {
			for _, ch := range c.Changes {
				was := repo.File{Path: ch.Path, ID: ch.Old, Mode: ch.OldMode}
				is := repo.File{Path: ch.Path, ID: ch.New, Mode: ch.NewMode}
				if got := tree[ch.Path]; is.ID != got.ID || is.Mode != got.Mode {
					rt.Fatalf("%s: FirstParents says that %s became %+v, git has %+v", c.Subject, ch.Path, is, got)
				}
				delete(tree, ch.Path)
				if !was.ID.IsZero() {
					tree[ch.Path] = was
				}
			}
			want := make(map[repo.Path]repo.File)
			if i+1 < len(list) {
				want = filesAt(t, g, list[i+1].ID)
			}
			if !maps.Equal(tree, want) {
				rt.Fatalf("the tree before %s is %v, git has %v", c.Subject, tree, want)
			}
		}
	})
}

func filesAt(t *testing.T, g *git.Repo, commit repo.ID) map[repo.Path]repo.File {
	t.Helper()
	list, err := g.EntriesAt(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[repo.Path]repo.File)
	for _, f := range list {
		f.Size = 0
		files[f.Path] = f
	}
	return files
}

func TestEntriesAt(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a\nb", "one\n")
	r.Write("dir/ä", "two\n")
	r.Symlink("x", "link")
	commit, err := repo.ParseID(r.Commit("first"))
	if err != nil {
		t.Fatal(err)
	}
	g := opened(t, r)
	got, err := g.EntriesAt(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	want, err := g.FilesAt(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		want[i].Size = 0
	}
	if !slices.Equal(got, want) || len(got) != 3 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Sizes returns -1 for a missing content, and fetches nothing.
func TestSizes(t *testing.T) {
	r := testrepo.New(t)
	r.Git("config", "uploadpack.allowFilter", "true")
	r.Write("a", "one\n")
	r.Commit("first")
	r.Write("a", "three\n")
	r.Write("empty", "")
	r.Commit("second")
	ids := make([]repo.ID, 0, 4)
	for _, rev := range []string{"HEAD~1:a", "HEAD:a", "HEAD:empty"} {
		ids = append(ids, parse(t, r.Git("rev-parse", rev)))
	}
	ids = append(ids, parse(t, strings.Repeat("1", 40)))
	for name, tt := range map[string]struct {
		repo *git.Repo
		want []int64
	}{
		"whole":   {opened(t, r), []int64{4, 6, 0, -1}},
		"partial": {opened(t, r.Clone("--filter=blob:none")), []int64{-1, 6, 0, -1}},
	} {
		got, err := tt.repo.Sizes(t.Context(), ids)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, tt.want)
		}
	}
	if got, err := opened(t, r).Sizes(t.Context(), nil); len(got) != 0 || err != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}

func opened(t *testing.T, r *testrepo.Repo) *git.Repo {
	t.Helper()
	g, err := git.Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func parse(t *testing.T, text string) repo.ID {
	t.Helper()
	id, err := repo.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
