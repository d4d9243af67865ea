package project_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/repo"
)

func TestInstructions(t *testing.T) {
	const archive = `
-- AGENTS.md --
# Work

- The parser lives in ` + "`src/parse/`" + `.
- Never edit ` + "`src/gen.go`" + ` by hand.
- See [the parser](./src/parse/lex.go#L3), and run it.

` + "```" + `sh
# no heading
go test ./src/parse/...
` + "```" + `

## Words about parse and gen.go ##

The directory src has no slash here, and https://example.com/src/gen.go is an address.
-- CLAUDE.md --
# For one agent

- Never edit ` + "`src/gen.go`" + ` by hand.
-- GEMINI.md --
# Work

- The parser lives in ` + "`src/parse/`" + `.
- Never edit ` + "`src/gen.go`" + ` by hand.
- See [the parser](./src/parse/lex.go#L3), and run it.

` + "```" + `sh
# no heading
go test ./src/parse/...
` + "```" + `

## Words about parse and gen.go ##

The directory src has no slash here, and https://example.com/src/gen.go is an address.
-- src/parse/AGENTS.md --
Do not allocate. lex.go is slow.
-- src/testdata/AGENTS.md --
# Not of this project
-- docs/CONTRIBUTING.rst --
==============
How to help
==============

Setup
-----

Short
---
~~~~~~~~~
-- other/CONTRIBUTING.md --
# Elsewhere
-- docs/notes.md --
# No instructions
-- src/gen.go --
-- src/parse/lex.go --
-- other/x.txt --
`
	p := open(t, archive)
	const (
		agents       = "AGENTS.md [Work|Words about parse and gen.go]\n"
		claude       = "CLAUDE.md [For one agent]\n"
		contributing = "docs/CONTRIBUTING.rst [How to help|Setup]\n"
	)
	for path, want := range map[repo.Path]string{
		"":           agents + claude + contributing,
		"src/gen.go": agents + "\t4: Never edit `src/gen.go` by hand.\n" + claude + contributing,
		"src/parse/lex.go": "src/parse/AGENTS.md []\n\t1: Do not allocate. lex.go is slow.\n" +
			agents + "\t3: The parser lives in `src/parse/`.\n\t5: See [the parser](./src/parse/lex.go#L3), and run it.\n\t9: go test ./src/parse/...\n" +
			claude + contributing,
		"src/parse":   "src/parse/AGENTS.md []\n" + agents + "\t3: The parser lives in `src/parse/`.\n\t9: go test ./src/parse/...\n" + claude + contributing,
		"other/x.txt": "other/CONTRIBUTING.md [Elsewhere]\n" + agents + claude + contributing,
		"AGENTS.md":   claude + strings.Replace(agents, "AGENTS", "GEMINI", 1) + contributing, // GEMINI.md is its copy
	} {
		t.Run(string(path), func(t *testing.T) {
			var b strings.Builder
			for _, in := range p.Instructions(path) {
				fmt.Fprintf(&b, "%s [%s]\n", in.Source, strings.Join(in.Headings, "|"))
				for _, l := range in.Lines {
					fmt.Fprintf(&b, "\t%d: %s\n", l.Line, l.Text)
				}
			}
			if diff := cmp.Diff(want, b.String()); diff != "" {
				t.Errorf("instructions (-want +got):\n%s", diff)
			}
		})
	}
}

// A quoted line and a heading are one line of bounded length without control characters, and there are only so many.
func TestInstructionsAreBounded(t *testing.T) {
	long := strings.Repeat("say \x1b[2Jword\u202e ", 200)
	many := ""
	for i := range 100 {
		many += fmt.Sprintf("- Never edit a/b.go in %d.\n## %d\n", i, i)
	}
	p := open(t, "-- AGENTS.md --\n# "+long+"\n- a/b.go "+long+"\n"+many+"-- a/b.go --\n")
	list := p.Instructions("a/b.go")
	if len(list) != 1 || len(list[0].Lines) == 0 || len(list[0].Lines) > 20 || len(list[0].Headings) == 0 || len(list[0].Headings) > 50 {
		t.Fatalf("the instructions are %v, want a few lines and headings of AGENTS.md", list)
	}
	texts := list[0].Headings
	for _, l := range list[0].Lines {
		texts = append(texts, l.Text)
	}
	for _, text := range texts {
		if len([]rune(text)) > 240 || strings.ContainsAny(text, "\n\x1b\u202e") {
			t.Errorf("%q is long or has control characters", text)
		}
	}
}
