package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/testrepo"
)

// walked returns a line per commit, oldest first.
func walked(t *testing.T, r *testrepo.Repo, heads, known []repo.ID) []string {
	t.Helper()
	g, err := openFiltered(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	err = g.Walk(t.Context(), heads, known, []string{"Session", "Spec-OK"}, func(c repo.Commit) error {
		line := fmt.Sprintf("%s|%d|%v|", c.Subject, len(c.Parents), c.Trailers)
		for _, ch := range c.Changes {
			line += fmt.Sprintf("%s %d,", ch.Path, ch.Kind)
		}
		out = append(out, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(out)
	return out
}

func headOf(t *testing.T, r *testrepo.Repo, rev string) repo.ID {
	t.Helper()
	id, err := repo.ParseID(strings.TrimSpace(r.Git("rev-parse", rev)))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Walk returns every commit once, with its changes and trailers. Messages and file names cannot forge other fields.
func TestWalk(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a b\nc.go", "1\n")
	r.Write(":100644 x", "1\n")
	r.Commit("first")
	r.Git("commit", "--allow-empty", "-q", "-m", "forged\n\n:100644 100644 0 0 M\n\nSession: prose\n\nno trailer here\nSession: not one either\nand more")
	r.Git("commit", "--allow-empty", "-q", "-m", "told\n\nSpec-OK: a\x1fSession: b\nsession: s-1\n folded\nOther: x")
	start := headOf(t, r, "HEAD")
	r.Git("checkout", "-q", "-b", "side")
	r.Write("side.go", "s\n")
	r.Write("both.go", "side\n")
	r.Commit("side")
	r.Git("checkout", "-q", "main")
	r.Git("mv", ":100644 x", "moved")
	r.Git("update-index", "--chmod=+x", "a b\nc.go")
	r.Write("both.go", "main\n")
	r.Git("add", "both.go")
	r.Git("commit", "-q", "-m", "moved")
	r.Git("merge", "-q", "--no-commit", "-s", "ours", "side")
	r.Write("both.go", "evil\n")
	r.Commit("merged")

	got := walked(t, r, []repo.ID{headOf(t, r, "HEAD")}, nil)
	want := []string{
		fmt.Sprintf("first|0|[]|%s 1,%s 1,", repo.Path(":100644 x"), repo.Path("a b\nc.go")),
		"forged|1|[]|",
		"told|1|[{Spec-OK a\x1fSession: b} {session s-1 folded}]|",
		"merged|2|[]|both.go 0,",
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("no %q among\n%s", w, strings.Join(got, "\n"))
		}
	}
	if len(got) != 6 || !strings.Contains(strings.Join(got, "\n"), fmt.Sprintf("moved|1|[]|%s 2,%s 3,both.go 1,moved 1,", repo.Path(":100644 x"), repo.Path("a b\nc.go"))) {
		t.Errorf("Walk found %d commits, want 6 with the moved files:\n%s", len(got), strings.Join(got, "\n"))
	}
	if since := walked(t, r, []repo.ID{headOf(t, r, "HEAD")}, []repo.ID{start}); len(since) != 3 {
		t.Errorf("since %s, Walk found %q; want 3 commits", start.Short(), since)
	}
	if none := walked(t, r, []repo.ID{start}, []repo.ID{headOf(t, r, "HEAD")}); len(none) != 0 {
		t.Errorf("nothing new: %q", none)
	}
}

// No setting changes the commits of a walk.
func TestWalkUnderAnyConfig(t *testing.T) {
	r := testrepo.New(t)
	r.Write("ü", "1\n")
	r.Write("dir/b", "1\n")
	r.Commit("first ü\n\n# a note\n\nSession: s-1\n# another\nSpec-OK: a")
	r.Git("mv", "dir/b", "dir/c")
	r.Commit("moved\n\nSession=prose\nSession: s-2")
	r.Git("checkout", "-q", "-b", "side")
	r.Write("ü", "2\n")
	r.Commit("side")
	r.Git("checkout", "-q", "main")
	r.Git("merge", "-q", "--no-commit", "--no-ff", "side")
	r.Write("ü", "3\n")
	r.Commit("merged\n\nSpec-OK: b")
	r.Git("notes", "add", "-m", "Session: noted")
	head := headOf(t, r, "HEAD")
	want := walked(t, r, []repo.ID{head}, nil)
	for _, setting := range []string{
		"core.commentChar=S", "core.commentChar=auto", "trailer.separators==", "trailer.ifexists=replace", "diff.orderFile=/nowhere/order",
		"log.showRoot=false", "log.showSignature=true", "log.follow=true", "log.diffMerges=off", "log.diffMerges=dense-combined", "log.date=relative",
		"log.mailmap=true", "log.decorate=full", "log.abbrevCommit=true", "format.pretty=fuller", "format.notes=*", "notes.displayRef=*",
		"i18n.logOutputEncoding=ISO-8859-1", "i18n.commitEncoding=UTF-16", "core.quotePath=true", "core.abbrev=4", "color.ui=always",
		"diff.renames=copies", "diff.relative=true", "diff.ignoreSubmodules=all", "diff.noprefix=true", "diff.external=false", "diff.submodule=log",
		"diff.algorithm=patience", "core.pager=false", "pager.log=true", "log.excludeDecoration=*", "core.precomposeUnicode=true",
	} {
		key, value, _ := strings.Cut(setting, "=")
		r.Git("config", key, value)
		if got := walked(t, r, []repo.ID{head}, nil); !slices.Equal(got, want) {
			t.Errorf("with %s, Walk found\n%s\nwant\n%s", setting, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		r.Git("config", "--unset", key)
	}
}

// Walk returns the error that stopped it.
func TestWalkFails(t *testing.T) {
	r := testrepo.New(t)
	for i := range 50 {
		r.Write("a", fmt.Sprint(i))
		r.Commit("c")
	}
	g, err := openFiltered(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	head := []repo.ID{headOf(t, r, "HEAD")}
	stop := errors.New("enough")
	n := 0
	err = g.Walk(t.Context(), head, nil, nil, func(repo.Commit) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("Walk made %d calls and returned the error %v; want 1 call and its error", n, err)
	}
	absent, err := repo.ParseID(strings.Repeat("1", 40))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Walk(t.Context(), []repo.ID{absent}, nil, nil, func(repo.Commit) error { return nil }); err == nil {
		t.Error("Walk returned no error for a missing commit")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Walk(ended, head, nil, nil, func(repo.Commit) error { return nil }); err == nil {
		t.Error("Walk returned no error for a cancelled context")
	}
	// A missing tree is an error, even after many good commits.
	tree := strings.TrimSpace(r.Git("rev-parse", "HEAD~20^{tree}"))
	r.Remove(".git/objects/" + tree[:2] + "/" + tree[2:])
	if err := g.Walk(t.Context(), head, nil, nil, func(repo.Commit) error { return nil }); err == nil {
		t.Error("Walk returned no error for a missing tree")
	}
}

// The walker parses output in parts of any size, and does not panic.
func FuzzWalker(f *testing.F) {
	id := strings.Repeat("ab", 20)
	f.Add([]byte(id+"\x00"+id+"\x002026-01-01T00:00:00Z\x00s\x00Session: x\n\x00\x00\n:100644 100644 "+id+" "+id+" M\x00p\x00"), 3)
	f.Add([]byte(id+"\x00\x00d\x00s\x00\x00::1 1 2 "+id+" "+id+" "+id+" MM\x00p\x00"+id+"\x00"), 1)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		read := func(size int) (out []string, failed bool) {
			w := &walker{stop: func(error) {}, f: func(c repo.Commit) error { out = append(out, fmt.Sprintf("%+v", c)); return nil }}
			for rest := b; len(rest) > 0; {
				n := min(max(size, 1), len(rest))
				if _, err := w.Write(rest[:n]); err != nil {
					return out, true
				}
				rest = rest[n:]
			}
			return out, w.end() != nil
		}
		whole, bad := read(len(b))
		pieces, alsoBad := read(size)
		if !slices.Equal(whole, pieces) || bad != alsoBad {
			t.Fatalf("%q: %q, %v in one piece and %q, %v in many", b, whole, bad, pieces, alsoBad)
		}
	})
}

// walkParts returns the same commits as Walk, for a history with merges, several roots, empty commits, a shallow boundary
// and a replaced commit.
func TestWalkInParts(t *testing.T) {
	r := testrepo.New(t)
	for i := range 7 {
		r.Write("a", fmt.Sprint(i))
		r.Commit(fmt.Sprint("commit ", i))
	}
	r.Git("checkout", "-q", "-b", "side", "HEAD~3")
	r.Write("b", "b")
	r.Commit("side\n\nSession: s")
	r.Git("checkout", "-q", "main")
	r.Git("merge", "-q", "--no-ff", "-m", "merge", "side")
	r.Git("checkout", "-q", "--orphan", "other")
	r.Write("c", "c")
	r.Commit("another root")
	r.Git("checkout", "-q", "main")
	r.Git("merge", "-q", "--no-ff", "--no-commit", "--allow-unrelated-histories", "other")
	r.Write("d", "of the merge's own")
	r.Commit("evil merge")
	r.Git("commit", "--allow-empty", "-q", "-m", "nothing")
	r.Git("replace", "--graft", "HEAD~2")
	shallow := r.Clone("--depth=2")
	for name, r := range map[string]*testrepo.Repo{"whole": r, "shallow": shallow} {
		g, err := openFiltered(t.Context(), r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		heads := []repo.ID{headOf(t, r, "HEAD")}
		var want, got []string
		take := func(list *[]string) func(repo.Commit) error {
			return func(c repo.Commit) error { *list = append(*list, fmt.Sprint(c)); return nil }
		}
		if err := g.Walk(t.Context(), heads, nil, testFilter.Trailers, take(&want)); err != nil {
			t.Fatal(err)
		}
		commits, err := g.reachable(t.Context(), heads)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.walkParts(t.Context(), commits, 3, 2, testFilter.Trailers, take(&got)); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		slices.Sort(got)
		if len(want) < 2 || !slices.Equal(got, want) {
			t.Errorf("%s: in parts %q, want %q", name, got, want)
		}
		fails := errors.New("fails")
		if err := g.walkParts(t.Context(), commits, 1, 2, nil, func(repo.Commit) error { return fails }); !errors.Is(err, fails) {
			t.Errorf("%s: walkParts returned the error %v; want that of the callback", name, err)
		}
	}
}
