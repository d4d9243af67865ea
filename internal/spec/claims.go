package spec

import (
	"cmp"
	"slices"
	"strings"

	"ken/internal/repo"
)

// A ledger has the entries of many nodes, so that those which name a path are found
// without asking each of them: an entry stands under the directory, or the file, that
// all it names lies in.
type ledger map[repo.Path][]holding

// A holding is the entry of a node.
type holding struct {
	node, entry int // their places
	Entry
}

// newLedger enters what the nodes have: their code, or what they refer to.
func newLedger(nodes []*Node, entries func(n *Node) []Entry) ledger {
	l := make(ledger)
	for i, n := range nodes {
		for k, e := range entries(n) {
			at := repo.Path(e.Path)
			if e.Kind == GlobEntry {
				at = repo.Path(e.Path[:strings.IndexAny(e.Path, "*?[{")]).Dir()
			}
			l[at] = append(l[at], holding{i, k, e})
			if e.Symbol != "" {
				l[e.literal()] = append(l[e.literal()], holding{i, k, e})
			}
		}
	}
	return l
}

func codeOf(n *Node) []Entry    { return n.Code }
func relatedOf(n *Node) []Entry { return n.Related }

// claims returns of each node that names a path the first entry that does, in the
// order of the nodes.
func (l ledger) claims(path repo.Path) []holding {
	var found []holding
	for at := path; ; at = at.Dir() {
		for _, h := range l[at] {
			if h.Matches(path) {
				found = append(found, h)
			}
		}
		if at == "" {
			break
		}
	}
	slices.SortFunc(found, func(a, b holding) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.entry, b.entry)) })
	return slices.CompactFunc(found, func(a, b holding) bool { return a.node == b.node })
}
