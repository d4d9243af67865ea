package spec

import (
	"context"
	"errors"
	"slices"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// listingInputs are the inputs of a cached listing that the listing itself does not show. When HEAD has moved,
// renew uses them to compute facts again only for the nodes that the new commits may affect.
type listingInputs struct {
	Nodes     []cachedNode // the nodes of this checkout, by path
	Committed int          // the number of specs in HEAD
	// Watched are the paths to which deleted code may have been moved. All is set instead if there are more than
	// maxWatched.
	Watched []repo.Path
	All     bool
}

// A cachedNode is a node as its spec file declares it, without the body.
type cachedNode struct {
	ID, Parent       string
	Path             repo.Path
	Title, Desc      string
	Declared         string
	Session          string
	Code, Related    []parse.Entry
	Problems         []parse.Problem
	Blob             repo.ID // the blob id of the file
	DependsOnWatched bool
	CodeUnknown      string
}

// maxWatched is the maximal length of listingInputs.Watched.
const maxWatched = 10_000

// A tree is the specs of a checkout, read from the files or taken from the cache.
type tree struct {
	nodes []*parse.Node
	stats repo.StatDigest
	blobs []repo.ID         // by node
	files []repo.LoadedFile // the spec files, if read is set
	read  bool              // files is set

	// The cached listing and its inputs, for the same nodes in the same order; nil without them.
	cached       *Listing
	cachedInputs *listingInputs
	shown        []*Listed // the cached rows of the nodes; proposals of worktrees are ignored
	same         bool      // the spec files are unchanged since the cached listing

	facts      []derive.Facts // by node
	valid      []bool         // by node: the cached row is still valid
	specMove   bool           // a spec file changed in git
	committed  int            // the number of specs in HEAD
	watched    map[repo.Path]bool
	outlineErr error // why code could not be graded; such a listing is not cached
}

// readTree returns the specs of the checkout. It takes them from the cached listing k if same says that their
// files are unchanged, and reads the files otherwise.
func (r *Reader) readTree(ctx context.Context, o *repoState, k *cachedListing, same bool) (*tree, error) {
	t := &tree{}
	if k != nil && len(o.unknown) == 0 && k.View == o.view {
		if t.cached = k.listing(); t.cached != nil {
			t.cachedInputs = k.inputs()
		}
	}
	if t.same = same && t.cachedInputs != nil; t.same {
		t.stats = k.Stats[ownCheckout]
		for i := range t.cachedInputs.Nodes {
			t.nodes = append(t.nodes, t.cachedInputs.Nodes[i].node())
			t.blobs = append(t.blobs, t.cachedInputs.Nodes[i].Blob)
		}
	} else if err := r.makeNodes(ctx, t); err != nil {
		return nil, err
	}
	t.match()
	return t, nil
}

// errSpecsMoved reports that spec files changed after the nodes of a tree were taken from the cache.
var errSpecsMoved = errors.New("the specs changed while being read")

// readFiles reads the spec files of a tree, once, so that one answer never mixes two versions of a file. If the
// nodes come from the cache and the files have changed since, it returns errSpecsMoved.
func (r *Reader) readFiles(ctx context.Context, t *tree) error {
	if t.read {
		return nil
	}
	files, stats, err := r.specs(ctx)
	if err != nil {
		return err
	}
	if t.same && !stats.Equal(t.stats) {
		return errSpecsMoved
	}
	t.files, t.stats, t.read = files, stats, true
	return nil
}

// makeNodes parses the spec files of a tree.
func (r *Reader) makeNodes(ctx context.Context, t *tree) error {
	if err := r.readFiles(ctx, t); err != nil {
		return err
	}
	var err error
	if t.nodes, err = parse.LoadContext(ctx, t.files); err != nil {
		return err
	}
	sums := r.blobIDs(t.files)
	for _, n := range t.nodes {
		t.blobs = append(t.blobs, sums[n.Path])
	}
	return nil
}

// match finds the cached row of each node. If the nodes are not those of the cached listing, it drops the cached
// inputs.
func (t *tree) match() {
	t.facts, t.valid = make([]derive.Facts, len(t.nodes)), make([]bool, len(t.nodes))
	if t.cachedInputs == nil {
		return
	}
	byPath := make(map[string]*Listed)
	for i := range t.cached.Nodes {
		if l := &t.cached.Nodes[i]; !l.Ghost {
			byPath[string(l.raw())] = l
		}
	}
	if len(t.cachedInputs.Nodes) != len(t.nodes) {
		t.cachedInputs = nil
		return
	}
	for i, n := range t.nodes {
		l := byPath[string(n.Path)]
		if l == nil || t.cachedInputs.Nodes[i].Path != n.Path || l.ID != n.ID {
			t.cachedInputs, t.shown = nil, nil
			return
		}
		t.shown = append(t.shown, l)
	}
}

// raw returns the path of the spec file.
func (l *Listed) raw() repo.Path {
	p, err := l.Raw()
	if err != nil {
		return ""
	}
	return p
}

// node returns the node with the fields that a listing needs.
func (g *cachedNode) node() *parse.Node {
	return &parse.Node{
		ID: g.ID, Parent: g.Parent, Path: g.Path, Title: g.Title, Desc: g.Desc, Declared: g.Declared,
		Session: g.Session, Code: g.Code, Related: g.Related, Problems: g.Problems, CodeUnknown: g.CodeUnknown,
	}
}

// newCachedNode returns the fields of a node that a listing needs, and the blob id of its file.
func newCachedNode(n *parse.Node, sum repo.ID) cachedNode {
	return cachedNode{
		ID: n.ID, Parent: n.Parent, Path: n.Path, Title: n.Title, Desc: n.Desc, Declared: n.Declared,
		Session: n.Session, Code: n.Code, Related: n.Related, Problems: n.Problems, CodeUnknown: n.CodeUnknown, Blob: sum,
	}
}

// newInputs returns the inputs to cache with the tree's listing.
func (t *tree) newInputs() *listingInputs {
	g := &listingInputs{Committed: t.committed}
	for i, n := range t.nodes {
		node := newCachedNode(n, t.blobs[i])
		node.DependsOnWatched = t.facts[i].DependsOnWatched
		if t.valid[i] {
			node.DependsOnWatched = t.cachedInputs.Nodes[i].DependsOnWatched
		}
		g.Nodes = append(g.Nodes, node)
	}
	if slices.Contains(t.valid, true) {
		g.All = t.cachedInputs.All
		for _, p := range t.cachedInputs.Watched {
			t.watched[p] = true
		}
	}
	if g.All = g.All || len(t.watched) > maxWatched; !g.All {
		for p := range t.watched {
			g.Watched = append(g.Watched, p)
		}
		slices.Sort(g.Watched)
	}
	return g
}

// renew returns the facts about the nodes of a tree. It derives only those that are not valid in the cache. If why
// says that there is no history, all facts are unknown.
func (r *Reader) renew(ctx context.Context, t *tree, head repo.ID, h derive.History, why error) ([]derive.Facts, error) {
	t.watched = make(map[repo.Path]bool)
	if why != nil {
		t.cachedInputs = nil
		t.facts = derive.AllUnknown(t.nodes, why.Error())
		return t.facts, nil
	}
	if t.cachedInputs != nil {
		if err := r.validate(ctx, t, head, h); err != nil {
			return nil, err
		}
	}
	var some []*parse.Node
	for i, n := range t.nodes {
		if !t.valid[i] {
			some = append(some, n)
		}
	}
	var found derive.Result
	if len(some) > 0 || len(t.nodes) == 0 {
		contents := r.ws.Git.Contents()
		if t.cachedInputs != nil {
			defer contents.Prepare(ctx)() // deriving these nodes needs blobs
		}
		var err error
		if found, err = derive.Subset(ctx, some, t.nodes, r.deriveOptions(head), h, contents); err != nil {
			return nil, err
		}
		t.outlineErr = found.OutlineErr
		if found.Watched != nil {
			t.watched = found.Watched
		}
	}
	for i, n := range t.nodes {
		if t.valid[i] {
			l := t.shown[i]
			t.facts[i] = derive.Facts{Node: n, Version: l.Version, Drift: l.Drift, Touched: l.Touched}
			t.facts[i].Status = t.facts[i].StatusWithProposal(false)
			continue
		}
		t.facts[i], found.Facts = found.Facts[0], found.Facts[1:]
	}
	return t.facts, nil
}

// validate finds the nodes whose cached row is still valid at head.
func (r *Reader) validate(ctx context.Context, t *tree, head repo.ID, h derive.History) error {
	w, err := r.newCommitsSince(ctx, h, t.cached.Head, head)
	if err != nil || w == nil {
		return err
	}
	touched, ok := t.touchedBy(ctx, w, h)
	if !ok {
		return ctx.Err()
	}
	for i := range t.nodes {
		t.valid[i] = !touched[i] && t.blobs[i] == t.cachedInputs.Nodes[i].Blob
	}
	t.specMove = w.specs
	return nil
}

// touchedBy reports which nodes the new commits may affect. ok is false if they may affect any node, and if the
// context is done.
func (t *tree) touchedBy(ctx context.Context, w *newCommits, h derive.History) (touched []bool, ok bool) {
	touched = make([]bool, len(t.nodes))
	at := make(map[repo.Path]int, len(t.nodes))
	for i, n := range t.nodes {
		at[n.Path] = i
	}
	// After a move, the old path of a spec may belong to another spec.
	moved := make(map[repo.Path]bool)
	if w.specs || len(w.acked) > 0 {
		for _, m := range h.Moves() {
			moved[m.From], moved[m.To] = true, true
		}
	}
	var names *derive.IDIndex
	for _, id := range w.acked {
		if names == nil {
			names = derive.NewIDIndex(h.Below(parse.Root))
		}
		for _, p := range names.CandidatePaths(id) {
			i, here := at[p]
			if moved[p] {
				return nil, false
			}
			if here {
				touched[i] = true
			}
		}
	}
	owners := parse.NewEntryIndex(t.nodes, parse.CodeOf)
	watched := make(map[repo.Path]bool, len(t.cachedInputs.Watched))
	for _, p := range t.cachedInputs.Watched {
		watched[p] = true
	}
	followed := false
	var limit parse.MatchLimit
	for p := range w.changed {
		if ctx.Err() != nil || !limit.Allow(owners.Cost(p)) {
			return nil, false
		}
		if parse.IsSpec(p) {
			i, here := at[p]
			if !here || moved[p] {
				return nil, false
			}
			touched[i] = true
		}
		for s := range owners.Matching(p) {
			for _, h := range s.Nodes {
				touched[h.Node] = true
			}
		}
		followed = followed || t.cachedInputs.All || watched[p]
	}
	for i := range t.nodes {
		touched[i] = touched[i] || followed && t.cachedInputs.Nodes[i].DependsOnWatched
	}
	return touched, true
}

// describe adds a row for each node to a listing.
func (r *Reader) describe(ctx context.Context, t *tree, o *repoState, l *Listing) error {
	var dirty map[repo.Path]bool
	reuse := t.same && !t.specMove && slices.Contains(t.valid, true)
	if !reuse {
		if err := r.readFiles(ctx, t); err != nil {
			return err
		}
		dirty, t.committed = r.dirty(ctx, t.files, o, l)
	} else {
		t.committed = t.cachedInputs.Committed
	}
	for i := range t.nodes {
		var is *bool
		if reuse {
			is = t.shown[i].Dirty
		} else if dirty != nil {
			is = new(dirty[t.nodes[i].Path])
		}
		if !t.valid[i] {
			l.Nodes = append(l.Nodes, listedOf(&t.facts[i], is))
			continue
		}
		shown := *t.shown[i]
		shown.Status, shown.Dirty, shown.Overlays = t.facts[i].Status, is, []ProposedChange{}
		l.Nodes = append(l.Nodes, shown)
	}
	return nil
}

// proposing returns the spec files of the checkout, if it is not on the main branch and so may propose changes.
func (r *Reader) proposing(ctx context.Context, o *repoState, t *tree) ([]repo.LoadedFile, error) {
	if slices.ContainsFunc(o.trees, func(w worktree) bool { return w.Here && !w.on(o.main.Name) }) {
		if err := r.readFiles(ctx, t); err != nil {
			return nil, err
		}
	}
	return t.files, nil
}
