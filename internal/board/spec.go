package board

import (
	"cmp"
	"context"
	"slices"

	"ken/internal/spec"
)

// spec reads the specs and counts them.
func (s *Source) spec(ctx context.Context) (*Spec, error) {
	l, err := s.Specs(ctx)
	if err != nil {
		return nil, err
	}
	return &Spec{Main: l.Main, Nodes: arrange(l.Nodes), Unknown: l.Unknown, Counts: CountSpecs(l.Nodes), Gate: cmp.Or(s.Gate, spec.DefaultThreshold)}, nil
}

// CountSpecs counts nodes by status, drift and problems.
func CountSpecs(nodes []spec.ListedSpec) SpecCounts {
	var c SpecCounts
	for i := range nodes {
		n := &nodes[i]
		c.Nodes++
		switch n.Status {
		case spec.StatusMerged:
			c.Merged++
		case spec.StatusDrift:
			c.Drift++
		case spec.StatusActive:
			c.Active++
		case spec.StatusPending:
			c.Pending++
		default:
			c.Unknown++
		}
		switch {
		case n.Drift == nil && !n.Ghost: // a ghost has no code in this worktree
			c.DriftUnknown++
		case n.Drift != nil && *n.Drift > 0:
			c.Drifting++
		}
		if len(n.Problems) > 0 {
			c.Problems++
		}
		if len(n.Missing) > 0 {
			c.Missing++
		}
		if n.Ghost {
			c.Ghosts++
		}
	}
	return c
}

// arrange puts specs into tree order.
func arrange(nodes []spec.ListedSpec) []Node {
	placed := spec.TreeOrder(nodes)
	list := make([]Node, len(placed))
	for i, p := range placed {
		list[i] = Node{ListedSpec: *p.Node, Depth: p.Depth, Below: p.Below, Collisions: []Collision{}}
	}
	return list
}

// proposals reads the changes of worktrees and finds collisions.
func proposals(ctx context.Context, overlays func(context.Context) ([]spec.WorktreeChanges, error)) (*Proposals, error) {
	list, err := overlays(ctx)
	if err != nil {
		return nil, err
	}
	return &Proposals{Worktrees: list, Meetings: Collisions(list)}, nil
}

// Collisions makes one of the collisions that each worktree has with the others.
func Collisions(list []spec.WorktreeChanges) []Collision {
	type subject struct {
		node string
		kind spec.CollisionKind
	}
	at := make(map[subject]int)
	out := []Collision{}
	for _, w := range list {
		for _, c := range w.Collisions {
			k := subject{c.Node, c.Kind}
			i, ok := at[k]
			if !ok {
				i = len(out)
				at[k] = i
				out = append(out, Collision{Node: c.Node, Kind: c.Kind})
			}
			m := &out[i]
			m.Worktrees = append(append(m.Worktrees, w.Worktree), c.With...)
			m.Paths = append(m.Paths, c.Paths...)
		}
	}
	for i := range out {
		slices.Sort(out[i].Worktrees)
		out[i].Worktrees = slices.Compact(out[i].Worktrees)
		slices.Sort(out[i].Paths)
		out[i].Paths = slices.Compact(out[i].Paths)
	}
	slices.SortFunc(out, func(a, b Collision) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// withCollisions returns a copy with the collisions of its specs.
func (s *Spec) withCollisions(all []Collision) *Spec {
	out := *s
	out.Nodes = slices.Clone(s.Nodes)
	at := make(map[string]int, len(out.Nodes))
	for i := range out.Nodes {
		at[out.Nodes[i].ID] = i
	}
	for _, c := range all {
		if i, ok := at[c.Node]; ok {
			out.Nodes[i].Collisions = append(out.Nodes[i].Collisions, c)
		}
	}
	return &out
}
