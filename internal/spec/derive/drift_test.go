package derive_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/spec/derive"
)

func TestDrift(t *testing.T) {
	runHistoryCases(t, []historyCase{
		{"none", "a: @x=1 f=1", "", "v1 d0 t0 a"},
		{"code ahead", "a: @x=1 f=1\nb: f=2", "", "v1 d1 t1 a f-1"},
		{"every commit", "a: @x=1 f=1\nb: f=2\nc: g=1\nd: f=3", "", "v1 d2 t2 a f-2"},
		{"spec and code in one commit", "a: @x=1 f=1\nb: f=2 @x=2", "", "v2 d0 t0 b,a"},
		{"a new version", "a: @x=1 f=1\nb: f=2\nc: @x=2", "", "v2 d0 t0 c,a"},
		{"a commit counts once, a file for itself", "a: @x=1 f=1 g=1\nb: f=2 g=2\nc: g=3", "@x code=f,g", "v1 d2 t2 a f-1 g-2"},
		{"no code", "a: @x=1 f=1\nb: f=2", "@x", "v1 d0 t0 a"},
		{"related code only", "a: @x=1 f=1\nb: f=2", "@x related=f", "v1 d0 t0 a"},
		{"code that is not there", "a: @x=1 f=1\nb: f=2", "@x code=h", "v1 d0 t0 a"},
		{"deleted", "a: @x=1 f=1\nb: -f", "", "v1 d1 t1 a f-1"},
		{"created later", "a: @x=1\nb: f=1", "", "v1 d1 t1 a f-1"},
		{"not committed yet", "a: f=1\nb: f=2", "", "v0 d0 t0"},

		{"a directory", "a: @x=1 d/f=1 d/e/g=1 dd/f=1\nb: d/f=2\nc: d/e/g=2\nd: dd/f=2\ne: d/new=1", "@x code=d/", "v1 d3 t3 a d/e/g-1 d/f-1 d/new-1"},
		{"a directory not written as one", "a: @x=1 d/f=1\nb: d/f=2", "@x code=d", "v1 d1 t1 a d/f-1"},
		{"a glob", "a: @x=1 d/f.go=1 d/f.md=1\nb: d/f.go=2\nc: d/f.md=2\nd: d/e/g.go=1", "@x code=d/**/*.go", "v1 d2 t2 a d/e/g.go-1 d/f.go-1"},
		{"a glob at the root", "a: @x=1 f.go=1 d/g.go=1\nb: f.go=2\nc: d/g.go=2", "@x code=*.go", "v1 d1 t1 a f.go-1"},
		{"a name that looks like a glob", "a: @x=1 app/[id]/p=1\nb: app/[id]/p=2", "@x code=app/[id]/p", "v1 d1 t1 a app/[id]/p-1"},
		{"all", "a: @x=1 f=1\nb: f=2", "@x code=.", "v1 d1 t1 a f-1"},
		{"entries that overlap", "a: @x=1 d/f=1\nb: d/f=2", "@x code=d/,d/f,d/*", "v1 d1 t1 a d/f-1"},
		{"a symbol, by its whole file", "a: @x=1 f.go=1\nb: f.go=2", "@x code=f.go#New", "v1 d1 t1 a f.go-1 ! f.go#New counts as its whole file; check whether New itself changed"},
		{"a file that became a directory", "a: @x=1 f=1\nb: -f f/g=1\nc: f/g=2", "", "v1 d2 t2 a f-1 f/g-2"},

		{"parallel branches that each land spec and code", "a: @x=1 f=1 g=1\nb: f=2 @x=2\nc <- a: g=2 @x=3\nm <- b c: @x~b", "@x code=f,g", "v3 d0 t0 c,b,a"},
		{"code on a branch beside the version", "a: @x=1 f=1\nb: @x=2\nc <- a: f=2\nm <- b c:", "", "v2 d1 t1 b,a f-1"},
		{"code on a branch that knew the version", "a: @x=1 f=1\nb: f=2\nc <- a: g=2\nm <- b c:\nn: @x=2", "", "v2 d0 t0 n,a"},
		{"the version is younger, by date, than what it never saw", "a: @x=1 f=1\nc <- a: f=2\nb <- a: @x=2\nm <- b c:", "", "v2 d1 t1 b,a f-1"},
		{"a merge that differs from every parent", "a: @x=1 f=1\nb: g=1\nc <- a: h=1\nm <- b c: f=2", "", "v1 d1 t1 a f-1"},
		{"git merged two edits of code: drift 2, not 3", "a: @x=1 f=1.a\nb: f=1.b\nc <- a: f=1.a.p\nm <- b c:", "", "v1 d2 t2 a f-2"},
		{"somebody resolved a conflict in code", "a: @x=1 f=1.a\nb: f=1.b\nc <- a: f=1.c\nm <- b c: f=1.d", "", "v1 d3 t3 a f-3"},
		{
			"a clean merge of two edits of the spec attests nothing",
			"a: @x=1.a f=1\nb: @x=1.b\nc: f=2\nd: f=3\ne: f=4\nw <- a: @x=1.a.p\nm <- e w:", "", "v3 d3 t3 w,b,a f-3",
		},
		{
			"a merge that moves the node attests nothing",
			"a: @y=1.a f=1\nb: @y=1.b\nc: f=2\nd: f=3\ne: f=4\nw <- a: @y>@x\nm <- e w:", "", "v2 d3 t3 b,a f-3",
		},
		{
			"two clean merges in a row attest nothing",
			"a: @x=1.a f=1\nb: f=2\nw <- a: @x=1.b\nv <- a: @x=1.a.p\nm <- b w:\nn <- m v:", "", "v3 d1 t1 v,w,a f-1",
		},
		{"a merge that takes a side", "a: @x=1 f=1\nb: f=2\nc <- a: f=3\nm <- b c: f~c", "", "v1 d2 t2 a f-2"},
		{"an edit in a merge is a version, and covers", "a: @x=1 f=1\nb: f=2\nc <- a: h=1\nm <- b c: @x=2", "", "v2 d0 t0 m,a"},
		{"what was dropped by a merge", "a: @x=1 f=1\nb: f=2\nc <- a: h=1\nm <- b c: f~c", "", "v1 d0 t1 a"},
		{"moved node", "a: @y=1 f=1\nb: f=2\nc: @y>@x\nd: f=3", "", "v1 d2 t2 a f-2"},
	})
}

// Drift is 0 if all governed files have the same content as in one commit that attests the present spec.
func TestSameContentAgain(t *testing.T) {
	runHistoryCases(t, []historyCase{
		{"edit and revert", "a: @x=1 f=1\nb: f=2\nc: f=1", "", "v1 d0 t2 a"},
		{"mode flip", "a: @x=1 f=1\nb: f!", "", "v1 d0 t1 a"},
		{"one of two reverted", "a: @x=1 f=1 g=1\nb: f=2\nc: f=1\nd: g=2", "@x code=f,g", "v1 d3 t3 a f-2 g-1"},
		{"deleted and restored", "a: @x=1 f=1\nb: -f\nc: f=1", "", "v1 d0 t2 a"},
		{"created and deleted", "a: @x=1 f=1\nb: d/n=1\nc: -d/n", "@x code=d/", "v1 d0 t2 a"},
		{"back to before the version", "a: @x=1 f=1\nb: f=2 @x=2\nc: f=1", "", "v2 d1 t1 b,a f-1"},
		{
			"never pieced together: each branch's version saw one file",
			"a: @x=1 f=1 g=1\nb: f=2 @x=2\nc <- a: g=2 @x=2\nm <- b c:\nd: f=3\ne: f=2", "@x code=f,g",
			"v3 d2 t2 c,b,a f-2",
		},
		{
			"one branch's version saw all of it",
			"a: @x=1 f=1 g=1\nb: g=9 @x=2\nc <- a: f=2 @x=2\nm <- b c: g~c\nd: f=3\ne: f=2", "@x code=f,g",
			"v3 d0 t2 c,b,a",
		},
		{
			"the spec that saw it is another",
			"a: @x=1 f=1\nb: f=5 @x=2\nc <- a: f=2 @x=3\nm <- b c: @x~b f~c\nd: f=3\ne: f=2", "",
			"v3 d2 t2 c,b,a f-2",
		},
		{
			"what no commit touched since differs too: a merge took the other side",
			"a: @x=1 f=1 g=1\nb: g=2 @x=2\nc <- a: h=1\nm <- b c: g~c\nd: f=2\ne: f=1", "@x code=f,g",
			"v2 d2 t2 b,a f-2",
		},
		{"as at the first version, whose spec came back", "a: @x=1 f=1\nb: @x=2 f=2\nc: @x=1\nd: f=1", "", "v3 d0 t1 c,b,a"},
		{"as at the first version, and the spec is another", "a: @x=1 f=1\nb: @x=2 f=2\nc: @x=3\nd: f=1", "", "v3 d1 t1 c,b,a f-1"},
		{"as at the first version but for one file", "a: @x=1 f=1 g=1\nb: @x=2 f=2 g=2\nc: @x=1\nd: f=1", "@x code=f,g", "v3 d1 t1 c,b,a f-1"},
		{"as at an ack", "a: @x=1 f=1\nb: f=2\nc: | Spec-OK: x\nd: f=3\ne: f=2", "", "v1 d0 t2 a c:valid"},
		{"as at the version, past an ack", "a: @x=1 f=1\nb: f=2\nc: | Spec-OK: x\nd: f=1", "", "v1 d0 t1 a c:valid"},
		{"as at no attestation", "a: @x=1 f=1\nb: f=2\nc: f=3\nd: | Spec-OK: x\ne: f=2", "", "v1 d1 t1 a d:valid f-1"},
		{"the node moved since", "a: @y=1 f=1\nb: @y>@x\nc: f=2\nd: f=1", "", "v1 d0 t2 a"},
		{"a spec that was deleted", "a: @x=1 f=1\nb: -@x f=2\nc: f=1", "", "v1 d2 t2 a f-2"},
	})
}

func TestMovedCode(t *testing.T) {
	runHistoryCases(t, []historyCase{
		{"moved as it was", "a: @x=1 f=1\nb: f>g", "", "v1 d0 t1 a ! code: f moved to g; replace f by g"},
		{"with an edit", "a: @x=1 f=1\nb: f>g=2", "", "v1 d1 t1 a f-1"},
		{"and edited later", "a: @x=1 f=1\nb: f>g\nc: g=2", "", "v1 d2 t2 a f-1 g-2 ! code: f moved to g; replace f by g"},
		{"and edited and reverted", "a: @x=1 f=1\nb: f>g\nc: g=2\nd: g=1", "", "v1 d0 t3 a ! code: f moved to g; replace f by g"},
		{"edited before", "a: @x=1 f=1\nb: f=2\nc: f>g", "", "v1 d2 t2 a f-2 g-1 ! code: f moved to g; replace f by g"},
		{"twice", "a: @x=1 f=1\nb: f>g\nc: g>h", "", "v1 d0 t2 a ! code: f moved to h; replace f by h"},
		{"and deleted", "a: @x=1 f=1\nb: f>g\nc: -g", "", "v1 d2 t2 a f-1 g-2"},
		{"and back", "a: @x=1 f=1\nb: f>g\nc: g>f", "", "v1 d0 t2 a"},
		{"and back and away", "a: @x=1 f=1\nb: f>g\nc: g>f\nd: -f", "", "v1 d3 t3 a f-3 g-2"},
		{"a symbol", "a: @x=1 f=1\nb: f>g", "@x code=f#New", "v1 d0 t1 a ! code: f moved to g; replace f#New by g#New"},
		{"a copy that stayed, and a deletion", "a: @x=1 f=1\nb: g=1\nc: -f", "", "v1 d1 t1 a f-1"},
		{"within a directory", "a: @x=1 d/f=1\nb: d/f>d/g", "@x code=d/", "v1 d0 t1 a"},
		{"out of a directory", "a: @x=1 d/f=1 d/k=1b\nb: d/f>e/g", "@x code=d/", "v1 d0 t1 a ! code: d/f moved to e/g; add e/g, or let another spec govern it"},
		{"into a directory", "a: @x=1 d/f=1 g=2\nb: g>d/g", "@x code=d/", "v1 d1 t1 a d/g-1"},
		{"a whole directory", "a: @x=1 d/f=1 d/e/g=2\nb: d/f>n/d/f d/e/g>n/d/e/g", "@x code=d/", "v1 d0 t1 a ! code: d/ moved to n/d/; replace d/ by n/d/"},
		{"a whole directory in two commits", "a: @x=1 d/f=1 d/e/g=2\nb: d/f>n/f\nc: d/e/g>n/e/g", "@x code=d/", "v1 d0 t2 a ! code: d/ moved to n/; replace d/ by n/"},
		{"a directory to two", "a: @x=1 d/f=1 d/g=2\nb: d/f>n/f d/g>o/g", "@x code=d/", "v1 d0 t1 a ! code: d/f moved to n/f, d/g moved to o/g; add n/f, o/g, or let another spec govern it"},
		{"to where another entry leads", "a: @x=1 f=1 d/k=2\nb: f>d/f", "@x code=f,d/", "v1 d0 t1 a"},
		{"two with one content", "a: @x=1 d/f=1 d/g=1\nb: d/f>e/f d/g>e/g", "@x code=d/f,d/g", "v1 d0 t1 a ! code: d/f moved to e/f; replace d/f by e/f ! code: d/g moved to e/g; replace d/g by e/g"},
		{"two with one content, and one came out", "a: @x=1 d/f=1 d/g=1\nb: d/f>e/f -d/g", "@x code=d/f,d/g", "v1 d1 t1 a d/f-1 d/g-1 e/f-1 ! code: d/f moved to e/f; replace d/f by e/f"},
		{"by its name where it can be", "a: @x=1 f=1\nb: -f a=1 z/f=1", "", "v1 d0 t1 a ! code: f moved to z/f; replace f by z/f"},
		{"to one of two, of which one is gone again", "a: @x=1 f=1\nb: -f g=1 h=1\nc: -g", "", "v1 d0 t1 a ! code: f moved to h; replace f by h"},
		{"onto one that is gone", "a: @x=1 d/f=1 d/g=1\nb: -d/g\nc: d/f>d/g", "@x code=d/", "v1 d2 t2 a d/f-1 d/g-2"},
		{"out of a directory of which nobody asked what is left", "a: @x=1 d/f=1 d/k=2\nb: -@x d/f>n/f", "@x code=d/", "v1 d1 t1 a d/f-1 n/f-1 ! code: d/f moved to n/f; add n/f, or let another spec govern it"},
		{"since the last ack", "a: @x=1 f=1\nb: f=2\nc: | Spec-OK: x\nd: f>g", "", "v1 d0 t1 a c:valid ! code: f moved to g; replace f by g"},
		{"and quieted, still governed", "a: @x=1 f=1\nb: f>g\nc: | Spec-OK: x", "", "v1 d0 t0 a c:valid ! code: f moved to g; replace f by g"},
		{"by a merge: nobody looks", "a: @x=1 f=1\nb: h=1\nc <- a: k=1\nm <- b c: f>g", "", "v1 d1 t1 a f-1"},
		{"four out of a glob", "a: @x=1 d/1=1 d/2=2 d/3=3 d/4=4 d/5=5\nb: d/1>e/1 d/2>e/2 d/3>e/3 d/4>e/4", "@x code=d/*", "v1 d0 t1 a ! code: d/1 moved to e/1, d/2 moved to e/2, d/3 moved to e/3, and 1 more; add e/1, e/2, e/3, or let another spec govern it"},
	})
}

// In a commit that adds very many files, only files with the same base name are compared.
func TestMovedAmongMany(t *testing.T) {
	for name, want := range map[string]string{
		"n/f": "v1 d0 t1 a ! code: f moved to n/f; replace f by n/f",
		"n/g": "v1 d1 t1 a f-1",
	} {
		var b strings.Builder
		b.WriteString("a: @x=1 f=1\nb: f>" + name)
		for i := range 2500 {
			fmt.Fprintf(&b, " v/%d=%d", i, i)
		}
		w := parseHistory(b.String())
		if got := w.brief(w.derive(t, "@x code=f")[0]); got != want {
			t.Errorf("%s: the facts are %s; want %s", name, got, want)
		}
		places := 0
		for _, p := range w.asked {
			places += len(p)
		}
		if places > 20 {
			t.Errorf("%d contents were requested", places)
		}
	}
}

// The result does not depend on files that were compared for another node.
func TestMoveIgnoresOtherNodes(t *testing.T) {
	var b strings.Builder
	b.WriteString("a: @x=1 @y=1 f=1 g=2\nb: f>n/g -g")
	for i := range 2500 {
		fmt.Fprintf(&b, " v/%d=%d", i, i)
	}
	w := parseHistory(b.String())
	for _, f := range w.derive(t, "@x code=f", "@y code=g") {
		if got := w.brief(f); !strings.HasPrefix(got, "v1 d1 t1") {
			t.Errorf("the facts of %s are %s; want a drift of 1", f.Node.ID, got)
		}
	}
}

// Pairing many moved files, even with equal contents, takes linear time.
func TestMovedMany(t *testing.T) {
	const n = 6_000
	var files, moves, renames strings.Builder
	for i := range n {
		fmt.Fprintf(&files, " d/%05d/f=%d", i, i%2)
		fmt.Fprintf(&moves, " d/%05d/f>e/%05d/f", i, i)
		fmt.Fprintf(&renames, " d/%05d/f>e/%05d/g%d", i, i, i)
	}
	for _, tt := range []struct{ name, moves, want string }{
		{"with their names", moves.String(), "v1 d0 t1 a ! code: d/ moved to e/; replace d/ by e/"},
		{"under other names", renames.String(), "v1 d1 t1 a"},
	} {
		w := parseHistory("a: @x=1" + files.String() + "\nb:" + tt.moves)
		got := w.brief(w.derive(t, "@x code=d/")[0])
		if got, _, _ = strings.Cut(got, " d/0"); got != tt.want {
			t.Errorf("files moved %s: the facts are %.200s; want %s", tt.name, got, tt.want)
		}
	}
}

// Changed code takes one request for contents: those of the touched files.
func TestContentsRequestedOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString("a: @x=1")
	for i := range 100 {
		fmt.Fprintf(&b, " d/%d=1", i)
	}
	b.WriteString("\nb: d/7=2\nc: d/8=2")
	w := parseHistory(b.String())
	if got := w.brief(w.derive(t, "@x code=d/")[0]); got != "v1 d2 t2 a d/7-1 d/8-1" {
		t.Errorf("the facts are %s; want a drift of 2 from d/7 and d/8", got)
	}
	if len(w.asked) != 1 || len(w.asked[0]) != 6 {
		t.Errorf("requested contents %v", w.asked)
	}
}

// Each commit is read once for all nodes, and once for each version row.
func TestCommitsAreReadOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString("c0: f=0")
	var list []string
	for i := range 150 {
		fmt.Fprintf(&b, "\nc%d: f=%d", i+1, i+1)
		list = append(list, fmt.Sprintf("@n%d code=f", i))
		fmt.Fprintf(&b, " @n%d=1", i)
	}
	w := parseHistory(b.String())
	facts := w.derive(t, list...)
	if w.commit > 2*len(w.commits)+len(facts)+2 {
		t.Errorf("%d reads of %d commits", w.commit, len(w.commits))
	}
	for _, f := range facts {
		var i int
		fmt.Sscanf(f.Node.ID, "n%d", &i)
		if *f.Drift != 149-i {
			t.Errorf("the drift of %s is %d; want %d", f.Node.ID, *f.Drift, 149-i)
		}
	}
}

func TestGovernedDigest(t *testing.T) {
	one, two := idOf("1"), idOf("2")
	digest := func(files map[repo.Path]repo.ID) string { return derive.GovernedDigest(files).String() }
	base := digest(map[repo.Path]repo.ID{"b": two, "a\n": one, "c": {}})
	sum := sha256.Sum256([]byte("a\n\x00" + one.String() + "\nb\x00" + two.String() + "\n"))
	if want := hex.EncodeToString(sum[:]); base != want {
		t.Errorf("digest %s, want %s", base, want)
	}
	seen := map[string]string{base: "base"}
	for name, files := range map[string]map[repo.Path]repo.ID{
		"other content": {"a\n": one, "b": one},
		"other path":    {"a\n": one, "c": two},
		"less":          {"a\n": one},
		"none":          {},
		"swapped":       {"a\n": two, "b": one},
	} {
		got := digest(files)
		if seen[got] != "" {
			t.Errorf("%s has the digest of %s", name, seen[got])
		}
		seen[got] = name
	}
	if got := digest(nil); seen[got] != "none" {
		t.Errorf("digest of nothing: %s", got)
	}
}
