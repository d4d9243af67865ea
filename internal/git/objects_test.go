package git

import (
	"slices"
	"strings"
	"testing"

	"ken/internal/fault"
	"ken/internal/repo"
)

func TestTree(t *testing.T) {
	b := newBox(t)
	c := b.commit("a", "1")
	r := b.open()
	for range 2 {
		if got, ok, err := r.Tree(ctx(t), c); got != b.id("HEAD^{tree}") || !ok || err != nil {
			t.Errorf("Tree returned %s, %v, %v; want the tree of HEAD", got, ok, err)
		}
	}
	missing, _ := repo.ParseID(strings.Repeat("1", 40))
	for _, id := range []repo.ID{missing, {}, b.id("HEAD:a")} {
		if got, ok, err := r.Tree(ctx(t), id); ok || err != nil {
			t.Errorf("Tree(%s) returned %s, %t, %v; want no tree and no error", id, got, ok, err)
		}
	}
}

func TestReachable(t *testing.T) {
	b := newBox(t)
	first := b.commit("a", "1")
	second := b.commit("a", "2")
	b.git("branch", "keep")
	b.git("reset", "-q", "--hard", "HEAD^")
	lost := b.commit("a", "3")
	b.git("commit", "-q", "--amend", "-m", "other")
	b.git("tag", "on-a-blob", "HEAD:a")
	missing, _ := repo.ParseID(strings.Repeat("1", 40))
	r := b.open()
	for name, c := range map[string]struct {
		id   repo.ID
		want bool
	}{
		"HEAD": {b.id("HEAD"), true}, "ancestor": {first, true}, "another branch": {second, true},
		"amended away": {lost, false}, "missing": {missing, false}, "none": {repo.ID{}, false}, "a blob": {b.id("HEAD:a"), false},
	} {
		if got, err := r.Reachable(ctx(t), c.id); got != c.want || err != nil {
			t.Errorf("Reachable of %s returned %t, %v; want %t", name, got, err, c.want)
		}
	}
	b.git("checkout", "-q", "--orphan", "unborn")
	if got, err := b.open().Reachable(ctx(t), first); !got || err != nil {
		t.Errorf("from an unborn HEAD: %v, %v", got, err)
	}
}

func TestAt(t *testing.T) {
	b := newBox(t)
	names := []string{"a", "d/b", "new\nline", "*", "[x]", "quo\"te", "\xff", " ", "-f", ":(glob)x"}
	for _, n := range names {
		b.write(n, n)
	}
	c := b.commit()
	r := b.open()
	for _, n := range names {
		want := b.id("HEAD:" + n)
		if got, ok, err := r.At(ctx(t), c, repo.Path(n)); got != want || !ok || err != nil {
			t.Errorf("At(%q) returned %s, %t, %v; want %s", n, got, ok, err, want)
		}
	}
	for _, n := range []repo.Path{"absent", "a/b", "d/*", "**"} {
		if got, ok, err := r.At(ctx(t), c, n); ok || err != nil {
			t.Errorf("At(%q) returned %s, %t, %v; want nothing and no error", n, got, ok, err)
		}
	}
	missing, _ := repo.ParseID(strings.Repeat("1", 40))
	if got, ok, err := r.At(ctx(t), missing, "a"); err == nil {
		t.Errorf("a missing commit: %s, %v", got, ok)
	}
	if _, _, err := r.At(ctx(t), c, "../a"); fault.KindOf(err) != fault.Usage {
		t.Errorf("At(\"../a\") returned the error %v; want a usage error", err)
	}
}

func TestIndexDiffers(t *testing.T) {
	b := newBox(t)
	check := func(name string, want bool) {
		t.Helper()
		r := b.open()
		s, err := r.Snapshot(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		tree, _, err := r.Tree(ctx(t), s.Head.Commit)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.IndexDiffers(ctx(t), s, tree); got != want || err != nil {
			t.Errorf("%s: IndexDiffers returned %t, %v; want %t", name, got, err, want)
		}
	}
	check("nothing at all", false)
	b.write("a", "1")
	b.git("add", "-N", "a")
	check("unborn, intent", false)
	b.git("add", "a")
	check("unborn, added", true)
	b.commit()
	check("committed", false)
	b.write("a", "2")
	check("edited only", false)
	b.write("new", "")
	b.git("add", "-N", "new")
	check("intent", false)
	b.git("add", "a")
	check("added", true)
	b.write("a", "1")
	b.git("add", "a")
	check("added back", false)
	b.git("update-index", "--chmod=+x", "a")
	check("mode", true)
	b.git("update-index", "--chmod=-x", "a")
	b.git("rm", "-q", "--cached", "a")
	check("removed", true)
}

func TestChangedBy(t *testing.T) {
	b := newBox(t)
	if _, _, err := b.open().ChangedBy(ctx(t), "HEAD"); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "no commits yet") {
		t.Errorf("ChangedBy without commits returned the error %v; want a usage error", err)
	}
	check := func(rev string, want ...repo.Path) {
		t.Helper()
		id, got, err := b.open().ChangedBy(ctx(t), rev)
		if err != nil || id != b.id(rev+"^{commit}") || !slices.Equal(got, want) {
			t.Errorf("ChangedBy(%q) returned %s, %q, %v; want %q", rev, id, got, err, want)
		}
	}
	b.commit("a", "1", "d/b", "2", "new\nline", "3")
	check("HEAD", "a", "d/b", "new\nline")
	b.git("mv", "a", "moved")
	b.commit("d/b", "other")
	check("HEAD", "a", "d/b", "moved")
	b.git("checkout", "-q", "-b", "side", "HEAD^")
	b.commit("side", "1")
	b.git("checkout", "-q", "main")
	b.commit("main", "1")
	b.git("merge", "-q", "-m", "merge", "side")
	check("HEAD", "side")
	check("main^2", "side")
	b.git("tag", "-a", "-m", "t", "v1")
	check("v1", "side")
	b.commit()
	check("HEAD")
	for _, rev := range []string{"nope", "--all", "-h", "", "HEAD:moved", "a..b", "HEAD@{99}", "x\x00y", "HEAD\n"} {
		if id, got, err := b.open().ChangedBy(ctx(t), rev); fault.KindOf(err) != fault.Usage {
			t.Errorf("ChangedBy(%q) returned %s, %q, %v; want a usage error", rev, id, got, err)
		}
	}
}

func TestChangedByAtTheEdgeOfAShallowClone(t *testing.T) {
	origin := newBox(t)
	origin.commit("a", "1")
	origin.commit("b", "1")
	b := origin.clone("--depth=1")
	if _, got, err := b.open().ChangedBy(ctx(t), "HEAD"); err == nil || !strings.Contains(fault.HintOf(err), "--deepen") {
		t.Errorf("ChangedBy returned %q, %v; want an error with a hint to deepen the clone", got, err)
	}
}

func TestUntracked(t *testing.T) {
	b := newBox(t)
	b.commit(".gitignore", "*.o\n")
	for _, n := range []string{"x.o", "new", "d/deep", "new\nline", "\xff"} {
		b.write(n, "")
	}
	b.git("init", "-q", "nested")
	b.write("nested/f", "")
	got, err := b.open().Untracked(ctx(t))
	if want := []repo.Path{"d/deep", "nested/", "new", "new\nline", "\xff"}; !slices.Equal(got, want) || err != nil {
		t.Errorf("Untracked returned %q, %v; want %q", got, err, want)
	}
}
