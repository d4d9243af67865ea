package derive_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/spec/derive"
)

// A fakeOutlines returns outlines of Go code for the contents of a fakeHistory. In a content, n is a version of
// the function New, o one of Old, and # a comment.
type fakeOutlines struct {
	asked [][]*repo.File
	err   error
	short bool
}

// sources has the Go code of the contents.
var sources = map[string]string{
	"n1":    "func New() int { return 1 }\n",
	"n1#":   "// between\n\nfunc New() int { return 1 } // behind\n",
	"n2":    "func New() int { return 2 }\n",
	"n3":    "func New(x int) int { return x }\n",
	"n1o1":  "func New() int { return 1 }\n\nfunc Old() { New() }\n",
	"n1o1#": "func New() int { return 1 }\n\n// between\n\nfunc Old() { New()  }\n",
	"n1o2":  "func New() int { return 1 }\n\nfunc Old() { New(); New() }\n",
	"n2o1":  "func New() int { return 2 }\n\nfunc Old() { New() }\n",
	"n2o2":  "func New() int { return 2 }\n\nfunc Old() { New(); New() }\n",
	"o1":    "func Old() {}\n",
	"o2":    "func Old() { print() }\n",
	"torn":  "func New() int { return 1 }\n\nfunc Old( {\n",
}

func (f *fakeOutlines) Outlines(ctx context.Context, files []*repo.File) ([]*outline.Outline, error) {
	f.asked = append(f.asked, files)
	if err := cmpErr(ctx.Err(), f.err); err != nil {
		return nil, err
	}
	if f.short {
		return nil, nil
	}
	ids := make(map[repo.ID]string)
	for name, text := range sources {
		ids[idOf(name)] = "package p\n\n" + text
	}
	list := make([]*outline.Outline, len(files))
	for i, s := range files {
		if text, ok := ids[s.ID]; ok {
			list[i], _ = outline.Parse(s.Path, []byte(text))
		}
	}
	return list, nil
}

func (h *fakeHistory) deriveWith(t *testing.T, read derive.OutlineReader, list ...string) []derive.Facts {
	t.Helper()
	facts, err := derive.Derive(t.Context(), nodes(list...), derive.Options{Head: h.head(), Outlines: read}, h, h)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// TestDriftGrades expects the grade, followed by the brief facts.
func TestDriftGrades(t *testing.T) {
	for _, tt := range []struct{ name, history, node, want string }{
		{"a comment", "a: @x=1 f.go=n1\nb: f.go=n1#", "@x code=f.go", "format v1 d1 t1 a f.go-1"},
		{"a body", "a: @x=1 f.go=n1\nb: f.go=n2", "@x code=f.go", "body v1 d1 t1 a f.go-1"},
		{"a signature", "a: @x=1 f.go=n1\nb: f.go=n3", "@x code=f.go", "interface v1 d1 t1 a f.go-1"},
		{"one more function", "a: @x=1 f.go=n1\nb: f.go=n1o1", "@x code=f.go", "interface v1 d1 t1 a f.go-1"},
		{"no grammar", "a: @x=1 f.x=n1\nb: f.x=n1#", "@x code=f.x", "content v1 d1 t1 a f.x-1"},
		{"broken", "a: @x=1 f.go=n1\nb: f.go=torn", "@x code=f.go", "content v1 d1 t1 a f.go-1"},
		{"a content that is not here", "a: @x=1 f.go=n1\nb: f.go=lost", "@x code=f.go", "content v1 d1 t1 a f.go-1"},
		{"a file that came", "a: @x=1 d/f.go=n1\nb: d/g.go=n1", "@x code=d", "content v1 d1 t1 a d/g.go-1"},
		{"a file that went", "a: @x=1 f.go=n1\nb: -f.go", "@x code=f.go", "content v1 d1 t1 a f.go-1"},
		{"the highest of several", "a: @x=1 f.go=n1 g.go=n1\nb: f.go=n1#\nc: g.go=n2", "@x code=f.go,g.go", "body v1 d2 t2 a f.go-1 g.go-1"},
		{"since the ack", "a: @x=1 f.go=n3\nb: f.go=n1\nc: | Spec-OK: x\nd: f.go=n2", "@x code=f.go", "body v1 d1 t1 a c:valid f.go-1"},
		{"since the version, next to an ack", "a: @x=1 f.go=n1\nb: f.go=n3\nc: | Spec-OK: x\nd: f.go=n1#", "@x code=f.go", "format v1 d1 t1 a c:valid f.go-1"},
		{"there and back, but for a comment", "a: @x=1 f.go=n1\nb: f.go=n3\nc: f.go=n1#", "@x code=f.go", "format v1 d2 t2 a f.go-2"},
		{"moved and edited", "a: @x=1 f.go=n1\nb: f.go>g.go\nc: g.go=n2", "@x code=f.go", "body v1 d2 t2 a f.go-1 g.go-2 ! code: f.go moved to g.go; replace f.go by g.go"},
		{"moved to where there is no grammar", "a: @x=1 f.go=n1\nb: f.go>g.x\nc: g.x=n2", "@x code=f.go", "content v1 d2 t2 a f.go-1 g.x-2 ! code: f.go moved to g.x; replace f.go by g.x"},
		{"two sides, one spec", "a: @x=1 f.go=n1\nb: @x=2 f.go=n2\nc <- a: @x=3 g=1\nm <- b c: @x=2\nd: f.go=n2o1", "@x code=f.go", "interface v3 d1 t1 c,b,a f.go-1"},

		{"another symbol", "a: @x=1 f.go=n1o1\nb: f.go=n1o2", "@x code=f.go#New", " v1 d0 t1 a"},
		{"the symbol", "a: @x=1 f.go=n1o1\nb: f.go=n2o1", "@x code=f.go#New", "body v1 d1 t1 a f.go-1"},
		{"a comment elsewhere", "a: @x=1 f.go=n1o1\nb: f.go=n1o1#", "@x code=f.go#New", " v1 d0 t1 a"},
		{"a space in the symbol", "a: @x=1 f.go=n1o1\nb: f.go=n1o1#", "@x code=f.go#Old", "format v1 d1 t1 a f.go-1"},
		{"a symbol that went", "a: @x=1 f.go=n1o1\nb: f.go=n1", "@x code=f.go#Old", "interface v1 d1 t1 a f.go-1"},
		{"a symbol that came", "a: @x=1 f.go=n1\nb: f.go=n1o1", "@x code=f.go#Old", "interface v1 d1 t1 a f.go-1"},
		{
			"a symbol that never was", "a: @x=1 f.go=n1\nb: f.go=n2", "@x code=f.go#Gone",
			"body v1 d1 t1 a f.go-1 ! f.go#Gone counts as its whole file: not found in f.go; check whether Gone itself changed",
		},
		{
			"a symbol in a broken file", "a: @x=1 f.go=n1\nb: f.go=torn", "@x code=f.go#New",
			"content v1 d1 t1 a f.go-1 ! f.go#New counts as its whole file: ken could not read all of f.go; check whether New itself changed",
		},
		{
			"a symbol without a grammar", "a: @x=1 f.x=n1o1\nb: f.x=n1o2", "@x code=f.x#New",
			"content v1 d1 t1 a f.x-1 ! f.x#New counts as its whole file: ken has no grammar for f.x; check whether New itself changed",
		},
		{
			"a symbol in what is not here", "a: @x=1 f.go=n1\nb: f.go=lost", "@x code=f.go#New",
			"content v1 d1 t1 a f.go-1 ! f.go#New counts as its whole file: ken could not parse both versions of f.go; check whether New itself changed",
		},
		{"two symbols, one moved", "a: @x=1 f.go=n1o1\nb: f.go=n1o2", "@x code=f.go#New,f.go#Old", "body v1 d1 t1 a f.go-1"},
		{"a symbol and its file", "a: @x=1 f.go=n1o1\nb: f.go=n1o2", "@x code=f.go#New,f.go", "body v1 d1 t1 a f.go-1"},
		{"a symbol that is quiet, a file that is not", "a: @x=1 f.go=n1o1 g.go=n1\nb: f.go=n1o2\nc: g.go=n2", "@x code=f.go#New,g.go", "body v1 d1 t2 a g.go-1"},
		{"both in one commit", "a: @x=1 f.go=n1o1 g.go=n1\nb: f.go=n1o2 g.go=n2", "@x code=f.go#New,g.go", "body v1 d1 t1 a g.go-1"},
		{"a symbol that is quiet, a file put back", "a: @x=1 f.go=n1o1 g.go=n1\nb: f.go=n1o2 g.go=n2\nc: g.go=n1", "@x code=f.go#New,g.go", " v1 d0 t2 a"},
		{
			"the same, and a merge that dropped a change", "a: @x=1 h=1 f.go=n1o1 g.go=n1\nb: @x=2 h=2\nc <- a: k=1\nm <- b c: h~c\nd: f.go=n1o2 g.go=n2\ne: g.go=n1", "@x code=f.go#New,g.go,h",
			"format v2 d2 t2 b,a g.go-2",
		},
		{"a symbol that moved with its file", "a: @x=1 f.go=n1o1\nb: f.go>g.go\nc: g.go=n1o2", "@x code=f.go#New", " v1 d0 t2 a ! code: f.go moved to g.go; replace f.go#New by g.go#New"},
		{"a symbol and its file are gone", "a: @x=1 f.go=n1\nb: -f.go", "@x code=f.go#New", "content v1 d1 t1 a f.go-1"},
		{"a file that is called so", "a: @x=1 f.go#New=n1\nb: f.go#New=n1#", "@x code=f.go#New", "content v1 d1 t1 a f.go#New-1"},
		{"symbols of many files", "a: @x=1 d/f.go=n1o1 d/g.go=n1o1\nb: d/f.go=n1o2\nc: d/g.go=n2o1", "@x code=d/*.go#New", "body v1 d1 t2 a d/g.go-1"},
		{"quiet at an ack, not at the version", "a: @x=1 f.go=n2o1\nb: f.go=n1o1\nc: | Spec-OK: x\nd: f.go=n1o2", "@x code=f.go#New", " v1 d0 t1 a c:valid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, g := parseHistory(tt.history), &fakeOutlines{}
			f := w.deriveWith(t, g.Outlines, tt.node)[0]
			if got := string(f.Grade) + " " + w.brief(f); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if len(g.asked) > 1 {
				t.Errorf("asked %d times", len(g.asked))
			}
			if len(f.Unknown) > 0 {
				t.Errorf("the facts %v are unknown; want none", f.Unknown)
			}
		})
	}
}

// Without outlines, drift is not smaller.
func TestDriftWithoutOutlines(t *testing.T) {
	for name, g := range map[string]*fakeOutlines{"failing": {err: errors.New("git failed")}, "too few": {short: true}} {
		t.Run(name, func(t *testing.T) {
			w := parseHistory("a: @x=1 @y=1 f.go=n1o1\nb: f.go=n1o2")
			for _, f := range w.deriveWith(t, g.Outlines, "@x code=f.go#New", "@y code=f.go") {
				if *f.Drift != 1 || f.Grade != fresh.GradeContent {
					t.Errorf("%s: drift %d with grade %s, want drift 1 with grade content", f.Node.ID, *f.Drift, f.Grade)
				}
				if symbol := strings.Contains(f.Node.Code[0].Text, "#"); symbol != (len(f.Problems) == 1) {
					t.Errorf("%s has the problems %v; want one only for an entry with a symbol", f.Node.ID, f.Problems)
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := parseHistory("a: @x=1 f.go=n1\nb: f.go=n2")
	stopping := func(context.Context, []*repo.File) ([]*outline.Outline, error) {
		cancel()
		return nil, errors.New("stopped")
	}
	_, err := derive.Derive(ctx, nodes("@x code=f.go"), derive.Options{Head: w.head(), Outlines: stopping}, w, w)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled Derive returned %v, want context.Canceled", err)
	}
}

// No outlines are requested for nodes without drift, nor for files of a node that has the highest grade anyway. A
// content that two nodes share is requested once.
func TestOutlinesRequested(t *testing.T) {
	for _, tt := range []struct {
		name, history string
		nodes         []string
		want          string
	}{
		{"no drift", "a: @x=1 f.go=n1\nb: f.go=n2\nc: f.go=n1", []string{"@x code=f.go"}, ""},
		{"another drifts", "a: @x=1 f.go=n1 g.go=n1\nb: f.go=n2", []string{"@x code=f.go", "@y code=g.go"}, "f.go f.go"},
		{"two nodes", "a: @x=1 @y=1 f.go=n1\nb: f.go=n2", []string{"@x code=f.go", "@y code=f.go"}, "f.go f.go"},
		{"next to what has no grammar", "a: @x=1 f.go=n1 g.x=1\nb: f.go=n2 g.x=2", []string{"@x code=f.go,g.x"}, ""},
		{"next to what came", "a: @x=1 d/f.go=n1\nb: d/f.go=n2 d/g.go=n1", []string{"@x code=d"}, ""},
		{"a symbol, next to what came", "a: @x=1 d/f.go=n1 f.go=n1\nb: d/f.go=n2 d/g.go=n1 f.go=n2", []string{"@x code=d,f.go#New"}, "f.go f.go"},
		{"put back", "a: @x=1 f.go=n1 g.go=n1\nb: f.go=n2 g.go=n2\nc: g.go=n1", []string{"@x code=f.go,g.go"}, "f.go f.go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, g := parseHistory(tt.history), &fakeOutlines{}
			w.deriveWith(t, g.Outlines, tt.nodes...)
			var got []string
			for _, files := range g.asked {
				for _, s := range files {
					got = append(got, s.Path.String())
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("asked for %q, want %q", got, tt.want)
			}
		})
	}
}
