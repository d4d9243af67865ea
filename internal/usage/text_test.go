package usage

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
func drawAnswer(t *rapid.T) *Answer {
	size := func(what string) int { return rapid.IntRange(0, 60).Draw(t, what) }
	name := func(i int) repo.PathJSON { return repo.PathJSON{Path: fmt.Sprintf("dir%d/file%d.go", i%7, i)} }
	a := &Answer{PathJSON: repo.PathJSON{Path: "a/a.go"}, More: map[string]int{}, Commits: &CommitSpan{Count: 5, Since: "2026-01-01"}}
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
		a.UsedBy = append(a.UsedBy, User{PathJSON: name(i), Lines: []int{1}, Certainty: uses.Exact, Places: []Place{{Symbol: "Name", How: "call", Lines: []int{1}}}})
	}
	for i := range size("uses") {
		a.Uses = append(a.Uses, User{PathJSON: name(i), Certainty: uses.Exact, Places: []Place{{Symbol: "Other"}}})
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
func TestTextIsShort(t *testing.T) {
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

// The mentions that ken cannot resolve come after the tests, not between them and their heading.
func TestTextOfTestsEndsWithUnresolved(t *testing.T) {
	a := &Answer{Symbol: "Run", OnlyTests: true, Tests: []Test{{PathJSON: repo.Path("a_test.go").JSON(), Command: "go test ."}}}
	a.Unresolved.add(FileLines{PathJSON: repo.Path("ci.yaml").JSON(), Lines: []int{2}})
	if got, want := a.String(), "Run\ntests\n  go test .  # a_test.go\nunresolved: 1 file mentions it: ci.yaml:2\n"; got != want {
		t.Errorf("the text is\n%s, want\n%s", got, want)
	}
}

// A text without limits has every file of the answer.
func TestTextOfAllHasEveryFile(t *testing.T) {
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
