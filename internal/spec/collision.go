package spec

import (
	"maps"
	"slices"

	"ken/internal/repo"
)

// A Collision is a node on which the work of several checkouts meets before any of
// it has merged.
type Collision struct {
	Node string
	Kind CollisionKind
	With []string // the other worktrees, sorted
	// Paths are those of this checkout that the others meet on, sorted.
	Paths []repo.Path
}

// A CollisionKind is on what the work meets.
type CollisionKind string

// The kinds.
const (
	OnSpec CollisionKind = "spec"      // both edit the spec
	OnCode CollisionKind = "code"      // both touch what it governs
	OnBoth CollisionKind = "spec+code" // both do both, or one does the one and one the other
)

// Words is the kind as people read it, behind "on its".
func (k CollisionKind) Words() string {
	if k == OnBoth {
		return "spec and code"
	}
	return string(k)
}

// A Proposal is a checkout and what it would do.
type Proposal struct {
	*Checkout
	Ops []Op
}

// Collisions says for each proposal, in order, where it meets others: a node whose
// spec both would change, or whose spec or governed code each changes a part of. Two
// meet once on a node.
func Collisions(nodes []*Node, proposals []Proposal) [][]Collision {
	stakes := make([]map[string]*nodeChange, len(proposals))
	code := newEntryIndex(nodes, codeOf)
	for i, p := range proposals {
		stakes[i] = p.stakes(nodes, code)
	}
	out := make([][]Collision, len(proposals))
	for i := range proposals {
		out[i] = []Collision{}
		for _, id := range slices.Sorted(maps.Keys(stakes[i])) {
			out[i] = append(out[i], meet(proposals, stakes, i, id)...)
		}
	}
	return out
}

// A nodeChange is what one proposal changes of one node.
type nodeChange struct {
	spec []repo.Path
	code []repo.Path
}

func (p Proposal) stakes(nodes []*Node, code entryIndex) map[string]*nodeChange {
	all := make(map[string]*nodeChange)
	of := func(id string) *nodeChange {
		if all[id] == nil {
			all[id] = &nodeChange{}
		}
		return all[id]
	}
	for _, op := range p.Ops {
		s := of(op.Node)
		s.spec = append(s.spec, op.Path)
	}
	for _, path := range p.Changed {
		for _, h := range code.claims(path) {
			s := of(nodes[h.node].ID)
			s.code = append(s.code, path)
		}
	}
	return all
}

// on is what two stakes in a node have in common. If that is nothing, the one changes what
// the other's work rests on.
func (s *nodeChange) on(other *nodeChange) CollisionKind {
	onSpec := len(s.spec) > 0 && len(other.spec) > 0
	onCode := len(s.code) > 0 && len(other.code) > 0
	switch {
	case onSpec == onCode:
		return OnBoth
	case onSpec:
		return OnSpec
	default:
		return OnCode
	}
}

// meet returns the collisions of proposal i on a node: for each kind on which it meets any,
// one with all that it meets so.
func meet(proposals []Proposal, stakes []map[string]*nodeChange, i int, id string) []Collision {
	mine := stakes[i][id]
	all := []Collision{
		{Node: id, Kind: OnSpec, Paths: mine.spec},
		{Node: id, Kind: OnCode, Paths: mine.code},
		{Node: id, Kind: OnBoth, Paths: slices.Concat(mine.spec, mine.code)},
	}
	for j, p := range proposals {
		theirs := stakes[j][id]
		if j == i || theirs == nil {
			continue
		}
		kind := mine.on(theirs)
		at := slices.IndexFunc(all, func(c Collision) bool { return c.Kind == kind })
		all[at].With = append(all[at].With, p.Worktree)
	}
	var out []Collision
	for _, c := range all {
		if len(c.With) > 0 {
			slices.Sort(c.With)
			slices.Sort(c.Paths)
			out = append(out, c)
		}
	}
	return out
}
