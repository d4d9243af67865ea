package derive_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/derive"
)

func TestVersions(t *testing.T) {
	runHistoryCases(t, []historyCase{
		{"not committed yet", "a: f=1\nb: f=2", "", "v0 d0 t0"},
		{"created", "a: @x=1", "", "v1 d0 t0 a"},
		{"edited", "a: @x=1\nb: @x=2\nc: g=1\nd: @x=3", "", "v3 d0 t0 d,b,a"},
		{"another file in its directory is no spec", "a: @x=1\nb: .spec/x/notes.md=1", "", "v1 d0 t0 a"},
		{"a mode flip is none", "a: @x=1\nb: @x!", "", "v1 d0 t0 a"},
		{"a flip with an edit is one", "a: @x=1\nb: @x! @x=2", "", "v2 d0 t0 b,a"},
		{"a deletion is none, and what is created again continues", "a: @x=1\nb: @x=2\nc: -@x\nd: @x=3", "", "v3 d0 t0 d,b,a"},
		{"deleted and not committed again", "a: @x=1 f=1\nb: -@x\nc: f=2", "", "v1 d1 t1 a f-1"},
		{"an edit and its revert are two", "a: @x=1\nb: @x=2\nc: @x=1", "", "v3 d0 t0 c,b,a"},

		{"a pure move is none", "a: @y=1\nb: @y>@x", "", "v1 d0 t0 a"},
		{"a move with an edit is one", "a: @y=1.a\nb: @y>@x=1.b", "", "v2 d0 t0 b,a"},
		{"what is not half alike was not moved", "a: @y=1.a\nb: @y>@x=2.a", "", "v1 d0 t0 b"},
		{"moved twice", "a: @z=1\nb: @z>@y\nc: @y=2\nd: @y>@x\ne: @x=3", "", "v3 d0 t0 e,c,a"},
		{"moved away and back", "a: @x=1\nb: @x>@y\nc: @y=2\nd: @y>@x", "", "v2 d0 t0 c,a"},
		{"edited in both commits of a move", "a: @y=1\nb: @y=2.a\nc: @y>@x=2.b", "", "v3 d0 t0 c,b,a"},
		{"another was there before and went elsewhere", "a: @x=1 @y=2\nb: @x>@z\nc: @y>@x", "", "v1 d0 t0 a"},
		{
			"another was there before, with a history of its own",
			"a: @x=1\nb: @x=2\nc: @x>@z\nd: @y=3\ne: @y>@x", "", "v1 d0 t0 d",
		},
		{"another was there before and a new one came", "a: @x=1\nb: @x>@z\nc: @x=2", "", "v1 d0 t0 c"},
		{"replaced in one commit: git sees an edit", "a: @x=1 @y=2\nb: @x=2b\nc: @x>@z @y>@x", "", "v3 d0 t0 c,b,a"},
		{"created again where it was moved to", "a: @y=1\nb: @y>@x\nc: -@x\nd: @x=2", "", "v2 d0 t0 d,a"},
		{"two came the same way", "a: @y=1\nb: @y>@x\nc: -@x\nd: @z=2\ne: @z>@y\nf: @y>@x", "", "v1 d0 t0 d"},
		{"a copy is no move", "a: @y=1\nb: @x=1", "", "v1 d0 t0 b"},

		{"a clean merge is none", "a: @x=1\nb: @x=2\nc <- a: g=1\nm <- b c:", "", "v2 d0 t0 b,a"},
		{"a merge that takes a side is none", "a: @x=1\nb: @x=2\nc <- a: @x=3\nm <- b c: @x~c", "", "v3 d0 t0 c,b,a"},
		{"git merged two edits", "a: @x=1.a\nb: @x=1.b\nc <- a: @x=1.a.p\nm <- b c:", "", "v3 d0 t0 c,b,a"},
		{"git merged two edits, and somebody a third one", "a: @x=1.a\nb: @x=1.b\nc <- a: @x=1.a.p\nm <- b c: @x=1.b.q", "", "v4 d0 t0 m,c,b,a"},
		{"git merged an edit and a move with an edit", "a: @y=1.a\nb: @y>@x=1.b\nc <- a: @y=1.a.p\nm <- b c:", "", "v3 d0 t0 c,b,a"},
		{"git merged two edits, and somebody moved it", "a: @y=1.a\nb: @y=1.b\nc <- a: @y=1.a.p\nm <- b c: @y>@x", "", "v3 d0 t0 c,b,a"},
		{"git merged an edit and a move with an edit, and somebody moved it again", "a: @z=1.a\nb: @z>@y=1.b\nc <- a: @z=1.a.p\nm <- b c: @y>@x", "", "v3 d0 t0 c,b,a"},
		{"git merged two edits, and somebody moved and edited it", "a: @y=1.a\nb: @y=1.b\nc <- a: @y=1.a.p\nm <- b c: @y>@x=1.c.p", "", "v4 d0 t0 m,c,b,a"},
		{"an edit made in a merge counts", "a: @x=1\nb: @x=2\nc <- a: @x=3\nm <- b c: @x=4", "", "v4 d0 t0 m,c,b,a"},
		{"so does one that no side had a part in", "a: @x=1\nb: g=1\nc <- a: h=1\nm <- b c: @x=2", "", "v2 d0 t0 m,a"},
		{"moved here, edited there", "a: @y=1.a\nb: @y>@x\nc <- a: @y=1.b\nm <- b c:", "", "v2 d0 t0 c,a"},
		{"moved here, edited there, and the merge takes that for a conflict", "a: @y=1.a\nb: @y>@x=1.c\nc <- a: @y=1.b\nm <- b c: @x=1.b", "", "v3 d0 t0 c,b,a"},
		{"moved and edited here, edited there", "a: @y=1.a\nb: @y>@x=1.c\nc <- a: @y=1.b\nm <- b c: -@y @x=1.d", "", "v4 d0 t0 m,c,b,a"},
		{"moved here, untouched there", "a: @y=1\nb: @y>@x\nc <- a: g=1\nm <- b c:", "", "v1 d0 t0 a"},
		{"moved here, edited there to what the merge did not take", "a: @y=1.a\nb: @y>@x\nc <- a: @y=1.b\nm <- b c: @x~b", "", "v2 d0 t0 c,a"},
		{"moved here, edited there, and moved again", "a: @z=1.a\nb: @z>@y\nc <- a: @z=1.b\nd: g=1\nm <- b d: -@z\ne: @y>@x", "", "v2 d0 t0 c,a"},
		{"moved here, and another created in its old place there", "a: @y=1\nb: @y>@x\nc <- a: g=1\nm <- b c:\nd: @y=5\ne: -@y", "", "v1 d0 t0 a"},
		{"moved here, and the old place is a branch's own now", "a: @y=1\nb: @y>@x\nc: @w=7\nd: @w>@y\ne: @y=8\nf: -@y", "", "v1 d0 t0 a"},
		{"moved here, and another moved to its old place there", "a: @y=1 @w=7\nb: @y>@x\nc <- a: -@y\nd: @w>@y\ne: @y=7b\nm <- b e: -@y", "", "v1 d0 t0 a"},
		{"moved away and back, and moved, and edited there", "a: @y=1\nb: @y>@z\nc: @z>@y\nd: @y>@x\ne <- c: @y=2\nm <- d e: -@y", "", "v2 d0 t0 e,a"},
		{
			"moved back on a branch, and moved again while it was edited",
			"a: @y=1.a\nb: @y>@x\nc: @x>@y\nm <- b c:\nd: @y=1.b\ne: @y>@x\nf <- d: @y=1.b.q\nn <- f e:", "", "v3 d0 t0 f,d,a",
		},
		{
			"moved back on a branch, and away on another",
			"a: @y=1.a\nb: @y>@x\nc: @x>@y\nd: @y=1.b\ne: @y>@x\nf <- d: g=1\nn <- f e:\no: @y=5\np: -@y", "", "v2 d0 t0 d,a",
		},
		{"moved here, and a new one came after the merge", "a: @x=1\nb: @x>@z\nc <- a: g=1\nm <- b c:\nd: @x=2", "", "v1 d0 t0 d"},
		{"moved here, edited there, and a new one came after the merge", "a: @x=1.a\nb: @x>@z\nc <- a: @x=1.b\nm <- b c:\nd: @x=2", "", "v1 d0 t0 d"},
		{"moved here, and what came after the merge was moved on", "a: @y=1\nb: @y>@z\nc <- a: g=1\nm <- b c:\nd: @y=2\ne: @y>@x", "", "v1 d0 t0 d"},
		{
			"moved here, and the second one too, and a third came after the merge",
			"a: @x=1\nb: @x>@z\nc: @x=2\nd: @x>@y\ne <- c: g=1\nm <- d e:\nf: @x=3", "", "v1 d0 t0 f",
		},
		{"deleted here, and created again after the merge", "a: @x=1\nb: -@x\nc <- a: g=1\nm <- b c:\nd: @x=2", "", "v2 d0 t0 d,a"},
		{
			"moved away and back and deleted here, edited there, and created again after the merge",
			"a: @x=1\nb: @x>@z\nc: @z>@x\nd: -@x\ne <- a: @x=2\nm <- d e: -@x\nf: @x=3", "", "v3 d0 t0 f,e,a",
		},
		{"moved here, deleted there, and created again after the merge", "a: @x=1\nb: @x>@z\nc <- a: -@x\nm <- b c:\nd: @x=2", "", "v2 d0 t0 d,a"},
		{
			"moved here, and the same on a branch that a merge threw away",
			"a: @z=1.a\ns: g=1\nb <- a: @z>@y\nc: @y>@x=1.b\nd <- s: @z>@y\ne: @y>@x=1.b\no <- s e: @z~s -@x\nm <- c o: @x~c -@z", "", "v3 d0 t0 e,c,a",
		},
		{
			"moved and edited and moved back on a branch, and the same move on another",
			"a: @y=1.a\nb: @y>@x=1.b\nc: @x>@y=1.a\nd <- a: @y>@x=1.b\nm <- d c:", "", "v4 d0 t0 d,c,b,a",
		},
		{
			"edited at a third path and moved back on a branch, and moved on another",
			"a: @y=1.a\nb: @y>@w=1.b\nc: @w>@y=1.c\nd <- a: @y>@x\nm <- d c:", "", "v3 d0 t0 c,b,a",
		},
		{
			"edited between two moves on a branch, and moved on another",
			"a: @y=1.a\nb: @y>@x\ne: @x=1.b\nc: @x>@y=1.a\nd <- a: @y>@x\nm <- d c:", "", "v3 d0 t0 c,e,a",
		},
		{
			"moved to an earlier path with an edit on a branch, and that one was thrown away",
			"a: @x=1.a\nb: @x>@z\nc: @z>@x\nd <- a: @x>@z=1.b\nm <- c d: @x~c -@z", "", "v2 d0 t0 d,a",
		},
		{
			"moved to a path that it never had on the way to head, and that one was thrown away",
			"a: @x=1.a\nd: @x>@z=1.b\nm <- a d: @x~a -@z", "", "v1 d0 t0 a",
		},
		{
			"moved away and made anew on a branch, after the same move as on another",
			"a: @y=1.a\nb: @y>@x\nc <- a: @y>@x=1.b\nd: @x>@z\ne: @x=2\nm <- b e: @x~b -@z", "", "v2 d0 t0 e,a",
		},
		{
			"moved back on a branch, and made again beside the moved one on another",
			"a: @x=1.a\nb: @x>@y=1.b\nc: @x=1.c\nd: @y=1.d\ne <- b: @y>@x=1.a\nm <- d e: @x~e -@y", "", "v5 d0 t0 e,d,c,b,a",
		},
		{"moved here, kept there", "a: @x=1\nb: @x>@y\nc <- a: @x=2\nm <- b c: @x~c -@y", "", "v2 d0 t0 c,a"},
		{"two roots", "a: @x=1\nb <-: @x=2\nm <- a b: @x~b", "", "v2 d0 t0 b,a"},
		{"an octopus", "a: @x=1\nb: @x=2\nc <- a: @x=3\nd <- a: @x=4\nm <- b c d: @x~d", "", "v4 d0 t0 d,c,b,a"},
	})
}

// Edits that a branch made at the old path of a node count for it, unless the path is still a node.
func TestOldPathStillANode(t *testing.T) {
	w := parseHistory("a: @y=1\nb: @y>@x\nc <- a: @y=2\nm <- b c: @y~c @x~b")
	want := map[string]string{"x": "v1 d0 t0 a", "y": "v2 d0 t0 c,a"}
	for _, f := range w.derive(t, "@x", "@y") {
		if got := w.brief(f); got != want[f.Node.ID] {
			t.Errorf("the facts of %s are %s; want %s", f.Node.ID, got, want[f.Node.ID])
		}
	}
}

// A node was never at a path that a later commit moved to one of its earlier paths. Edits there count for the node that
// was moved.
func TestMoveToAnEarlierPathAfterTheNodeLeftIt(t *testing.T) {
	w := parseHistory("a: @y=1.a\nb: @y=1.b\nc: @y>@z\nd: @x=1.b\ne <- a: @y>@x\nm <- d e: -@y @z~d @x~d\ng: @z>@y")
	want := map[string]string{"x": "v2 d0 t0 d,a", "y": "v2 d0 t0 b,a"}
	for _, f := range w.derive(t, "@x", "@y") {
		if got := w.brief(f); got != want[f.Node.ID] {
			t.Errorf("the facts of %s are %s; want %s", f.Node.ID, got, want[f.Node.ID])
		}
	}
}

// The number of versions is unknown if the contents that show whether a merge took over a move cannot be read.
func TestMoveTakenOverUnreadable(t *testing.T) {
	w := parseHistory("a: @x=1\nb: @x>@z\nc <- a: g=1\nm <- b c:\nd: @x=2")
	w.broken = errors.New("object 12 is missing")
	f := w.derive(t, "@x")[0]
	if f.Version != nil || len(f.Unknown) != 1 || f.Unknown[0] != (fault.Unknown{What: derive.FactVersion, Why: w.broken.Error()}) {
		t.Errorf("version %v, unknown %v; want no version, because object 12 is missing", f.Version, f.Unknown)
	}
}

// Versions are sorted by date, newest first, but never before a descendant, whatever the dates and commit numbers
// are.
func TestNewestFirst(t *testing.T) {
	const early, late = "2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"
	for _, tt := range []struct{ name, history, want string }{
		{"a clock that was behind", "a: @x=1 | Date: " + late + "\nb: @x=2 | Date: " + early, "b,a"},
		{
			"branches by date",
			"a: @x=1\nb: @x=2 | Date: " + late + "\nc <- a: @x=3 | Date: 2025-01-01T00:00:00Z\nm <- b c: @x~b", "b,c,a",
		},
		{
			"zones are no dates",
			"a: @x=1\nb: @x=2 | Date: 2025-01-01T01:00:00+02:00\nc <- a: @x=3 | Date: 2025-01-01T00:00:00+00:00\nm <- b c: @x~b", "c,b,a",
		},
		{"one second", "a: @x=1 | Date: " + early + "\nb: @x=2 | Date: " + early + "\nc: @x=3 | Date: " + early, "c,b,a"},
		{"a date that nobody can read", "a: @x=1\nb: @x=2 | Date: soon\nc: @x=3", "c,b,a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := parseHistory(tt.history)
			f := w.derive(t, "@x")[0]
			var rows []string
			for _, r := range f.Versions {
				rows = append(rows, w.name(r.Commit))
			}
			if got := strings.Join(rows, ","); got != tt.want {
				t.Errorf("the versions are %s; want %s", got, tt.want)
			}
			if *f.LastEdited != f.Versions[0].Date {
				t.Errorf("last edited %s", *f.LastEdited)
			}
		})
	}
}

func TestVersionRows(t *testing.T) {
	w := parseHistory("a: @y=1 | Session: ann\nb: @y>@x\nc: @x=2")
	ann := "ann"
	want := []derive.VersionRow{
		{Commit: w.id("c"), Path: at("@x"), Date: "2024-01-01T00:02:00Z", Subject: "makes c"},
		{Commit: w.id("a"), Path: at("@y"), Date: "2024-01-01T00:00:00Z", Subject: "makes a", Session: &ann},
	}
	if d := cmp.Diff(want, w.derive(t, "@x")[0].Versions, cmp.Comparer(func(a, b repo.ID) bool { return a == b })); d != "" {
		t.Errorf("versions (-want +got):\n%s", d)
	}
}

// The session is that of the latest version, else that of the frontmatter.
func TestSession(t *testing.T) {
	for _, tt := range []struct{ name, history, front, want string }{
		{"of the version", "a: @x=1 | Session: ann", "bob", "ann"},
		{"key without case", "a: @x=1 | sEsSiOn: ann", "", "ann"},
		{"of the latest", "a: @x=1 | Session: ann\nb: @x=2 | Session: bob", "", "bob"},
		{"of the latest version, not of what came after", "a: @x=1 | Session: ann\nb: f=2 | Session: bob", "", "ann"},
		{"the last of several", "a: @x=1 | Session: ann | Session: bob", "", "bob"},
		{"one that names nothing", "a: @x=1 | Session: ann | Session:", "", "ann"},
		{"the latest names none", "a: @x=1 | Session: ann\nb: @x=2", "bob", "bob"},
		{"none", "a: @x=1", "", "<nil>"},
		{"not committed", "a: f=1", "bob", "bob"},
		{"another trailer", "a: @x=1 | Session-Id: ann", "", "<nil>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			node := "@x"
			if tt.front != "" {
				node += " session=" + tt.front
			}
			got := "<nil>"
			if s := parseHistory(tt.history).derive(t, node)[0].Session; s != nil {
				got = *s
			}
			if got != tt.want {
				t.Errorf("the session is %q; want %q", got, tt.want)
			}
		})
	}
}

// Any number of moves of any number of nodes is followed.
func TestManyMoves(t *testing.T) {
	var b strings.Builder
	fmt.Fprintln(&b, "c0: @n0=0 @other=9")
	for i := 1; i <= 200; i++ {
		fmt.Fprintf(&b, "c%d: @n%d>@n%d\n", i, i-1, i)
	}
	fmt.Fprintln(&b, "last: @n200=1")
	w := parseHistory(b.String())
	if got := w.brief(w.derive(t, "@n200")[0]); got != "v2 d0 t0 last,c0" {
		t.Errorf("the facts are %s; want the two versions last and c0", got)
	}

	b.Reset()
	b.WriteString("a:")
	for i := range 100 {
		fmt.Fprintf(&b, " @n%d=%d", i, i)
	}
	b.WriteString("\nb:")
	var list []string
	for i := range 100 {
		fmt.Fprintf(&b, " @n%d>@m%d", i, i)
		list = append(list, fmt.Sprintf("@m%d", i))
	}
	b.WriteString("\nc: @m7=7b")
	w = parseHistory(b.String())
	for _, f := range w.derive(t, list...) {
		want := "v1 d0 t0 a"
		if f.Node.ID == "m7" {
			want = "v2 d0 t0 c,a"
		}
		if got := w.brief(f); got != want {
			t.Errorf("the facts of %s are %s; want %s", f.Node.ID, got, want)
		}
	}
}
