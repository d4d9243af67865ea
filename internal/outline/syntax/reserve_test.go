package syntax

import (
	"strings"
	"testing"
)

// reserve allocates enough nodes for a text like the previous one, and at most one node per byte.
func TestReserve(t *testing.T) {
	g, err := Markdown()
	if err != nil {
		t.Fatal(err)
	}
	src := []byte(strings.Repeat("- considerably longer words, separated by single spaces\n", 8000))
	p := newParser(g)
	if _, err := p.parse(src); err != nil {
		t.Fatal(err)
	}
	nodes, children := len(p.nodes), len(p.children)
	if nodes <= maxKeptNodes {
		t.Fatalf("the text has %d nodes; it must have more than %d", nodes, maxKeptNodes)
	}
	p.free()

	fresh := &parser{g: g, nodes: make([]node, 1)}
	fresh.reserve(len(src))
	if cap(fresh.nodes) < nodes || cap(fresh.children) < children {
		t.Errorf("reserved %d nodes and %d children, want %d and %d", cap(fresh.nodes), cap(fresh.children), nodes, children)
	}
	density := g.density.Swap(1 << 40)
	defer g.density.Store(density)
	fresh = &parser{g: g, nodes: make([]node, 1)}
	if fresh.reserve(1 << 16); cap(fresh.nodes) > 2<<16 {
		t.Errorf("reserved %d nodes for %d bytes", cap(fresh.nodes), 1<<16)
	}
}
