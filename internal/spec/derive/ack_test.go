package derive_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

func TestAcks(t *testing.T) {
	runHistoryCases(t, []historyCase{
		{"all at or below it", "a: @x=1 f=1\nb: f=2\nc: f=3\nd: | Spec-OK: x", "", "v1 d0 t0 a d:valid"},
		{"not what comes after", "a: @x=1 f=1\nb: f=2\nc: | Spec-OK: x\nd: f=3", "", "v1 d1 t1 a c:valid f-1"},
		{"one that is not empty counts for itself too", "a: @x=1 f=1\nb: f=2 | Spec-OK: x", "", "v1 d0 t0 a b:valid"},
		{"key without case", "a: @x=1 f=1\nb: f=2 | spec-ok: x", "", "v1 d0 t0 a b:valid"},
		{"for that node alone", "a: @x=1 @y=1 f=1\nb: f=2 | Spec-OK: y", "", "v1 d1 t1 a f-1"},
		{"several in one commit", "a: @x=1 @y=1 f=1\nb: f=2 | Spec-OK: y | Spec-OK: x", "", "v1 d0 t0 a b:valid"},
		{"an id that nobody has", "a: @x=1 f=1\nb: f=2 | Spec-OK: xx | Spec-OK: | Spec-OK: x y", "", "v1 d1 t1 a f-1"},
		{"before the node was there", "a: f=1 | Spec-OK: x\nb: @x=1\nc: f=2", "", "v1 d1 t1 b f-1"},
		{"while it was away", "a: @x=1 f=1\nb: -@x\nc: f=2\nd: | Spec-OK: x\ne: @x~a", "", "v2 d0 t0 e,a"},
		{"while it was away, with no version above", "a: @x=1 f=1\nb: -@x\nc: f=2\nd: | Spec-OK: x", "", "v1 d1 t1 a f-1"},

		{"a new version voids it", "a: @x=1 f=1\nb: | Spec-OK: x\nc <- a: @x=2\nm <- b c: @x=3\nd <- c: f=2\nn <- m d:", "", "v3 d1 t1 m,c,a f-1"},
		{"in the version's own commit", "a: @x=1 f=1 | Spec-OK: x\nb: f=2", "", "v1 d1 t1 a a:valid f-1"},
		{"a version that took the code in", "a: @x=1 f=1\nb: f=2\nc: | Spec-OK: x\nd: @x=2\ne: f=3", "", "v2 d1 t1 d,a f-1"},
		{"beside a version, it quiets what it can reach", "a: @x=1 f=1\nb: f=2\nc: | Spec-OK: x\nv <- a: @x=2\nd <- a: f=3\nm <- c v d: f=4", "", "v2 d2 t2 v,a c:valid f-2"},
		{"on a branch that was merged", "a: @x=1 f=1\nb: f=2\nc: | Spec-OK: x\nd <- a: g=1\nm <- d c:", "", "v1 d0 t0 a c:valid"},
		{"in a merge", "a: @x=1 f=1\nb: f=2\nc <- a: f=3\nm <- b c: f=4 | Spec-OK: x", "", "v1 d0 t0 a m:valid"},
		{"on a branch that was not", "a: @x=1 f=1\nb: f=2\nc: | Spec-OK: x\nd <- b: g=1", "", "v1 d1 t1 a f-1"},
		{"two, newest first", "a: @x=1 f=1\nb: f=2 | Spec-OK: x\nc: f=3 | Spec-OK: x\nd: f=4", "", "v1 d1 t1 a c:valid b:valid f-1"},
		{"twice in a commit", "a: @x=1 f=1\nb: f=2 | Spec-OK: x | Spec-OK: x\nc: f=3 | Spec-OK: x", "", "v1 d0 t0 a c:valid b:valid b:valid"},
		{"a reverted commit needs none", "a: @x=1 f=1\nb: f=2\nc: f=1\nd: | Spec-OK: x", "", "v1 d0 t0 a d:valid"},
	})
}

// An id in an ack names the node that had it in the ack's commit, even if the node has another path and id now.
func TestAckIDs(t *testing.T) {
	runHistoryCases(t, []historyCase{
		{"renamed since", "a: @y=1 f=1\nb: f=2 | Spec-OK: y\nc: @y>@x", "", "v1 d0 t0 a b:valid"},
		{"the new id before it was one", "a: @y=1 f=1\nb: f=2 | Spec-OK: x\nc: @y>@x", "", "v1 d1 t1 a f-1"},
		{"the old id of another", "a: @x=1 @y=2 f=1\nb: f=2 | Spec-OK: x\nc: @x>@z\nd: @y>@x", "", "v1 d1 t1 a f-1"},
		{"moved with an edit", "a: @y=1.a f=1\nb: f=2 | Spec-OK: y\nc: @y>@x=1.b", "", "v2 d0 t0 c,a"},
		{"in the commit that moved it", "a: @y=1 f=1\nb: f=2 @y>@x | Spec-OK: x", "", "v1 d0 t0 a b:valid"},
		{"in the commit that moved it, by the old id", "a: @y=1 f=1\nb: f=2 @y>@x | Spec-OK: y", "", "v1 d1 t1 a f-1"},

		{"on a branch that knew the old id", "a: @y=1 f=1\nb: @y>@x\nc <- a: f=2\nd: | Spec-OK: y\nm <- b d:", "", "v1 d0 t0 a d:valid"},
		{"on a branch, by an id that was nobody's there", "a: @y=1 f=1\nb: @y>@x\nc <- a: f=2\nd: | Spec-OK: x\nm <- b d:", "", "v1 d1 t1 a f-1"},
		{"of two that became one, in the commit's order", "a: @y=1 @z=2 f=1 | Spec-OK: z | Spec-OK-Basis: ? | Spec-OK: y\nb: @y>@x\nc <- a: @z>@x\nm <- b c: -@y -@z\nd: f=2", "", "v1 d1 t1 a a:void a:valid f-1"},
		{"a collision that came", "a: @p/x=1 f=1\nb: f=2 | Spec-OK: x\nc: @q/x=1", "@p/x code=f", "v1 d0 t0 a b:valid"},
		{"a collision that went", "a: @p/x=1 @q/x=1 f=1\nb: f=2 | Spec-OK: p_x\nc: -@q/x", "@p/x code=f", "v1 d0 t0 a b:valid"},
		{"a collision that came and went", "a: @p/x=1 f=1\nb: @q/x=1\nc: f=2 | Spec-OK: p_x\nd: -@q/x", "@p/x code=f", "v1 d0 t0 a c:valid"},
		{"the plain id while it is nobody's", "a: @p/x=1 @q/x=1 f=1\nb: f=2 | Spec-OK: x\nc: -@q/x", "@p/x code=f", "v1 d1 t1 a f-1"},
		{"the long id while it is nobody's", "a: @p/x=1 f=1\nb: f=2 | Spec-OK: p_x", "@p/x code=f", "v1 d1 t1 a f-1"},
		{"the plain id of the one that is there", "a: @q/x=1 f=1\nb: -@q/x @p/x=2\nc: f=2 | Spec-OK: x", "@p/x code=f", "v1 d0 t0 b c:valid"},
		{"the plain id of the other", "a: @p/x=1 f=1\nb: -@p/x @q/x=2\nc: f=2 | Spec-OK: x\nd: @p/x=1 -@q/x", "@p/x code=f", "v2 d0 t0 d,a"},
		{"the one whose path ends there", "a: @x=1 @q/x=1 f=1\nb: f=2 | Spec-OK: x", "@x code=f", "v1 d0 t0 a b:valid"},
		{"an id that has the separator", "a: @p_x=1 @p/x=2 @q/x=3 f=1\nb: f=2 | Spec-OK: p_x", "@p_x code=f", "v1 d0 t0 a b:valid"},
		{"and the one that has not", "a: @p_x=1 @p/x=2 @q/x=3 f=1\nb: f=2 | Spec-OK: p_x", "@p/x code=f", "v1 d1 t1 a f-1"},
		{"a number", "a: @p_x=1 @p/x=2 @q/x=3 f=1\nb: f=2 | Spec-OK: p_x-2", "@p/x code=f", "v1 d0 t0 a b:valid"},
		{"the root", "a: @=1 @x=1 f=1\nb: f=2 | Spec-OK: root", "@ code=f", "v1 d0 t0 a b:valid"},
		{"root, while the root is there", "a: @=1 @p/root=1 f=1\nb: f=2 | Spec-OK: root", "@p/root code=f", "v1 d1 t1 a f-1"},
		{"composed otherwise", "a: @caf\u00e9=1 f=1\nb: f=2 | Spec-OK: cafe\u0301", "@caf\u00e9 code=f", "v1 d0 t0 a b:valid"},
	})
}

// basis returns the basis of an ack on top of a commit.
func (h *fakeHistory) basis(t testing.TB, commit, node string) derive.Basis {
	t.Helper()
	b, err := derive.BasesAt(t.Context(), nodes(node), derive.Options{Head: h.id(commit)}, h, h)
	if err != nil {
		t.Fatal(err)
	}
	return b[0]
}

// An ack is void if its basis differs from the contents of its commit.
func TestAckBasis(t *testing.T) {
	const base = "a: @x=1 f=1\nb: f=2\n"
	good := parseHistory(base).basis(t, "b", "@x code=f")
	old := parseHistory(base).basis(t, "a", "@x code=f")
	other := derive.Basis{Spec: idOf("other"), Governed: good.Governed}
	for _, tt := range []struct{ name, history, want, why string }{
		{"as it is", base + "c: | Spec-OK: x | Spec-OK-Basis: " + good.String(), "v1 d0 t0 a c:valid", ""},
		{"upper case", base + "c: | Spec-OK: x | Spec-OK-Basis: " + strings.ToUpper(good.String()), "v1 d0 t0 a c:valid", ""},
		{"other code", base + "c: | Spec-OK: x | Spec-OK-Basis: " + old.String(), "v1 d1 t1 a c:void f-1", "governed code"},
		{"another spec", base + "c: | Spec-OK: x | Spec-OK-Basis: " + other.String(), "v1 d1 t1 a c:void f-1", "spec in that commit"},
		{"squashed with code that nobody saw", base + "c: f=3 | Spec-OK: x | Spec-OK-Basis: " + good.String(), "v1 d2 t2 a c:void f-2", "governed code"},
		{"rebased onto other work", "a: @x=1 f=1\nb: g=7\nd: f=2\nc: | Spec-OK: x | Spec-OK-Basis: " + good.String(), "v1 d0 t0 a c:valid", ""},
		{"only the mode is another", base + "d: f!\nc: | Spec-OK: x | Spec-OK-Basis: " + good.String(), "v1 d0 t0 a c:valid", ""},
		{"code that moved on later", base + "c: | Spec-OK: x | Spec-OK-Basis: " + good.String() + "\nd: f=3", "v1 d1 t1 a c:valid f-1", ""},
		{"one that nobody can read", base + "c: | Spec-OK: x | Spec-OK-Basis: yes", "v1 d1 t1 a c:void f-1", "basis"},
		{"half a one", base + "c: | Spec-OK: x | Spec-OK-Basis: " + good.Spec.String(), "v1 d1 t1 a c:void f-1", "basis"},
		{"void, and a bare one", base + "c: | Spec-OK: x | Spec-OK-Basis: " + old.String() + "\nd: | Spec-OK: x", "v1 d0 t0 a d:valid c:void", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := parseHistory(tt.history)
			f := w.derive(t, "@x code=f")[0]
			if got := w.brief(f); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			last := f.Acks[len(f.Acks)-1]
			if !strings.Contains(last.Why, tt.why) || (last.State == derive.AckValid) != (last.Why == "") || last.Based != strings.Contains(tt.history, "Basis") {
				t.Errorf("the last ack is %+v; want a reason with %q", last, tt.why)
			}
		})
	}
}

// Bases belong to acks in order, or to the ack right before them.
func TestPairingOfAcksAndBases(t *testing.T) {
	const base = "a: @x=1 @y=2 f=1\nb: f=2\n"
	w := parseHistory(base)
	x, y := w.basis(t, "b", "@x code=f").String(), w.basis(t, "b", "@y code=f").String()
	for _, tt := range []struct{ name, trailers, wantX, wantY string }{
		{"one by one", "| Spec-OK: x | Spec-OK-Basis: " + x + " | Spec-OK: y | Spec-OK-Basis: " + y, "valid", "valid"},
		{"acks first", "| Spec-OK: x | Spec-OK: y | Spec-OK-Basis: " + x + " | Spec-OK-Basis: " + y, "valid", "valid"},
		{"bases first", "| Spec-OK-Basis: " + x + " | Spec-OK-Basis: " + y + " | Spec-OK: x | Spec-OK: y", "valid", "valid"},
		{"crossed", "| Spec-OK: x | Spec-OK: y | Spec-OK-Basis: " + y + " | Spec-OK-Basis: " + x, "void", "void"},
		{"a bare one before", "| Spec-OK: x | Spec-OK: y | Spec-OK-Basis: " + y, "valid", "valid"},
		{"a bare one behind", "| Spec-OK: x | Spec-OK-Basis: " + x + " | Spec-OK: y", "valid", "valid"},
		{"a bare one before, and the other's", "| Spec-OK: x | Spec-OK: y | Spec-OK-Basis: " + x, "valid", "void"},
		{"one too many", "| Spec-OK: x | Spec-OK-Basis: " + x + " | Spec-OK-Basis: " + y, "valid", ""},
		{"one that is nobody's", "| Spec-OK-Basis: " + x + " | Spec-OK: x | Spec-OK: y", "void", "void"},
		{"other trailers between", "| Spec-OK: x | Session: s | Spec-OK-Basis: " + x + " | Spec-OK: y", "valid", "valid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := parseHistory(base + "c: " + tt.trailers)
			got := make([]string, 2)
			for i, f := range w.derive(t, "@x code=f", "@y code=f") {
				for _, a := range f.Acks {
					got[i] += a.State.String()
				}
			}
			if d := cmp.Diff([]string{tt.wantX, tt.wantY}, got); d != "" {
				t.Errorf("states of the acks of x and y (-want +got):\n%s", d)
			}
		})
	}
}

func TestAckFields(t *testing.T) {
	w := parseHistory("a: @x=1 f=1\nb: f=2 | Spec-OK: x | Session: ann")
	ann := "ann"
	want := []derive.Ack{{
		Commit: w.id("b"), Date: "2024-01-01T00:01:00Z", Subject: "makes b", Session: &ann, ID: "x", State: derive.AckValid,
	}}
	if d := cmp.Diff(want, w.derive(t, "@x code=f")[0].Acks, cmp.Comparer(func(a, b repo.ID) bool { return a == b })); d != "" {
		t.Errorf("acks (-want +got):\n%s", d)
	}
	var zero derive.AckState
	if b, err := zero.MarshalText(); err != nil || string(b) != "unknown" || derive.AckState(7).String() != "AckState(7)" {
		t.Errorf("MarshalText of the zero AckState returned %s, %v; want unknown", b, err)
	}
}

func TestBasis(t *testing.T) {
	w := parseHistory("a: @x=1 f=1 d/g=2\nb: -f")
	b := w.basis(t, "a", "@x code=f,d/")
	want := derive.Basis{Spec: idOf("1"), Governed: derive.GovernedDigest(map[repo.Path]repo.ID{"f": idOf("1"), "d/g": idOf("2")})}
	if b != want {
		t.Errorf("the basis is %s; want %s", b, want)
	}
	if back, err := derive.ParseBasis(b.String()); err != nil || back != b {
		t.Errorf("%s reads back as %s (%v)", b, back, err)
	}
	for _, bad := range []string{"", "a b", b.Spec.String(), b.String() + " x", b.Spec.String() + " 12"} {
		if _, err := derive.ParseBasis(bad); err == nil {
			t.Errorf("ParseBasis(%q) succeeded, want an error", bad)
		}
	}
	ask := func(head repo.ID, node string) error {
		_, err := derive.BasesAt(t.Context(), nodes(node), derive.Options{Head: head}, w, w)
		return err
	}
	if ask(w.id("a"), "@new") == nil || ask(w.id("never"), "@x") == nil {
		t.Error("BasesAt returned no error for an uncommitted spec or an unknown commit")
	}
	w.broken = errors.New("broken")
	if err := ask(w.id("a"), "@x"); !errors.Is(err, w.broken) {
		t.Errorf("BasesAt returned the error %v; want that of the history", err)
	}
}

// The number of contents that an ack needs does not depend on the number of nodes.
func TestAcksRequestFewContents(t *testing.T) {
	var b strings.Builder
	b.WriteString("a: @x=1 f=1")
	for i := range 300 {
		fmt.Fprintf(&b, " @n%d=1 @p%d/leaf=1", i, i)
	}
	b.WriteString("\nb: f=2\nc: | Spec-OK: x")
	w := parseHistory(b.String())
	if got := w.brief(w.derive(t, "@x code=f")[0]); got != "v1 d0 t0 a c:valid" {
		t.Errorf("the facts are %s; want the ack of c to be valid", got)
	}
	if len(w.asked) != 1 || len(w.asked[0]) > 6 {
		t.Errorf("requested contents %v", w.asked)
	}
}

// An ack names the node that has the id when all nodes of its commit are loaded together.
func TestAckIDMatchesLoadedTree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "a_b", "a b", "a-b", "b-2", "a_b-2", "root"})
		dirs := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "dir"), "/")
		}), 1, 12, rapid.ID[string]).Draw(rt, "dirs")
		w := &fakeHistory{names: make(map[string]repo.CommitNumber)}
		first := fakeCommit{name: "first", tree: fakeTree{"f": {content: "1"}, ".spec/spec.md": {}}}
		for _, d := range dirs {
			first.tree[repo.Path(".spec/"+d+"/spec.md")] = fakeFile{content: d}
		}
		w.add(first)
		then := fakeCommit{name: "then", parents: []repo.CommitNumber{0}, tree: fakeTree{"f": {content: "2"}}}
		var files []repo.LoadedFile
		for p, x := range first.tree {
			if p != "f" && rapid.Bool().Draw(rt, "kept") {
				then.tree[p] = x
				files = append(files, repo.LoadedFile{Path: p, Content: []byte("---\ncode: f\n---\n")})
			}
		}
		list := parse.Load(files)
		ids := []string{"a", "a_b", "a-b-2", "a-b-3", "b-2", "a_b-2", "a-b_b"}
		for _, n := range list {
			ids = append(ids, n.ID)
		}
		id := rapid.SampledFrom(ids).Draw(rt, "id")
		then.trailers = []repo.Trailer{{Key: "Spec-OK", Value: id}}
		w.add(then)
		for _, f := range w.deriveAt(t, w.head(), list) {
			if acked := *f.Drift == 0; acked != (f.Node.ID == id) {
				rt.Fatalf("Spec-OK: %s; %s at %s has drift %d", id, f.Node.ID, f.Node.Path, *f.Drift)
			}
		}
	})
}
