package spec

import (
	"context"
	"errors"
	"slices"

	"ken/internal/repo"
)

// listingInputs are what a listing stands on and does not show. With it, a listing can be
// renewed: when HEAD has moved on, only the nodes are judged again that the new
// commits may have to do with.
type listingInputs struct {
	Nodes     []groundNode // those of this checkout, by path
	Committed int          // how many specs HEAD has
	// Watched are the paths on which it depends where lost code went. There are
	// too many to keep when All is set.
	Watched []repo.Path
	All     bool
}

// A groundNode is a node as its file has it.
type groundNode struct {
	ID, Parent    string
	Path          repo.Path
	Title, Desc   string
	Declared      string
	Session       string
	Code, Related []Entry
	Problems      []Problem
	Sum           repo.ID // of the file's content
	Follows       bool
	Blind         string
}

// maxWatched is how many paths are kept to be watched.
const maxWatched = 10_000

// A tree is the specs of a checkout: as they were read, or as they are known to be
// still.
type tree struct {
	nodes []*Node
	look  repo.StatDigest
	sums  []repo.ID         // by node
	files []repo.LoadedFile // those that the nodes are made of, once they are read
	read  bool              // they are

	// What is kept of last time, nil for nothing; of the same nodes, in the same
	// order.
	kept  *Listing
	was   *listingInputs
	shown []*Listed // of those nodes, without what worktrees propose
	same  bool      // the files were not touched

	facts     []Facts // as far as they matter to what follows
	valid     []bool  // what is shown of the node holds still
	specMove  bool    // a spec file changed in git
	committed int     // how many specs HEAD has
	watched   map[repo.Path]bool
	doubt     error // why more may be said another time
}

// readTree reads the specs, unless nobody has touched them since k was made.
func (r *Reader) readTree(ctx context.Context, o *repoState, k *keptListing, same bool) (*tree, error) {
	t := &tree{}
	if k != nil && len(o.unknown) == 0 && k.View == o.view {
		if t.kept = k.listing(); t.kept != nil {
			t.was = k.ground()
		}
	}
	if t.same = same && t.was != nil; t.same {
		t.look = k.Looks[hereLook]
		for i := range t.was.Nodes {
			t.nodes = append(t.nodes, t.was.Nodes[i].node())
			t.sums = append(t.sums, t.was.Nodes[i].Sum)
		}
	} else if err := r.makeNodes(ctx, t); err != nil {
		return nil, err
	}
	t.match()
	return t, nil
}

// errSpecsMoved says that the files are no longer those that the nodes of a tree are
// made of.
var errSpecsMoved = errors.New("the specs changed while being read")

// readFiles reads the files of a tree, unless that was done: all of an answer comes from
// one look at them. Where the nodes are those of last time, the files have to be those,
// too, or it is errSpecsMoved.
func (r *Reader) readFiles(ctx context.Context, t *tree) error {
	if t.read {
		return nil
	}
	files, look, err := r.src.Specs(ctx)
	if err != nil {
		return err
	}
	if t.same && !look.Equal(t.look) {
		return errSpecsMoved
	}
	t.files, t.look, t.read = files, look, true
	return nil
}

// makeNodes makes the nodes of a tree of its files.
func (r *Reader) makeNodes(ctx context.Context, t *tree) error {
	if err := r.readFiles(ctx, t); err != nil {
		return err
	}
	var err error
	if t.nodes, err = loadNodes(ctx, t.files); err != nil {
		return err
	}
	sums := r.sums(t.files)
	for _, n := range t.nodes {
		t.sums = append(t.sums, sums[n.Path])
	}
	return nil
}

// match finds what was shown of the nodes, if they are still those.
func (t *tree) match() {
	t.facts, t.valid = make([]Facts, len(t.nodes)), make([]bool, len(t.nodes))
	if t.was == nil {
		return
	}
	byPath := make(map[string]*Listed)
	for i := range t.kept.Nodes {
		if l := &t.kept.Nodes[i]; !l.Ghost {
			byPath[string(l.raw())] = l
		}
	}
	if len(t.was.Nodes) != len(t.nodes) {
		t.was = nil
		return
	}
	for i, n := range t.nodes {
		l := byPath[string(n.Path)]
		if l == nil || t.was.Nodes[i].Path != n.Path || l.ID != n.ID {
			t.was, t.shown = nil, nil
			return
		}
		t.shown = append(t.shown, l)
	}
}

// raw returns the path of the node's file.
func (l *Listed) raw() repo.Path {
	p, err := l.Raw()
	if err != nil {
		return ""
	}
	return p
}

// node returns the node, as far as a listing needs it.
func (g *groundNode) node() *Node {
	return &Node{
		ID: g.ID, Parent: g.Parent, Path: g.Path, Title: g.Title, Desc: g.Desc, Declared: g.Declared,
		Session: g.Session, Code: g.Code, Related: g.Related, Problems: g.Problems, Blind: g.Blind,
	}
}

// groundOf keeps of a node what a listing needs, and what its file holds.
func groundOf(n *Node, sum repo.ID) groundNode {
	return groundNode{
		ID: n.ID, Parent: n.Parent, Path: n.Path, Title: n.Title, Desc: n.Desc, Declared: n.Declared,
		Session: n.Session, Code: n.Code, Related: n.Related, Problems: n.Problems, Blind: n.Blind, Sum: sum,
	}
}

// ground returns what the tree's listing stands on.
func (t *tree) ground() *listingInputs {
	g := &listingInputs{Committed: t.committed}
	for i, n := range t.nodes {
		node := groundOf(n, t.sums[i])
		node.Follows = t.facts[i].follows
		if t.valid[i] {
			node.Follows = t.was.Nodes[i].Follows
		}
		g.Nodes = append(g.Nodes, node)
	}
	if slices.Contains(t.valid, true) {
		g.All = t.was.All
		for _, p := range t.was.Watched {
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

// renew judges the nodes of a tree, as far as that has to be done again; without a
// history nothing is known of any of them.
func (r *Reader) renew(ctx context.Context, t *tree, head repo.ID, h History, why error) ([]Facts, error) {
	t.watched = make(map[repo.Path]bool)
	if why != nil {
		t.was = nil
		t.facts = Unread(t.nodes, why.Error())
		return t.facts, nil
	}
	if t.was != nil {
		if err := r.validate(ctx, t, head, h); err != nil {
			return nil, err
		}
	}
	var some []*Node
	for i, n := range t.nodes {
		if !t.valid[i] {
			some = append(some, n)
		}
	}
	var found derived
	if len(some) > 0 || len(t.nodes) == 0 {
		contents := r.past.Contents()
		if p, ok := contents.(Preparer); ok && t.was != nil {
			defer p.Prepare(ctx)() // nodes that commits have to do with will be asked about
		}
		var err error
		if found, err = deriveSome(ctx, some, t.nodes, r.standAt(head), h, contents); err != nil {
			return nil, err
		}
		t.doubt = found.doubt
		if found.watched != nil {
			t.watched = found.watched
		}
	}
	for i, n := range t.nodes {
		if t.valid[i] {
			l := t.shown[i]
			t.facts[i] = Facts{Node: n, Version: l.Version, Drift: l.Drift, Touched: l.Touched}
			t.facts[i].Status = t.facts[i].StatusUnder(false)
			continue
		}
		t.facts[i], found.facts = found.facts[0], found.facts[1:]
	}
	return t.facts, nil
}

// validate finds the nodes of which what was shown still holds.
func (r *Reader) validate(ctx context.Context, t *tree, head repo.ID, h History) error {
	w, err := r.newsSince(ctx, h, t.kept.Head, head)
	if err != nil || w == nil {
		return err
	}
	touched, ok := t.touchedBy(ctx, w, h)
	if !ok {
		return ctx.Err()
	}
	for i := range t.nodes {
		t.valid[i] = !touched[i] && t.sums[i] == t.was.Nodes[i].Sum
	}
	t.specMove = w.specs
	return nil
}

// touchedBy says which nodes news may have to do with; ok is false when it may be any,
// and when the context is done.
func (t *tree) touchedBy(ctx context.Context, w *news, h History) (touched []bool, ok bool) {
	touched = make([]bool, len(t.nodes))
	at := make(map[repo.Path]int, len(t.nodes))
	for i, n := range t.nodes {
		at[n.Path] = i
	}
	// A spec that was moved is known by names that others may have now.
	moved := make(map[repo.Path]bool)
	if w.specs || len(w.acked) > 0 {
		for _, m := range h.Moves() {
			moved[m.From], moved[m.To] = true, true
		}
	}
	var names *register
	for _, id := range w.acked {
		if names == nil {
			names = newRegister(h.Below(Root))
		}
		for _, p := range names.rivals(id) {
			i, here := at[p]
			if moved[p] {
				return nil, false
			}
			if here {
				touched[i] = true
			}
		}
	}
	owners := newEntryIndex(t.nodes, codeOf)
	watched := make(map[repo.Path]bool, len(t.was.Watched))
	for _, p := range t.was.Watched {
		watched[p] = true
	}
	followed := false
	var limit matchLimit
	for p := range w.changed {
		if ctx.Err() != nil || !limit.allow(owners.cost(p)) {
			return nil, false
		}
		if IsSpec(p) {
			i, here := at[p]
			if !here || moved[p] {
				return nil, false
			}
			touched[i] = true
		}
		for s := range owners.matching(p) {
			for _, h := range s.held {
				touched[h.node] = true
			}
		}
		followed = followed || t.was.All || watched[p]
	}
	for i := range t.nodes {
		touched[i] = touched[i] || followed && t.was.Nodes[i].Follows
	}
	return touched, true
}

// describe puts the nodes into a listing.
func (r *Reader) describe(ctx context.Context, t *tree, o *repoState, l *Listing) error {
	var dirty map[repo.Path]bool
	kept := t.same && !t.specMove && slices.Contains(t.valid, true)
	if !kept {
		if err := r.readFiles(ctx, t); err != nil {
			return err
		}
		dirty, t.committed = r.dirty(ctx, t.files, o, l)
	} else {
		t.committed = t.was.Committed
	}
	for i := range t.nodes {
		var is *bool
		if kept {
			is = t.shown[i].Dirty
		} else if dirty != nil {
			is = new(dirty[t.nodes[i].Path])
		}
		if !t.valid[i] {
			l.Nodes = append(l.Nodes, t.facts[i].listed(is))
			continue
		}
		shown := *t.shown[i]
		shown.Status, shown.Dirty, shown.Overlays = t.facts[i].Status, is, []Proposed{}
		l.Nodes = append(l.Nodes, shown)
	}
	return nil
}

// proposing returns the files of the checkout, if it is one that may propose them.
func (r *Reader) proposing(ctx context.Context, o *repoState, t *tree) ([]repo.LoadedFile, error) {
	if slices.ContainsFunc(o.trees, func(w Worktree) bool { return w.Here && !w.on(o.main.Name) }) {
		if err := r.readFiles(ctx, t); err != nil {
			return nil, err
		}
	}
	return t.files, nil
}
