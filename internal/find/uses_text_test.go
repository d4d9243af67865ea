package find

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/english"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/uses"
)

// drawAnswer returns an answer with lists of any length.
func drawAnswer(t *rapid.T) *UsesAnswer {
	size := func(what string) int { return rapid.IntRange(0, 60).Draw(t, what) }
	name := func(i int) repo.PathJSON { return repo.PathJSON{Path: fmt.Sprintf("dir%d/file%d.go", i%7, i)} }
	a := &UsesAnswer{PathJSON: repo.PathJSON{Path: "a/a.go"}, More: map[string]int{}, Commits: &CommitSpan{Count: 5, Since: "2026-01-01"}}
	if rapid.Bool().Draw(t, "symbol") {
		a.Symbol = "Name"
		a.Named = 1
		a.Declarations = []Declaration{{PathJSON: a.PathJSON, Name: "Name", Line: 1, Signature: "func Name()"}}
	} else {
		for i := range min(size("declarations"), maxMainSymbols) {
			a.Declarations = append(a.Declarations, Declaration{PathJSON: a.PathJSON, Name: fmt.Sprintf("Name%d", i), Kind: outline.Func, Line: i + 1, Signature: "func Name()"})
		}
	}
	for i := range size("used by") {
		a.UsedBy = append(a.UsedBy, User{PathJSON: name(i), Lines: []int{1}, Certainty: uses.Exact, Places: []UsePlace{{Symbol: "Name", How: "call", Lines: []int{1}}}})
	}
	for i := range size("uses") {
		a.Uses = append(a.Uses, User{PathJSON: name(i), Certainty: uses.Exact, Places: []UsePlace{{Symbol: "Other"}}})
	}
	for i := range size("tests") {
		a.Tests = append(a.Tests, Test{PathJSON: name(i), How: "uses", Command: fmt.Sprintf("go test ./%d", i/3), Lines: []int{1}})
	}
	for i := range size("changes with") {
		a.ChangesWith = append(a.ChangesWith, ChangesWith{name(i), 2, 9})
	}
	for i := range size("same bytes") {
		a.SameBytes = append(a.SameBytes, name(i))
	}
	for i := range size("mentions") {
		a.Mentions = append(a.Mentions, Mention{PathJSON: name(i), Lines: []int{1}, Text: "a/a.go"})
	}
	for i := range size("ambiguous") {
		a.Ambiguous++
		a.AmbiguousIn = append(a.AmbiguousIn, FileLines{PathJSON: name(i), Lines: []int{1}})
	}
	a.ReachedByTests = size("reached")
	return a
}

// The text of any answer is short, and has the length of each list.
func TestUsesTextIsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAnswer(t)
		text := a.String()
		if n := strings.Count(text, "\n"); n > 38 {
			t.Fatalf("%d lines, expected at most 38:\n%s", n, text)
		}
		if n := len(a.UsedBy); n > 0 && !strings.Contains(text, "used by "+english.Count(n, "file")) {
			t.Fatalf("expected the number of users, %d, in\n%s", n, text)
		}
		if n := len(a.Uses); n > 0 && !strings.Contains(text, "uses "+english.Count(n, "file")) {
			t.Fatalf("expected the number of used files, %d, in\n%s", n, text)
		}
	})
}

// A text without limits has every file of the answer.
func TestUsesTextOfAllHasEveryFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAnswer(t)
		text := a.Text(NoLimit)
		for _, u := range a.UsedBy {
			if !strings.Contains(text, "  "+u.Path+":1 ") {
				t.Fatalf("expected the user %s in\n%s", u.Path, text)
			}
		}
		for _, x := range a.Tests {
			if !strings.Contains(text, x.Command) {
				t.Fatalf("expected the command %s in\n%s", x.Command, text)
			}
		}
		for _, m := range a.Mentions {
			if !strings.Contains(text, "  "+m.Path+":1  ") {
				t.Fatalf("expected the mention in %s in\n%s", m.Path, text)
			}
		}
	})
}

func TestCatchAll(t *testing.T) {
	for name, tt := range map[string]struct{ code, want string }{
		"rust: with":                  {"fn f() {\n    match x {\n        A::B => 1, // HERE\n        _ => 2,\n    }\n}", withCatchAll},
		"rust: a name":                {"fn f() {\n    match x {\n        A::B => {\n            1\n        }\n        A::C => 3, // HERE\n        other => 2,\n    }\n}", withCatchAll},
		"rust: without":               {"fn f() {\n    let y = match x {\n        A::B => 1, // HERE\n        A::C => match z {\n            _ => 3,\n        },\n    };\n}", withoutCatchAll},
		"rust: a condition":           {"fn f() {\n    match x {\n        A::B => 1, // HERE\n        n if n > 3 => 2,\n    }\n}", withoutCatchAll},
		"rust: an earlier match":      {"fn f() {\n    match x {\n        _ => 1,\n    }\n    if let A::B = x { // HERE\n    }\n}", ""},
		"go: with":                    {"func f() {\n\tswitch x {\n\tcase A:\n\t\tswitch y {\n\t\tcase 1:\n\t\t}\n\tcase B: // HERE\n\tdefault:\n\t}\n}", withCatchAll},
		"go: without":                 {"func f() {\n\tswitch x {\n\tcase A: // HERE\n\t\tswitch y {\n\t\tdefault:\n\t\t}\n\t}\n}", withoutCatchAll},
		"typescript: with":            {"function f() {\n  switch (x) {\n    case A: // HERE\n      break\n    default:\n  }\n}", withCatchAll},
		"rust: a loop behind a match": {"fn f() {\n    match x {\n        _ => 1,\n    }\n    for a in b {\n        if let A::B = a { // HERE\n        }\n    }\n}", ""},
		"no match around the line":    {"fn f() {\n    g(A::B); // HERE\n}", ""},
	} {
		lines := strings.Split(tt.code, "\n")
		at := 0
		for i, line := range lines {
			if strings.Contains(line, "HERE") {
				at = i + 1
			}
		}
		if got := catchAll(lines, at); got != tt.want {
			t.Errorf("%s: catchAll returned %q; want %q", name, got, tt.want)
		}
	}
	for _, n := range []int{-1, 0, 2} {
		if got := catchAll([]string{"match x {"}, n); got != "" {
			t.Errorf("line %d of one: %q, expected none", n, got)
		}
	}
}

// A method lists the callers of the interface that its type implements, and the calls on values of an unknown
// type; ken never calls it unused.
func TestUsesOfMethod(t *testing.T) {
	tree := &memoryTree{files: map[repo.Path]string{
		"go.mod":         "module shop\n",
		"db/store.go":    "package db\n\ntype Store struct{}\n\nfunc (s *Store) Get() {}\n\nfunc (s *Store) Put() {}\n",
		"db/getter.go":   "package db\n\n// A Getter gets.\ntype Getter interface {\n\t// Get gets.\n\tGet()\n}\n\ntype Closer interface {\n\tGet()\n\tClose()\n}\n",
		"web/web.go":     "package web\n\nimport \"shop/db\"\n\nfunc show(g db.Getter) { g.Get() }\n",
		"web/close.go":   "package web\n\nimport \"shop/db\"\n\nfunc end(c db.Closer) { c.Get() }\n",
		"web/unknown.go": "package web\n\nfunc all() { open().Put() }\n",
	}}
	x := newIndex(t)
	update(t, x, tree)
	a, err := Uses(t.Context(), x, tree, UsesQuery{Asked: "db/store.go#Store.Get", whole: "db/store.go#Store.Get", path: "db/store.go", symbol: "Store.Get"})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Through) != 1 || a.Through[0].Name != "Getter.Get" || a.Through[0].Line != 6 || len(a.Through[0].UsedBy) != 1 || a.Through[0].UsedBy[0].Path != "web/web.go" {
		t.Errorf("Store.Get is used through %+v, expected Getter.Get in web/web.go alone: Store has no Close", a.Through)
	}
	a, err = Uses(t.Context(), x, tree, UsesQuery{Asked: "Store.Put", whole: "Store.Put"})
	if err != nil {
		t.Fatal(err)
	}
	if text := a.String(); len(a.AmbiguousIn) != 1 || a.AmbiguousIn[0].Path != "web/unknown.go" || strings.Contains(text, "no use") {
		t.Errorf("Store.Put may be used by %+v, expected web/unknown.go, in\n%s", a.AmbiguousIn, text)
	}
}
