package spec

import (
	"maps"
	"slices"

	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// A Collision is a node that several checkouts change before any of the changes is merged.
type Collision struct {
	Node string
	Kind CollisionKind
	With []string // the other worktrees, sorted
	// Paths are the changed paths of this checkout that collide, sorted.
	Paths []repo.Path
}

// A CollisionKind says which part of a node collides.
type CollisionKind string

// The kinds of collisions.
const (
	OnSpec CollisionKind = "spec"      // both edit the spec
	OnCode CollisionKind = "code"      // both change code that it governs
	OnBoth CollisionKind = "spec+code" // both change both, or one changes the spec and the other the code
)

// Words returns the kind for messages, to follow "on its".
func (k CollisionKind) Words() string {
	if k == OnBoth {
		return "spec and code"
	}
	return string(k)
}

// A Proposal is a checkout and the changes that it proposes.
type Proposal struct {
	*Checkout
	Ops []Op
}

// Collisions returns the collisions of each proposal, in the order of the proposals. Two proposals collide on a
// node if both change its spec, both change its code, or one changes the spec and the other the code.
func Collisions(nodes []*parse.Node, proposals []Proposal) [][]Collision {
	changes := make([]map[string]*nodeChange, len(proposals))
	code := parse.NewEntryIndex(nodes, parse.CodeOf)
	for i, p := range proposals {
		changes[i] = p.changes(nodes, code)
	}
	out := make([][]Collision, len(proposals))
	for i := range proposals {
		out[i] = []Collision{}
		for _, id := range slices.Sorted(maps.Keys(changes[i])) {
			out[i] = append(out[i], collisionsOf(proposals, changes, i, id)...)
		}
	}
	return out
}

// A nodeChange is the set of paths of one node that one proposal changes.
type nodeChange struct {
	spec []repo.Path
	code []repo.Path
}

func (p Proposal) changes(nodes []*parse.Node, code parse.EntryIndex) map[string]*nodeChange {
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
		for _, h := range code.Claims(path) {
			s := of(nodes[h.Node].ID)
			s.code = append(s.code, path)
		}
	}
	return all
}

// on returns the kind of the collision of two changes of a node. If they have nothing in common, one changes the
// spec and the other the code, and the kind is OnBoth.
func (n *nodeChange) on(other *nodeChange) CollisionKind {
	onSpec := len(n.spec) > 0 && len(other.spec) > 0
	onCode := len(n.code) > 0 && len(other.code) > 0
	switch {
	case onSpec == onCode:
		return OnBoth
	case onSpec:
		return OnSpec
	default:
		return OnCode
	}
}

// collisionsOf returns the collisions of proposal i on a node, at most one of each kind. Each lists all worktrees
// that it collides with.
func collisionsOf(proposals []Proposal, changes []map[string]*nodeChange, i int, id string) []Collision {
	mine := changes[i][id]
	all := []Collision{
		{Node: id, Kind: OnSpec, Paths: mine.spec},
		{Node: id, Kind: OnCode, Paths: mine.code},
		{Node: id, Kind: OnBoth, Paths: slices.Concat(mine.spec, mine.code)},
	}
	for j, p := range proposals {
		theirs := changes[j][id]
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
