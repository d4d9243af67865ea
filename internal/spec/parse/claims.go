package parse

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"ken/internal/repo"
)

// An EntryIndex finds the entries of many nodes that name a path, without comparing the path with every entry. Its keys
// are the directory or file that contains everything that an entry names.
type EntryIndex map[repo.Path][]*sharedEntry

// A sharedEntry is an entry that several nodes have. A path is compared with it once for all of them.
type sharedEntry struct {
	Entry
	Nodes []NodeEntry // entries by node
}

// A NodeEntry is an entry of a node.
type NodeEntry struct {
	Node, entry int // the indexes of the node and of its entry
	Entry
}

// NewEntryIndex indexes the entries of nodes: their code, or the files that they refer to.
func NewEntryIndex(nodes []*Node, entries func(n *Node) []Entry) EntryIndex {
	l := make(EntryIndex)
	type place struct {
		at  repo.Path
		key Entry
	}
	shared := make(map[place]*sharedEntry)
	put := func(at repo.Path, h NodeEntry) {
		p := place{at, h.Key()}
		if shared[p] == nil {
			shared[p] = &sharedEntry{Entry: h.Entry}
			l[at] = append(l[at], shared[p])
		}
		shared[p].Nodes = append(shared[p].Nodes, h)
	}
	for i, n := range nodes {
		for k, e := range entries(n) {
			at := repo.Path(e.Path)
			if e.Kind == GlobEntry {
				at = repo.Path(e.Path[:strings.IndexAny(e.Path, "*?[{")]).Dir()
			}
			put(at, NodeEntry{i, k, e})
			if e.Symbol != "" {
				put(e.Literal(), NodeEntry{i, k, e})
			}
		}
	}
	return l
}

// CodeOf returns the entries that a node governs.
func CodeOf(n *Node) []Entry { return n.Code }

// RelatedOf returns the entries that a node refers to.
func RelatedOf(n *Node) []Entry { return n.Related }

// Matching returns the entries that name a path.
func (e EntryIndex) Matching(path repo.Path) iter.Seq[*sharedEntry] {
	return func(yield func(*sharedEntry) bool) {
		for at := path; ; at = at.Dir() {
			for _, s := range e[at] {
				if s.Matches(path) && !yield(s) {
					return
				}
			}
			if at == "" {
				return
			}
		}
	}
}

// Cost returns the number of entries that a path is compared with.
func (e EntryIndex) Cost(path repo.Path) int {
	n := 0
	for at := path; ; at = at.Dir() {
		n += len(e[at])
		if at == "" {
			return n
		}
	}
}

// MoreThan reports whether more than most nodes have an entry that matches a path.
func (e EntryIndex) MoreThan(most int, path repo.Path) bool {
	nodes := make(map[int]bool)
	for s := range e.Matching(path) {
		for _, h := range s.Nodes {
			if nodes[h.Node] = true; len(nodes) > most {
				return true
			}
		}
	}
	return false
}

// Claims returns, for each node with an entry that matches a path, the first such entry. They are in the order of
// the nodes.
func (e EntryIndex) Claims(path repo.Path) []NodeEntry {
	var found []NodeEntry
	for s := range e.Matching(path) {
		found = append(found, s.Nodes...)
	}
	slices.SortFunc(found, func(a, b NodeEntry) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.entry, b.entry)) })
	return slices.CompactFunc(found, func(a, b NodeEntry) bool { return a.Node == b.Node })
}
