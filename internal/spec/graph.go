package spec

import (
	"fmt"
	"strings"
	"unicode"

	"ken/internal/spec/parse"
)

// A GraphFormat is a language in which a graph can be written.
type GraphFormat string

// The formats.
const (
	Dot     GraphFormat = "dot"     // Graphviz
	Mermaid GraphFormat = "mermaid" // GitHub and GitLab draw it in Markdown
)

// Graph writes the tree of specs, with the code that each governs.
func Graph(nodes []*parse.Node, format GraphFormat) string {
	g := newDrawing(nodes)
	if format == Mermaid {
		return g.mermaid()
	}
	return g.dot()
}

// A drawing numbers the nodes and files, so that no name can be read as syntax of the output language.
type drawing struct {
	nodes  []*parse.Node
	number map[string]int // of a node, by id
	files  []string       // the governed entries, each once
	file   map[string]int
}

func newDrawing(nodes []*parse.Node) *drawing {
	g := &drawing{nodes: nodes, number: make(map[string]int), file: make(map[string]int)}
	for i, n := range nodes {
		g.number[n.ID] = i
		for _, e := range n.Code {
			if _, known := g.file[e.String()]; !known {
				g.file[e.String()] = len(g.files)
				g.files = append(g.files, e.String())
			}
		}
	}
	return g
}

// edges calls child for every pair of parent and child, and governs for every node and entry.
func (g *drawing) edges(child, governs func(from, to int)) {
	for i, n := range g.nodes {
		if p, ok := g.number[n.Parent]; ok && n.Parent != "" {
			child(p, i)
		}
		for _, e := range n.Code {
			governs(i, g.file[e.String()])
		}
	}
}

func (g *drawing) dot() string {
	var b strings.Builder
	b.WriteString("digraph spec {\n  rankdir=LR;\n  node [shape=box];\n")
	for i, n := range g.nodes {
		fmt.Fprintf(&b, "  n%d [label=%s];\n", i, dotText(n.ID))
	}
	for i, f := range g.files {
		fmt.Fprintf(&b, "  f%d [label=%s, shape=note];\n", i, dotText(f))
	}
	g.edges(
		func(from, to int) { fmt.Fprintf(&b, "  n%d -> n%d;\n", from, to) },
		func(from, to int) { fmt.Fprintf(&b, "  n%d -> f%d [style=dashed];\n", from, to) },
	)
	b.WriteString("}\n")
	return b.String()
}

// dotText quotes a text for Graphviz.
func dotText(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "", "\t", " ").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	return `"` + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD' // it could be a terminal escape sequence
		}
		return r
	}, s) + `"`
}

func (g *drawing) mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, n := range g.nodes {
		fmt.Fprintf(&b, "  n%d[%s]\n", i, mermaidText(n.ID))
	}
	for i, f := range g.files {
		fmt.Fprintf(&b, "  f%d[/%s/]\n", i, mermaidText(f))
	}
	g.edges(
		func(from, to int) { fmt.Fprintf(&b, "  n%d --> n%d\n", from, to) },
		func(from, to int) { fmt.Fprintf(&b, "  n%d -.-> f%d\n", from, to) },
	)
	return b.String()
}

// mermaidText quotes a text for Mermaid. Characters with a meaning in Mermaid become numeric entities.
func mermaidText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if r < ' ' || strings.ContainsRune("\"#&;<>\\`", r) {
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}
