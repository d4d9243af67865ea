package spec

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/repo"
)

// DefaultThreshold is the drift from which a node blocks, unless the policy says
// otherwise.
const DefaultThreshold = 3

// A GatePolicy says how strict a gate is.
type GatePolicy struct {
	// Threshold is the drift from which a node blocks; DefaultThreshold when 0.
	Threshold int
	// BlockUnknown has a commit stopped when the gate could not judge it.
	BlockUnknown bool
}

// GateOptions say what is judged, and how strictly.
type GateOptions struct {
	Threshold int    // the drift from which a node blocks; DefaultThreshold when 0
	Range     string // judge these commits, A..B, instead of what is staged
	// WorkTree judges the edited files if nothing is staged, as commit -a would commit them.
	WorkTree bool
	// Paths are judged as if they were staged, if there are any.
	Paths []repo.Path
}

// GateResult is the verdict of a gate.
type GateResult struct {
	Blocked []Blocked `json:"blocked"` // by id
	// Notice says why nothing was judged, "" when it was.
	Notice string `json:"notice,omitempty"`
	Merge  bool   `json:"-"` // it was not judged because it is a merge
	// WorkTree says that nothing is staged, and that the edited files were judged.
	WorkTree bool `json:"work_tree,omitempty"`
	// Unknown is what could not be judged: the gate does not know that it is right.
	Unknown []Unjudged `json:"unknown"`
}

// Blocked is a node that is too far behind what is to be committed.
type Blocked struct {
	Node  string   `json:"node"`
	Spec  string   `json:"spec"` // the file to edit
	Drift int      `json:"drift"`
	Paths []string `json:"paths"` // what it governs of what is to be committed
}

// Unjudged is a node that governs what is to be committed and cannot be judged.
type Unjudged struct {
	Node string `json:"node"` // "" when it may be any
	Unknown
	Fix string `json:"fix,omitempty"` // what gets it judged, where one thing does
}

// Open reports whether the commit may go through.
func (g *GateResult) Open() bool { return len(g.Blocked) == 0 && len(g.Unknown) == 0 }

// Gate judges what is about to be committed, or a range of commits: a node blocks
// that governs some of it and is too far behind already, unless its spec is part of
// it. One whose spec is in conflict where it is judged cannot be judged, part of it or not.
//
// The nodes are those of the commit below, not of the work tree: one that is about to
// be changed passes anyway, and one that was edited and not staged is not what will
// be committed.
func (r *Reader) Gate(ctx context.Context, opts GateOptions) (*GateResult, error) {
	if opts.Threshold == 0 {
		opts.Threshold = DefaultThreshold
	}
	if opts.Range != "" {
		return r.gateRange(ctx, opts)
	}
	head, err := r.past.Head(ctx)
	if err != nil {
		return nil, err
	}
	if head.Commit.IsZero() {
		return passed("no commit yet"), nil
	}
	p, err := r.past.Pending(ctx, head.Commit)
	paths := pendingPaths(p)
	if len(opts.Paths) > 0 {
		paths = slices.Sorted(slices.Values(opts.Paths))
	}
	switch {
	case err != nil:
		return unjudged(ctx, FactStaged, err)
	case len(paths) == 0 && !p.Merge && opts.WorkTree:
		return r.gateWorkTree(ctx, head.Commit, opts)
	case len(paths) == 0 && !p.Merge:
		return passed("nothing is staged"), nil
	}
	x := r.anyIndex(ctx)
	undecided, err := r.undecided(ctx, head.Commit, pendingSpecs(p), x)
	switch {
	case err != nil:
		return unjudged(ctx, FactSpecs, err)
	case p.Merge && len(undecided) > 0: // that is made here
		g := passed("")
		g.Unknown = undecided
		return g, nil
	case p.Merge && len(opts.Paths) == 0:
		g := passed("a merge: its commits were checked when they were made")
		g.Merge = true
		return g, nil
	}
	if k := r.current(ctx, head.Commit, x); k != nil && k.Clean {
		if cases, ok := x.cases(paths); ok {
			if drifts, ok := k.drifts(cases); ok {
				return judge(cases, drifts, opts.Threshold, undecided...), nil
			}
		}
	}
	return r.gatePaths(ctx, head.Commit, paths, x, opts.Threshold, undecided...)
}

// gateWorkTree judges the tracked files that are edited and not staged.
func (r *Reader) gateWorkTree(ctx context.Context, head repo.ID, opts GateOptions) (*GateResult, error) {
	tracked, err := r.src.Tracked(ctx)
	if err != nil {
		return unjudged(ctx, FactStaged, err)
	}
	edited, err := r.src.Edited(ctx, tracked, 0)
	switch {
	case err != nil:
		return unjudged(ctx, FactStaged, err)
	case len(edited) == 0:
		return passed("nothing is staged, and no tracked file is edited"), nil
	}
	g, err := r.gatePaths(ctx, head, slices.Sorted(maps.Keys(edited)), r.anyIndex(ctx), opts.Threshold)
	if err != nil {
		return nil, err
	}
	g.WorkTree = true
	return g, nil
}

// gatePaths judges a change to some paths on top of a commit; x is what the work tree has.
func (r *Reader) gatePaths(ctx context.Context, head repo.ID, paths []repo.Path, x *index, threshold int, undecided ...Unjudged) (*GateResult, error) {
	nodes, err := r.nodesAt(ctx, head, x)
	if err != nil {
		return unjudged(ctx, FactSpecs, err)
	}
	cases := stagedCases(nodes, paths)
	drifts, err := r.driftsOf(ctx, head, nodes, cases)
	if err != nil {
		return nil, err
	}
	return judge(cases, drifts, threshold, undecided...), nil
}

// pendingPaths lists the paths that a commit would change, sorted.
func pendingPaths(p repo.PendingCommit) []repo.Path {
	var paths []repo.Path
	for _, c := range p.Changes {
		paths = append(paths, c.Path)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// pendingSpecs returns the spec files that a commit would change and not delete, with a zero
// id for one whose merge is not resolved.
func pendingSpecs(p repo.PendingCommit) Set {
	specs := make(Set)
	for _, c := range p.Changes {
		if !IsSpec(c.Path) {
			continue
		}
		// Git may list an unmerged path twice, the second time with the work tree's content.
		before, again := specs[c.Path]
		if c.Unmerged || again && before.IsZero() {
			specs[c.Path] = repo.ID{}
			continue
		}
		isFile := c.Mode.SameType(repo.Regular) && !c.ID.IsZero() // a link is no spec
		if isFile {
			specs[c.Path] = c.ID
		}
	}
	return specs
}

// undecided returns the nodes whose staged specs are in conflict, called as they would be
// once these are committed.
func (r *Reader) undecided(ctx context.Context, head repo.ID, staged Set, x *index) ([]Unjudged, error) {
	decided := maps.Clone(staged)
	maps.DeleteFunc(decided, func(_ repo.Path, id repo.ID) bool { return id.IsZero() })
	nodes, err := r.nodesIn(ctx, decided, x)
	if err != nil {
		return nil, fmt.Errorf("read the staged specs: %w", err)
	}
	if len(decided) < len(staged) {
		marks := r.marks(ctx)
		for p, id := range staged {
			if id.IsZero() {
				problem := unmerged(p)
				problem.Line = marks[p]
				nodes[p] = &Node{Path: p, Problems: []Problem{problem}}
			}
		}
	}
	maps.DeleteFunc(nodes, func(_ repo.Path, n *Node) bool { return !torn(n.Problems) })
	if len(nodes) == 0 {
		return nil, nil
	}
	list := slices.Collect(maps.Values(nodes))
	below, err := r.nodesAt(ctx, head, x)
	if err != nil {
		return nil, err
	}
	for _, n := range below {
		if nodes[n.Path] == nil {
			n.ID, n.Parent = "", ""
			list = append(list, n)
		}
	}
	var out []Unjudged
	for _, n := range assemble(list) {
		if nodes[n.Path] != nil {
			out = append(out, n.unjudged())
		}
	}
	return out, nil
}

// marks returns where the first marks of a conflict stand in each spec of the work tree
// that has any. What git calls unmerged has no text but there; one that cannot be read has
// no line to show.
func (r *Reader) marks(ctx context.Context) map[repo.Path]int {
	at := make(map[repo.Path]int)
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return at
	}
	for _, n := range nodes {
		if i := slices.IndexFunc(n.Problems, inConflict); i >= 0 {
			at[n.Path] = n.Problems[i].Line
		}
	}
	return at
}

// unjudged is the verdict on a node whose spec is in conflict.
func (n *Node) unjudged() Unjudged {
	where := n.Path.String()
	if line := n.Problems[slices.IndexFunc(n.Problems, inConflict)].Line; line > 0 {
		where += fmt.Sprintf(":%d", line)
	}
	return Unjudged{n.ID, Unknown{FactSpecs, "the spec has a merge conflict: " + where}, resolve(n.Path)}
}

func passed(notice string) *GateResult {
	return &GateResult{Blocked: []Blocked{}, Notice: notice, Unknown: []Unjudged{}}
}

// unjudged is the verdict when git could not say what there is to judge.
func unjudged(ctx context.Context, fact string, err error) (*GateResult, error) {
	if ctx.Err() != nil {
		return nil, err
	}
	g := passed("")
	g.Unknown = append(g.Unknown, Unjudged{Unknown: Unknown{fact, err.Error()}})
	return g, nil
}

// A gateCase is a node and what it governs of what is judged.
type gateCase struct {
	node  *Node
	paths []repo.Path
}

// stagedCases returns the nodes that govern some of the paths, or may do so, and whose
// own spec is not among them.
func stagedCases(nodes []*Node, paths []repo.Path) []gateCase {
	governed := make([][]repo.Path, len(nodes))
	specs := make(map[repo.Path]bool)
	owners := newEntryIndex(nodes, codeOf)
	for _, p := range paths {
		specs[p] = true
		for _, h := range owners.claims(p) {
			governed[h.node] = append(governed[h.node], p)
		}
	}
	var cases []gateCase
	for i, n := range nodes {
		if (len(governed[i]) > 0 || n.Blind != "") && !specs[n.Path] {
			cases = append(cases, gateCase{n, governed[i]})
		}
	}
	return cases
}

// A drifted is how far a node is behind, nil when that is unknown.
type drifted struct {
	drift   *int
	unknown []Unknown
}

// driftsOf returns how far the nodes of a commit are behind.
func (r *Reader) driftsOf(ctx context.Context, commit repo.ID, nodes []*Node, cases []gateCase) ([]drifted, error) {
	if len(cases) == 0 {
		return nil, nil
	}
	some := make([]*Node, len(cases))
	for i, c := range cases {
		some[i] = c.node
	}
	facts, err := r.factsAmong(ctx, some, nodes, commit)
	if err != nil {
		return nil, err
	}
	list := make([]drifted, len(facts))
	for i, f := range facts {
		list[i] = drifted{f.Drift, f.Unknown}
	}
	return list, nil
}

// drifts returns the drifts as they were listed, if all of the nodes were.
func (k *keptListing) drifts(cases []gateCase) ([]drifted, bool) {
	if len(cases) == 0 {
		return nil, true
	}
	l := k.listing()
	if l == nil {
		return nil, false
	}
	known := make(map[string]*Listed, len(l.Nodes))
	for i := range l.Nodes {
		if n := &l.Nodes[i]; !n.Ghost {
			known[n.Path] = n
		}
	}
	list := make([]drifted, len(cases))
	for i, c := range cases {
		n := known[c.node.Path.JSON().Path]
		if n == nil {
			return nil, false
		}
		list[i] = drifted{n.Drift, n.Unknown}
	}
	return list, true
}

// judge decides the cases, besides those that nobody can.
func judge(cases []gateCase, drifts []drifted, threshold int, undecided ...Unjudged) *GateResult {
	g := passed("")
	g.Unknown = append(g.Unknown, undecided...)
	for i, c := range cases {
		switch d := drifts[i]; {
		case torn(c.node.Problems):
			g.Unknown = append(g.Unknown, c.node.unjudged())
		case d.drift == nil:
			g.Unknown = append(g.Unknown, Unjudged{Node: c.node.ID, Unknown: Unknown{FactDrift, d.reason()}})
		case *d.drift >= threshold:
			g.Blocked = append(g.Blocked, Blocked{c.node.ID, c.node.Path.String(), *d.drift, names(c.paths)})
		}
	}
	slices.SortFunc(g.Blocked, func(a, b Blocked) int { return strings.Compare(a.Node, b.Node) })
	slices.SortFunc(g.Unknown, func(a, b Unjudged) int { return strings.Compare(a.Node, b.Node) })
	return g
}

func names(paths []repo.Path) []string {
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = p.String()
	}
	return list
}

// reason says why a drift is unknown.
func (d drifted) reason() string {
	for _, u := range d.unknown {
		if u.Fact == FactDrift {
			return u.Reason
		}
	}
	return fmt.Sprintf("its %s is unknown", FactDrift)
}
