package spec

import (
	"context"
	"maps"
	"slices"

	"ken/internal/repo"
)

const memoOwners = "owners"

// An index is who has a say about which path, laid out so that a question about a few
// paths reads what is kept of these and no more. It goes by the specs of a checkout, and
// holds for as long as they look the same.
type index struct {
	Look          repo.StatDigest
	Code, Related shelf
	Nodes         []string // each a groundNode, by path
	Blind         []int    // those of which it is not known what they govern
}

// A shelf is a ledger that was put away.
type shelf struct {
	At   []string // sorted
	Held []string // at each, the holdings
}

// An entryOf is an entry of a node, by their places.
type entryOf struct {
	Node, Place int
	Entry       Entry
}

// newIndex lays out nodes, which are sorted by path; sums name their files' contents.
func newIndex(look repo.StatDigest, nodes []*Node, sums map[repo.Path]repo.ID) *index {
	x := &index{Look: look, Code: newShelf(nodes, codeOf), Related: newShelf(nodes, relatedOf)}
	for i, n := range nodes {
		x.Nodes = append(x.Nodes, string(encodeMemo(nil, groundOf(n, sums[n.Path]))))
		if n.Blind != "" {
			x.Blind = append(x.Blind, i)
		}
	}
	return x
}

func newShelf(nodes []*Node, entries func(n *Node) []Entry) shelf {
	l := newEntryIndex(nodes, entries)
	var s shelf
	for _, at := range slices.Sorted(maps.Keys(l)) {
		var list []entryOf
		for _, s := range l[at] {
			for _, h := range s.held {
				list = append(list, entryOf{h.node, h.entry, h.Entry})
			}
		}
		s.At, s.Held = append(s.At, string(at)), append(s.Held, string(encodeMemo(nil, list)))
	}
	return s
}

// claims is that of the ledger; ok is false if something else was put away.
func (s *shelf) claims(path repo.Path) (found []holding, ok bool) {
	if len(s.At) != len(s.Held) {
		return nil, false
	}
	open := make(entryIndex)
	for at := path; ; at = at.Dir() {
		if i, here := slices.BinarySearch(s.At, string(at)); here {
			var list []entryOf
			if rest, err := decodeMemo(s.Held[i], &list); err != nil || rest != "" {
				return nil, false
			}
			for _, e := range list { // equal ones lie behind one another
				h := holding{e.Node, e.Place, e.Entry}
				if last := len(open[at]) - 1; last >= 0 && open[at][last].key() == h.key() {
					open[at][last].held = append(open[at][last].held, h)
					continue
				}
				open[at] = append(open[at], &sharedEntry{h.Entry, []holding{h}})
			}
		}
		if at == "" {
			return open.claims(path), true
		}
	}
}

// node takes a node out; nil if it is none.
func (x *index) node(i int) (*Node, repo.ID) {
	if i < 0 || i >= len(x.Nodes) {
		return nil, repo.ID{}
	}
	var g groundNode
	if rest, err := decodeMemo(x.Nodes[i], &g); err != nil || rest != "" {
		return nil, repo.ID{}
	}
	return g.node(), g.Sum
}

// owners is Owners; ok is false if what is kept cannot be read.
func (x *index) owners(paths []repo.Path) (out []Ownership, ok bool) {
	list := func(s *shelf, p repo.Path) ([]Claim, bool) {
		holdings, ok := s.claims(p)
		claims := []Claim{}
		for _, h := range holdings {
			n, _ := x.node(h.node)
			if n == nil {
				return nil, false
			}
			claims = append(claims, Claim{n.ID, n.Desc, h.Text})
		}
		return claims, ok
	}
	out = []Ownership{}
	for _, p := range paths {
		governing, ok := list(&x.Code, p)
		related, also := list(&x.Related, p)
		if !ok || !also {
			return nil, false
		}
		out = append(out, Ownership{PathJSON: p.JSON(), Governing: governing, Related: related})
	}
	return out, true
}

// cases is stagedCases; ok is false if what is kept cannot be read.
func (x *index) cases(paths []repo.Path) (cases []gateCase, ok bool) {
	governed := make(map[int][]repo.Path)
	for _, i := range x.Blind {
		governed[i] = nil
	}
	specs := make(map[repo.Path]bool)
	for _, p := range paths {
		specs[p] = true
		claims, ok := x.Code.claims(p)
		if !ok {
			return nil, false
		}
		for _, h := range claims {
			governed[h.node] = append(governed[h.node], p)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(governed)) {
		n, _ := x.node(i)
		if n == nil {
			return nil, false
		}
		if !specs[n.Path] {
			cases = append(cases, gateCase{n, governed[i]})
		}
	}
	return cases, true
}

// index returns the index of the checkout: the one that was kept, if the specs are surely
// those that it was made from; else one that is made, and kept for the next time unless
// they may have changed meanwhile.
func (r *Reader) index(ctx context.Context) (*index, error) {
	var x index
	if r.load(memoOwners, &x) && r.src.Unchanged(ctx, x.Look) {
		return &x, nil
	}
	files, look, err := r.src.Specs(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := loadNodes(ctx, files)
	if err != nil {
		return nil, err
	}
	made := newIndex(look, nodes, r.sums(files))
	if !look.IsZero() {
		r.save(memoOwners, *made)
	}
	return made, nil
}

// anyIndex is index where git can be asked instead: it is empty when the specs cannot be
// read.
func (r *Reader) anyIndex(ctx context.Context) *index {
	x, err := r.index(ctx)
	if err != nil {
		return &index{}
	}
	return x
}

// sums names the content of each file.
func (r *Reader) sums(files []repo.LoadedFile) map[repo.Path]repo.ID {
	sums := make(map[repo.Path]repo.ID, len(files))
	for _, f := range files {
		sums[f.Path] = r.blob(f)
	}
	return sums
}
