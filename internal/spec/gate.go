package spec

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// DefaultThreshold is the drift at which a node blocks a commit, if the policy sets none.
const DefaultThreshold = 3

// GateOptions select the changes that a gate judges.
type GateOptions struct {
	Threshold int    // the drift at which a node blocks; 0 means DefaultThreshold
	Range     string // judge these commits, A..B, instead of the staged files
	// WorkTree judges the edited files if nothing is staged, as commit -a would commit them.
	WorkTree bool
	// Paths, if not empty, are judged as if they were staged.
	Paths []repo.Path
}

// GateResult is the verdict of a gate.
type GateResult struct {
	Blocked []BlockedNode `json:"blocked"` // by id
	// Notice says why nothing was judged, "" if something was.
	Notice string `json:"notice,omitempty"`
	Merge  bool   `json:"-"` // nothing was judged because this is a merge
	// WorkTree reports that nothing is staged and the edited files were judged instead.
	WorkTree bool `json:"work_tree,omitempty"`
	// Unknown are the nodes that govern files of the commit and could not be judged. What is the id, or a fact if any
	// node may be affected.
	Unknown []fault.Unknown `json:"unknown"`
}

// BlockedNode is a node whose drift is too high for a commit to change its code.
type BlockedNode struct {
	Node  string `json:"node"`
	Spec  string `json:"spec"` // the spec file to edit
	Drift int    `json:"drift"`
	// Format is the number of drift commits that changed only comments or layout. They do not block.
	Format int      `json:"format"`
	Paths  []string `json:"paths"` // the governed files in the commit
}

// Open reports whether the commit may go through.
func (g *GateResult) Open() bool { return len(g.Blocked) == 0 && len(g.Unknown) == 0 }

// Gate judges the next commit, or a range of commits. A node blocks if it governs a changed file and its drift, without
// the commits that change only comments or layout, has reached the threshold, unless its spec is changed too. A node
// whose spec has a merge conflict cannot be judged, even if the spec is changed.
//
// The nodes are those of HEAD, not of the work tree. A staged spec passes anyway, and an edit that is not staged
// will not be committed.
func (r *Reader) Gate(ctx context.Context, opts GateOptions) (*GateResult, error) {
	if opts.Threshold == 0 {
		opts.Threshold = DefaultThreshold
	}
	if opts.Range != "" {
		return r.gateRange(ctx, opts)
	}
	head, err := r.ws.Git.Head(ctx)
	if err != nil {
		return nil, err
	}
	if head.Commit.IsZero() {
		return passed("no commit yet"), nil
	}
	p, err := r.ws.Git.Pending(ctx, head.Commit)
	paths := pendingPaths(p)
	if len(opts.Paths) > 0 {
		paths = slices.Sorted(slices.Values(opts.Paths))
	}
	switch {
	case err != nil:
		return gateUnknown(ctx, derive.FactStaged, err)
	case len(paths) == 0 && !p.Merge && opts.WorkTree:
		return r.gateWorkTree(ctx, head.Commit, opts)
	case len(paths) == 0 && !p.Merge:
		return passed("nothing is staged"), nil
	}
	have := r.nodesOrNone(ctx)
	undecided, err := r.stagedConflicts(ctx, head.Commit, pendingSpecs(p), have)
	switch {
	case err != nil:
		return gateUnknown(ctx, derive.FactSpecs, err)
	case p.Merge && len(undecided) > 0: // this commit would record the conflict
		g := passed("")
		g.Unknown = undecided
		return g, nil
	case p.Merge && len(opts.Paths) == 0:
		g := passed("a merge: its commits were checked when they were made")
		g.Merge = true
		return g, nil
	}
	if k := r.currentListing(ctx, head.Commit, have); k != nil && k.Clean {
		cases := stagedCases(have.list(), paths, nil)
		if drifts, ok := k.drifts(cases); ok {
			return judge(cases, drifts, opts.Threshold, undecided...), nil
		}
	}
	return r.gatePaths(ctx, head.Commit, paths, have, opts.Threshold, undecided...)
}

// gateWorkTree judges the tracked files that are edited and not staged.
func (r *Reader) gateWorkTree(ctx context.Context, head repo.ID, opts GateOptions) (*GateResult, error) {
	tracked, err := r.tracked(ctx)
	if err != nil {
		return gateUnknown(ctx, derive.FactStaged, err)
	}
	edited, err := r.ws.Files.Edited(ctx, tracked)
	switch {
	case err != nil:
		return gateUnknown(ctx, derive.FactStaged, err)
	case len(edited) == 0:
		return passed("nothing is staged, and no tracked file is edited"), nil
	}
	g, err := r.gatePaths(ctx, head, slices.Sorted(slices.Values(edited)), r.nodesOrNone(ctx), opts.Threshold)
	if err != nil {
		return nil, err
	}
	g.WorkTree = true
	return g, nil
}

// gatePaths judges a change of some paths on top of a commit. have are the nodes of the work tree.
func (r *Reader) gatePaths(
	ctx context.Context, head repo.ID, paths []repo.Path, have *cachedNodes, threshold int, undecided ...fault.Unknown,
) (*GateResult, error) {
	nodes, err := r.nodesAt(ctx, head, have)
	if err != nil {
		return gateUnknown(ctx, derive.FactSpecs, err)
	}
	moved, err := r.movedCode(ctx, head, nodes)
	if err != nil {
		return nil, err
	}
	cases := stagedCases(nodes, paths, moved)
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

// pendingSpecs returns the spec files that a commit would add or change. The id is zero if the merge of a file is
// not resolved.
func pendingSpecs(p repo.PendingCommit) FileIDs {
	specs := make(FileIDs)
	for _, c := range p.Changes {
		if !parse.IsSpec(c.Path) {
			continue
		}
		// Git may list an unmerged path twice, the second time with the content of the work tree.
		before, again := specs[c.Path]
		if c.Unmerged || again && before.IsZero() {
			specs[c.Path] = repo.ID{}
			continue
		}
		isFile := c.Mode.SameType(repo.Regular) && !c.ID.IsZero() // a symbolic link is not a spec
		if isFile {
			specs[c.Path] = c.ID
		}
	}
	return specs
}

// stagedConflicts returns the nodes whose staged specs have a merge conflict, with the ids that they would have after
// the commit.
func (r *Reader) stagedConflicts(ctx context.Context, head repo.ID, staged FileIDs, have *cachedNodes) ([]fault.Unknown, error) {
	decided := maps.Clone(staged)
	maps.DeleteFunc(decided, func(_ repo.Path, id repo.ID) bool { return id.IsZero() })
	nodes, err := r.nodesIn(ctx, decided, have)
	if err != nil {
		return nil, fmt.Errorf("read the staged specs: %w", err)
	}
	if len(decided) < len(staged) {
		marks := r.conflictLines(ctx)
		for p, id := range staged {
			if id.IsZero() {
				problem := parse.UnmergedProblem(p)
				problem.Line = marks[p]
				nodes[p] = &parse.Node{Path: p, Problems: []parse.Problem{problem}}
			}
		}
	}
	maps.DeleteFunc(nodes, func(_ repo.Path, n *parse.Node) bool { return !parse.HasConflict(n.Problems) })
	if len(nodes) == 0 {
		return nil, nil
	}
	list := slices.Collect(maps.Values(nodes))
	below, err := r.nodesAt(ctx, head, have)
	if err != nil {
		return nil, err
	}
	for _, n := range below {
		if nodes[n.Path] == nil {
			n.ID, n.Parent = "", ""
			list = append(list, n)
		}
	}
	var out []fault.Unknown
	for _, n := range parse.Assemble(list) {
		if nodes[n.Path] != nil {
			out = append(out, conflictedNode(n))
		}
	}
	return out, nil
}

// conflictLines returns the line of the first conflict marker in each spec of the work tree that has one. Only the work
// tree has the text of an unmerged file. If the specs cannot be read, there are no lines to show.
func (r *Reader) conflictLines(ctx context.Context) map[repo.Path]int {
	at := make(map[repo.Path]int)
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return at
	}
	for _, n := range nodes {
		if i := slices.IndexFunc(n.Problems, parse.IsConflict); i >= 0 {
			at[n.Path] = n.Problems[i].Line
		}
	}
	return at
}

// conflictedNode returns the verdict on a node whose spec has a merge conflict.
func conflictedNode(n *parse.Node) fault.Unknown {
	where := n.Path.String()
	if line := n.Problems[slices.IndexFunc(n.Problems, parse.IsConflict)].Line; line > 0 {
		where += fmt.Sprintf(":%d", line)
	}
	return fault.Unknown{What: n.ID, Why: "the spec has a merge conflict: " + where, Command: parse.HowToResolve(n.Path)}
}

func passed(notice string) *GateResult {
	return &GateResult{Blocked: []BlockedNode{}, Notice: notice, Unknown: []fault.Unknown{}}
}

// gateUnknown returns the verdict if git could not be read. It returns an error only if the context is done.
func gateUnknown(ctx context.Context, fact string, err error) (*GateResult, error) {
	if ctx.Err() != nil {
		return nil, err
	}
	g := passed("")
	g.Unknown = append(g.Unknown, fault.NewUnknown(fact, err))
	return g, nil
}

// A gateCase is a node and the changed files that it governs.
type gateCase struct {
	node  *parse.Node
	paths []repo.Path
}

// stagedCases returns the nodes that govern, or may govern, some of the paths, and whose own spec is not among the
// paths. moved has by node the paths that its code was moved to.
func stagedCases(nodes []*parse.Node, paths []repo.Path, moved map[*parse.Node][]repo.Path) []gateCase {
	governed := make([][]repo.Path, len(nodes))
	specs := make(map[repo.Path]bool)
	owners := parse.NewEntryIndex(nodes, parse.CodeOf)
	for _, p := range paths {
		specs[p] = true
		for _, h := range owners.Claims(p) {
			governed[h.Node] = append(governed[h.Node], p)
		}
	}
	var cases []gateCase
	for i, n := range nodes {
		for _, p := range moved[n] {
			if slices.Contains(paths, p) {
				governed[i] = append(governed[i], p)
			}
		}
		if (len(governed[i]) > 0 || n.CodeUnknown != "") && !specs[n.Path] {
			cases = append(cases, gateCase{n, governed[i]})
		}
	}
	return cases
}

// A nodeDrift is the drift of a node; drift is nil if it is unknown. format is the number of its commits that changed
// only comments or layout.
type nodeDrift struct {
	drift   *int
	format  int
	unknown []fault.Unknown
}

// driftsOf returns the drift of the nodes of some cases at a commit.
func (r *Reader) driftsOf(ctx context.Context, commit repo.ID, nodes []*parse.Node, cases []gateCase) ([]nodeDrift, error) {
	if len(cases) == 0 {
		return nil, nil
	}
	some := make([]*parse.Node, len(cases))
	for i, c := range cases {
		some[i] = c.node
	}
	facts, err := r.factsWith(ctx, some, nodes, r.deriveOptions(commit))
	if err != nil {
		return nil, err
	}
	list := make([]nodeDrift, len(facts))
	for i := range facts {
		list[i] = driftOf(&facts[i])
	}
	return list, nil
}

// driftOf returns the drift in the facts about a node, which were derived with Options.Commits.
func driftOf(f *derive.Facts) nodeDrift {
	return nodeDrift{drift: f.Drift, format: f.FormatCommits(), unknown: f.Unknown}
}

// movedCode returns the paths that the code of each node was moved to. They are governed until the spec is edited.
func (r *Reader) movedCode(ctx context.Context, commit repo.ID, nodes []*parse.Node) (map[*parse.Node][]repo.Path, error) {
	if len(nodes) == 0 {
		return nil, nil
	}
	facts, err := r.factsWith(ctx, nodes, nodes, derive.Options{Head: commit})
	if err != nil {
		return nil, err
	}
	moved := make(map[*parse.Node][]repo.Path)
	for _, f := range facts {
		for _, m := range f.Moved {
			moved[f.Node] = append(moved[f.Node], m.To)
		}
	}
	return moved, nil
}

// drifts returns the drifts in a cached listing. ok is false if the listing does not say enough: it does not have all of
// the nodes, or code was moved.
func (cl *cachedListing) drifts(cases []gateCase) ([]nodeDrift, bool) {
	l := cl.listing()
	if l == nil {
		return nil, false
	}
	isMoved := func(p parse.Problem) bool { return p.Rule == derive.RuleMoved }
	if slices.ContainsFunc(l.Nodes, func(n ListedSpec) bool { return slices.ContainsFunc(n.Problems, isMoved) }) {
		return nil, false
	}
	known := make(map[string]*ListedSpec, len(l.Nodes))
	for i := range l.Nodes {
		if n := &l.Nodes[i]; !n.Ghost {
			known[n.Path] = n
		}
	}
	list := make([]nodeDrift, len(cases))
	for i, c := range cases {
		n := known[c.node.Path.JSON().Path]
		if n == nil {
			return nil, false
		}
		list[i] = nodeDrift{drift: n.Drift, format: n.Format, unknown: n.Unknown}
	}
	return list, true
}

// judge returns the verdict on some cases. undecided are nodes that are known to be unjudged.
func judge(cases []gateCase, drifts []nodeDrift, threshold int, undecided ...fault.Unknown) *GateResult {
	g := passed("")
	g.Unknown = append(g.Unknown, undecided...)
	for i, c := range cases {
		switch d := drifts[i]; {
		case parse.HasConflict(c.node.Problems):
			g.Unknown = append(g.Unknown, conflictedNode(c.node))
		case d.drift == nil:
			g.Unknown = append(g.Unknown, fault.Unknown{What: c.node.ID, Why: d.reason()})
		case *d.drift-d.format >= threshold:
			b := BlockedNode{Node: c.node.ID, Spec: c.node.Path.String(), Drift: *d.drift, Format: d.format, Paths: names(c.paths)}
			g.Blocked = append(g.Blocked, b)
		}
	}
	slices.SortFunc(g.Blocked, func(a, b BlockedNode) int { return strings.Compare(a.Node, b.Node) })
	slices.SortFunc(g.Unknown, func(a, b fault.Unknown) int { return strings.Compare(a.What, b.What) })
	return g
}

func names(paths []repo.Path) []string {
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = p.String()
	}
	return list
}

// reason returns why a drift is unknown.
func (d nodeDrift) reason() string {
	for _, u := range d.unknown {
		if u.What == derive.FactDrift {
			return u.Why
		}
	}
	return fmt.Sprintf("its %s is unknown", derive.FactDrift)
}
