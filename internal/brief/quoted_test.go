package brief_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ken/internal/brief"
	"ken/internal/repo"
)

// A quoted brief keeps to its limit, and everything that the repository says is in quotes on
// its line.
func TestQuoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nasty := rapid.StringMatching(`[a-z "\n“”é]{0,80}`)
		r := brief.RepositoryFacts{
			Words: []brief.Section{{Subject: ".", Verdict: "fresh", Text: nasty.Draw(t, "words"), Written: true}},
			Project: projectOf(t, map[repo.Path]string{
				"Makefile": "build:\n\tgo build\n\ntest:\n\tgo test\n",
			}),
		}
		for _, text := range rapid.SliceOfN(nasty, 0, 6).Draw(t, "parts") {
			r.Parts = append(r.Parts, brief.Part{Path: "p", About: text})
		}
		limit := rapid.IntRange(0, 1200).Draw(t, "limit")
		got, left := brief.Repository(r, 300).Quoted(limit)
		if len(got) > limit || !utf8.ValidString(got) {
			t.Fatalf("%d bytes, limit %d: %q", len(got), limit, got)
		}
		if got == "" {
			if left == 0 {
				t.Fatalf("nothing is told, and nothing left out")
			}
			return
		}
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		if lines[0] != repo.QuotationNote {
			t.Fatalf("the first line is %q, want %q", lines[0], repo.QuotationNote)
		}
		own := []string{
			"[unknown] lint: no manifest says how", "[unknown] install dependencies: no manifest lists any or says how", "[unknown] run: no manifest names a program",
			"main parts:",
		}
		for _, l := range lines[1:] {
			isCount := strings.HasPrefix(l, "  +")
			if n := strings.Count(l, `"`); n != 2 && !slices.Contains(own, l) && !isCount {
				t.Fatalf("line %q has %d quotes, want one quotation", l, n)
			}
		}
	})
}

// A long text leaves room for other sections.
func TestLongTextLeavesRoom(t *testing.T) {
	r := brief.RepositoryFacts{
		Words:   []brief.Section{{Subject: ".", Verdict: "fresh", Text: strings.Repeat("many words ", 500), Written: true}},
		Project: newProject(t, map[repo.Path]string{"Makefile": "test:\n\tgo test\n"}),
	}
	if got := brief.Repository(r, 150).String(); !strings.Contains(got, "make test") {
		t.Errorf("the brief of 150 tokens does not say how to test:\n%s", got)
	}
}

// A small budget has one command of each kind before a second one of any.
func TestSmallBudgetHasEachCommand(t *testing.T) {
	r := brief.RepositoryFacts{
		Project: newProject(t, map[repo.Path]string{
			"go.mod":   "module shop\n",
			"Makefile": "build:\n\tgo build\n\ntest:\n\tgo test\n\nlint:\n\tgo vet\n",
			"main.go":  "package main\n",
		}),
		Parts: []brief.Part{{Path: "cart", About: "Counts what a customer buys."}},
	}
	got := brief.Repository(r, 50).String()
	for _, want := range []string{"make build", "make test", "make lint", "cart/: Counts"} {
		if !strings.Contains(got, want) {
			t.Errorf("the brief of 50 tokens has no %q:\n%s", want, got)
		}
	}
}
