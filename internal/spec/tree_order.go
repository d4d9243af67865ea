package spec

import (
	"cmp"
	"slices"
	"strings"
)

// A TreeRow is a row of the tree of specs.
type TreeRow struct {
	Node  *ListedSpec
	Depth int
	Below int // the number of descendants, which follow directly
}

// TreeOrder lists nodes in tree order: each node before its children. Siblings are ordered by the highest grade of
// drift in their subtrees. A node whose parent is not among the nodes is at the top level.
func TreeOrder(nodes []ListedSpec) []TreeRow {
	known := make(map[string]bool, len(nodes))
	for i := range nodes {
		known[nodes[i].ID] = true
	}
	children := make(map[string][]*ListedSpec)
	for i := range nodes {
		n := &nodes[i]
		parent := ""
		if n.Parent != nil && known[*n.Parent] && *n.Parent != n.ID {
			parent = *n.Parent
		}
		children[parent] = append(children[parent], n)
	}
	rank := make(map[string]int, len(nodes))
	var highest func(n *ListedSpec) int
	highest = func(n *ListedSpec) int {
		r := -1
		if n.Grade != nil {
			r = n.Grade.Rank()
		}
		for _, below := range children[n.ID] {
			r = max(r, highest(below))
		}
		rank[n.ID] = r
		return r
	}
	for _, n := range children[""] {
		highest(n)
	}
	list := make([]TreeRow, 0, len(nodes))
	var walk func(parent string, depth int)
	walk = func(parent string, depth int) {
		below := children[parent]
		slices.SortFunc(below, func(a, b *ListedSpec) int {
			return cmp.Or(cmp.Compare(rank[b.ID], rank[a.ID]), strings.Compare(a.ID, b.ID))
		})
		for _, n := range below {
			at := len(list)
			list = append(list, TreeRow{Node: n, Depth: depth})
			walk(n.ID, depth+1)
			list[at].Below = len(list) - at - 1
		}
	}
	walk("", 0)
	return list
}
