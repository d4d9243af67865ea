package spec

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"ken/internal/repo"
)

// An entryIndex has the entries of many nodes, so that those which name a path are found
// without asking each of them: an entry stands under the directory, or the file, that
// all it names lies in.
type entryIndex map[repo.Path][]*sharedEntry

// A sharedEntry is what all entries are that name the same, so that a path is compared
// with them once.
type sharedEntry struct {
	Entry
	held []holding // by node
}

// A holding is the entry of a node.
type holding struct {
	node, entry int // their places
	Entry
}

// newEntryIndex indexes what the nodes have: their code, or what they refer to.
func newEntryIndex(nodes []*Node, entries func(n *Node) []Entry) entryIndex {
	l := make(entryIndex)
	type place struct {
		at  repo.Path
		key Entry
	}
	shared := make(map[place]*sharedEntry)
	put := func(at repo.Path, h holding) {
		p := place{at, h.key()}
		if shared[p] == nil {
			shared[p] = &sharedEntry{Entry: h.Entry}
			l[at] = append(l[at], shared[p])
		}
		shared[p].held = append(shared[p].held, h)
	}
	for i, n := range nodes {
		for k, e := range entries(n) {
			at := repo.Path(e.Path)
			if e.Kind == GlobEntry {
				at = repo.Path(e.Path[:strings.IndexAny(e.Path, "*?[{")]).Dir()
			}
			put(at, holding{i, k, e})
			if e.Symbol != "" {
				put(e.literal(), holding{i, k, e})
			}
		}
	}
	return l
}

func codeOf(n *Node) []Entry    { return n.Code }
func relatedOf(n *Node) []Entry { return n.Related }

// matching returns the entries that name a path.
func (l entryIndex) matching(path repo.Path) iter.Seq[*sharedEntry] {
	return func(yield func(*sharedEntry) bool) {
		for at := path; ; at = at.Dir() {
			for _, s := range l[at] {
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

// cost is with how many entries a path is compared to find those that name it.
func (l entryIndex) cost(path repo.Path) int {
	n := 0
	for at := path; ; at = at.Dir() {
		n += len(l[at])
		if at == "" {
			return n
		}
	}
}

// moreThan reports whether more than so many nodes name a path.
func (l entryIndex) moreThan(most int, path repo.Path) bool {
	nodes := make(map[int]bool)
	for s := range l.matching(path) {
		for _, h := range s.held {
			if nodes[h.node] = true; len(nodes) > most {
				return true
			}
		}
	}
	return false
}

// claims returns of each node that names a path the first entry that does, in the
// order of the nodes.
func (l entryIndex) claims(path repo.Path) []holding {
	var found []holding
	for s := range l.matching(path) {
		found = append(found, s.held...)
	}
	slices.SortFunc(found, func(a, b holding) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.entry, b.entry)) })
	return slices.CompactFunc(found, func(a, b holding) bool { return a.node == b.node })
}
