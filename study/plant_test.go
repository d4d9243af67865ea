package main

import (
	"slices"
	"testing"
)

// Cases are mentions that are true: whole paths, bare names of one file, declared names, commands
// that a file lists, links to headings. Routes, pages of a commit and printed lines are none.
func TestPlantCandidates(t *testing.T) {
	g := newGardener(nil, tree{})
	for _, f := range []string{"src/app.py", "src/only.toml", "docs/a.md"} {
		g.files[f] = true
	}
	g.dirs["src"] = 2
	g.sources["src/app.py"] = nil
	g.readSource("src/app.py", []byte("class Router:\n    def add_route(self):\n        pass\n"))
	g.readSource("Makefile", []byte("check: x\n"))
	g.docs = []plantDoc{{"docs/a.md", plantLines("docs/a.md", "---\npath: src/app.py\n---\n# Title\n"+
		"`src/app.py` and `only.toml`, not /src/app.py or https://x.y/src/app.py\n"+
		"`Router`, `add_route`, `Router.add_route`, `elsewhere_name`\n"+
		"```\n$ make check\nsrc/app.py\n```\n[up](#title) [b](https://h/blob/0123456789abcdef/src/app.py)\n")}}
	for kind, want := range map[string][]string{
		plantFile: {"src/app.py"}, plantFence: nil, plantBare: {"only.toml"}, plantSymbol: {"Router", "add_route"},
		plantQualified: {"only.toml", "Router.add_route"}, plantCommand: {"make check"}, plantAnchor: {"#title"},
	} {
		var got []string
		for _, p := range g.candidates(kind) {
			got = append(got, p.Text)
		}
		if kind == plantAnchor {
			got = nil
			for _, p := range g.anchorsOn("docs/a.md", plantLine{text: "[up](#title)"}) {
				got = append(got, p.Text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: cases %q, want %q", kind, got, want)
		}
	}
}
