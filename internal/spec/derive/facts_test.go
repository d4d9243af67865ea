package derive_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/spec/derive"
)

// A historyCase is a history and the expected facts about one node.
type historyCase struct {
	name    string
	history string
	node    string // default: @x code=f
	want    string // in the form of fakeHistory.brief
}

func runHistoryCases(t *testing.T, cases []historyCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			w := parseHistory(tt.history)
			if tt.node == "" {
				tt.node = "@x code=f"
			}
			if got := w.brief(w.derive(t, tt.node)[0]); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Without any commit, no fact is unknown.
func TestNoCommits(t *testing.T) {
	w := parseHistory("")
	f := w.derive(t, "@x code=f session=ann status=merged")[0]
	if got := w.brief(f); got != "v0 d0 t0" || f.Status != derive.StatusPending || len(f.Unknown) > 0 {
		t.Errorf("the facts are %s, %s, unknown %v; want no version, pending, nothing unknown", got, f.Status, f.Unknown)
	}
	if f.Session == nil || *f.Session != "ann" || f.LastEdited != nil {
		t.Errorf("session %v, last edited %v", f.Session, f.LastEdited)
	}
}

// All facts are unknown if the history does not have the head.
func TestHeadNotInHistory(t *testing.T) {
	w := parseHistory("a: @x=1 f=1")
	w.gone = true
	for _, tt := range []struct {
		node string
		want derive.Status
	}{
		{"@x code=f session=ann", derive.StatusUnknown},
		{"@x code=f status=merged", derive.StatusMerged}, // the history is unreadable: the declared status
		{"@x status=pending", derive.StatusPending},
		{"@x code=f status=done", derive.StatusUnknown},
	} {
		f := w.derive(t, tt.node)[0]
		if got := w.brief(f); got != "v? d? t?" || f.Status != tt.want || f.Session != nil {
			t.Errorf("the facts of %s are %s, %s, session %v; want all unknown, with the status %s", tt.node, got, f.Status, f.Session, tt.want)
		}
		var facts []string
		for _, u := range f.Unknown {
			if !strings.Contains(u.Why, "not in the history") {
				t.Errorf("the reason is %q; want that the commit is not in the history", u.Why)
			}
			facts = append(facts, u.What)
		}
		if d := cmp.Diff([]string{"version", "drift", "session"}, facts); d != "" {
			t.Errorf("unknown facts (-want +got):\n%s", d)
		}
	}
}

// Facts are judged at the given head, regardless of other commits in the history.
func TestOtherHeads(t *testing.T) {
	w := parseHistory(`
		a: @x=1 f=1
		b: f=2
		c <- a: @x=2 | Session: bob
		d <- c: f=3 | Spec-OK: x
		e <- b: f=4`)
	for head, want := range map[string]string{
		"a": "v1 d0 t0 a", "b": "v1 d1 t1 a f-1", "c": "v2 d0 t0 c,a", "d": "v2 d0 t0 c,a d:valid", "e": "v1 d2 t2 a f-2",
	} {
		if got := w.brief(w.deriveAt(t, w.id(head), nodes("@x code=f"))[0]); got != want {
			t.Errorf("at %s: %s, want %s", head, got, want)
		}
	}
}

// The facts are in the order of the nodes.
func TestManyNodes(t *testing.T) {
	w := parseHistory(`
		a: @=1 @x=1 @y=1 f=1 g=1
		b: f=2
		c: @y=2 g=2
		d: g=3 | Spec-OK: x`)
	list := nodes("@ code=f,g", "@x code=f", "@y code=g", "@new code=g")
	var got []string
	for _, f := range w.deriveAt(t, w.head(), list) {
		got = append(got, f.Node.ID+" "+w.brief(f)+" "+f.Status.String())
	}
	want := []string{
		"new v0 d0 t0 pending",
		"root v1 d3 t3 a f-1 g-2 drift",
		"x v1 d0 t0 a d:valid merged",
		"y v2 d1 t1 c,a g-1 drift",
	}
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("facts (-want +got):\n%s", d)
	}
	if len(w.asked) != 1 {
		t.Errorf("contents were asked %d times", len(w.asked))
	}
}

// No contents are requested if no code was touched.
func TestUntouchedNodesReadNoContents(t *testing.T) {
	w := parseHistory(`
		a: f=1 g=1
		b: @x=1 @y=1 f=2
		c: h=1 | Spec-OK: x | Spec-OK-Basis: 00 00`)
	for _, f := range w.derive(t, "@x code=f", "@y code=g") {
		if got := w.brief(f); got != "v1 d0 t0 b" {
			t.Errorf("the facts of %s are %s; want one version without drift", f.Node.ID, got)
		}
	}
	if len(w.asked) != 0 {
		t.Errorf("the contents of %v were requested; want none", w.asked)
	}
}

// Only the facts that depend on unreadable contents are unknown.
func TestContentsFail(t *testing.T) {
	w := parseHistory(`
		a: @x=1 @y=1 @z=1 f=1 g=1 | Session: ann
		b: f=2
		c: g=2
		d: | Spec-OK: y`)
	w.broken = errors.New("object 12 is missing")
	want := map[string]string{"x": "v1 d? t1 a", "y": "v1 d? t? a d:unknown", "z": "v1 d0 t0 a"}
	for _, f := range w.derive(t, "@x code=f", "@y code=g", "@z code=h") {
		id := f.Node.ID
		if got := w.brief(f); got != want[id] {
			t.Errorf("the facts of %s are %s; want %s", id, got, want[id])
		}
		if f.Session == nil || *f.Session != "ann" {
			t.Errorf("the session of %s is %v; want ann", id, f.Session)
		}
		if id == "z" {
			if len(f.Unknown) > 0 || f.Status != derive.StatusMerged {
				t.Errorf("the unknown facts of z are %v, its status is %s; want none and %s", f.Unknown, f.Status, derive.StatusMerged)
			}
			continue
		}
		if d := cmp.Diff([]fault.Unknown{{What: "drift", Why: "object 12 is missing"}}, f.Unknown); d != "" {
			t.Errorf("unknown facts of %s (-want +got):\n%s", id, d)
		}
		if f.Status != derive.StatusUnknown {
			t.Errorf("the status of %s is %s; want %s", id, f.Status, derive.StatusUnknown)
		}
	}
}

type failing struct {
	*fakeHistory
	calls, ok int
	short     bool
}

func (f *failing) At(ctx context.Context, places []repo.CommitPath) ([]repo.ID, error) {
	if f.calls++; f.calls > f.ok {
		if f.short {
			return nil, nil
		}
		return nil, errors.New("later")
	}
	return f.fakeHistory.At(ctx, places)
}

// Facts are unknown if a later request for contents fails or returns too few results.
func TestContentsFailLater(t *testing.T) {
	for _, tt := range []struct {
		name, history, node, want string
		ok                        int
		short                     bool
	}{
		{"the rest of the set", "a: @x=1 f=1 g=1\nb: f=2\nc: f=1", "@x code=f,g", "v1 d? t2 a", 1, false},
		{"where code went", "a: @x=1 f=1\nb: f>g", "@x code=f", "v1 d? t1 a", 1, false},
		{"too few answers", "a: @x=1 f=1\nb: f=2", "@x code=f", "v1 d? t1 a", 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := parseHistory(tt.history)
			c := &failing{fakeHistory: w, ok: tt.ok, short: tt.short}
			facts, err := derive.Derive(t.Context(), nodes(tt.node), derive.Options{Head: w.head()}, w, c)
			if err != nil {
				t.Fatal(err)
			}
			if got := w.brief(facts[0]); got != tt.want || len(facts[0].Unknown) != 1 {
				t.Errorf("the facts are %s, unknown %v; want %s and one unknown fact", got, facts[0].Unknown, tt.want)
			}
		})
	}
}

// A cancelled context returns its error and no facts.
func TestCancelledContext(t *testing.T) {
	w := parseHistory("a: @x=1 f=1\nb: f=2")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	facts, err := derive.Derive(ctx, nodes("@x code=f"), derive.Options{Head: w.head()}, w, w)
	if !errors.Is(err, context.Canceled) || facts != nil {
		t.Errorf("Derive returned %v, %v; want only the cancellation", facts, err)
	}
}

// An incomplete history makes those facts unknown that older commits could change.
func TestGap(t *testing.T) {
	const gap = "the clone is shallow"
	for _, tt := range []struct {
		name, history, node, want string
		unknown                   string
	}{
		{"the spec is as old as the history", "a: @x=1 f=1\nb: g=1", "@x code=f", "v? d? t?", "version drift session"},
		{"no code, no drift", "a: @x=1\nb: g=1", "@x", "v? d0 t0", "version session"},
		{"a version above", "a: @x=1 f=1\nb: @x=2 | Session: ann\nc: f=2", "@x code=f", "v? d1 t1 b f-1", "version"},
		{"a version above, and all quiet", "a: @x=1 f=1\nb: @x=2", "@x code=f", "v? d0 t0 b", "version"},
		{"the spec came later", "a: f=1\nb: @x=2 f=2", "@x code=f", "v? d0 t0 b", "version"},
		{"a side that no version is above", "a: @x=1 f=1\nb <-: f=3\nc <- a: @x=2\nm <- c b: f=2", "@x code=f", "v? d? t? c", "version drift session"},
		{"an ack is above", "a: @x=1 f=1\nb: f=2\nc: | Spec-OK: x", "@x code=f", "v? d0 t0 c:valid", "version session"},
		{"an ack is above, and code behind it", "a: @x=1 f=1\nb: | Spec-OK: x\nc: f=2", "@x code=f", "v? d1 t1 b:valid f-1", "version session"},
		{"not committed yet", "a: f=1\nb: f=2", "@x code=f", "v0 d0 t0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := parseHistory(tt.history)
			w.gap = gap
			f := w.derive(t, tt.node)[0]
			if got := w.brief(f); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			var facts []string
			for _, u := range f.Unknown {
				facts = append(facts, u.What)
				if u.Why != gap {
					t.Errorf("the reason is %q; want %q", u.Why, gap)
				}
			}
			if got := strings.Join(facts, " "); got != tt.unknown {
				t.Errorf("unknown %s, want %s", got, tt.unknown)
			}
		})
	}
}

// Without outlines, drift has the grade content. Without drift there is no grade.
func TestGrade(t *testing.T) {
	w := parseHistory("a: @x=1 @y=1 f=1\nb: f=2")
	for i, want := range []fresh.Grade{fresh.GradeContent, ""} {
		if got := w.derive(t, "@x code=f", "@y")[i].Grade; got != want {
			t.Errorf("grade %q, want %q", got, want)
		}
	}
}

func TestUnread(t *testing.T) {
	f := derive.AllUnknown(nodes("@x code=f status=drift"), "no git")[0]
	if f.Version != nil || f.Drift != nil || f.Session != nil || len(f.Unknown) != 3 || f.Status != derive.StatusDrift {
		t.Errorf("AllUnknown returned %+v; want three unknown facts and the status drift", f)
	}
}
