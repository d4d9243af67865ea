package syntax

import (
	"strings"
	"testing"
)

// A large text finds room for all its nodes when it is like the one before, and none is
// reserved beyond a node to a byte.
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
	if nodes <= nodesKept {
		t.Fatalf("%d nodes are none too many to be kept", nodes)
	}
	p.free()

	fresh := &parser{g: g, nodes: make([]node, 1)}
	fresh.reserve(len(src))
	if cap(fresh.nodes) < nodes || cap(fresh.children) < children {
		t.Errorf("room for %d nodes and %d children, and there were %d and %d", cap(fresh.nodes), cap(fresh.children), nodes, children)
	}
	kept := g.density.Swap(1 << 40)
	defer g.density.Store(kept)
	fresh = &parser{g: g, nodes: make([]node, 1)}
	if fresh.reserve(1 << 16); cap(fresh.nodes) > 2<<16 {
		t.Errorf("room for %d nodes in %d bytes", cap(fresh.nodes), 1<<16)
	}
}
