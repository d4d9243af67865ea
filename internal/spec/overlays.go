package spec

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// A WorktreeChanges is the list of changes that one worktree proposes to main, with its collisions.
type WorktreeChanges struct {
	Worktree    string            `json:"worktree"`
	Branch      *string           `json:"branch"`  // null when detached
	Session     string            `json:"session"` // the session that works there
	Ops         []OpJSON          `json:"ops"`
	Code        []ChangedCodeJSON `json:"code"` // the nodes whose code it changed
	Collisions  []CollisionJSON   `json:"collisions"`
	Unknown     []fault.Unknown   `json:"unknown"` // facts about it that could not be read
	ChangesCode bool              `json:"-"`       // it changed files other than specs; false if nothing was compared
}

// An OpJSON is an Op in JSON documents.
type OpJSON struct {
	Node string `json:"node"`
	repo.PathJSON
	Op        OpKind  `json:"op"`
	Committed bool    `json:"committed"`
	Dirty     bool    `json:"dirty"`
	From      *string `json:"from"` // set for a move
	To        *string `json:"to"`
}

// A ChangedCodeJSON is a node whose code a worktree changed, committed or not.
type ChangedCodeJSON struct {
	Node  string   `json:"node"`
	Paths []string `json:"paths"` // the changed code, sorted
}

// A CollisionJSON is a Collision in JSON documents.
type CollisionJSON struct {
	Node  string        `json:"node"`
	Kind  CollisionKind `json:"kind"`
	With  []string      `json:"with"`
	Paths []string      `json:"paths"`
}

// Overlays returns the changes that every worktree proposes: the main checkout first, the others by name. It
// includes worktrees without changes.
func (r *Reader) Overlays(ctx context.Context) ([]WorktreeChanges, error) {
	o, err := r.readState(ctx)
	if err != nil {
		return nil, err
	}
	if len(o.unknown) > 0 {
		return nil, errors.New(o.unknown[0].Why)
	}
	h, err := r.readHistory(ctx, o.heads())
	if err != nil {
		return nil, err
	}
	files, _, err := r.specs(ctx)
	if err != nil {
		return nil, err
	}
	p, err := r.propose(ctx, o, h, files)
	if err != nil {
		return nil, err
	}
	if err := r.readChanges(ctx, p); err != nil {
		return nil, err
	}
	nodes, err := r.nodesOf(ctx, p, files)
	if err != nil {
		return nil, err
	}
	made := make([]Proposal, len(p.made))
	for i, c := range p.made {
		made[i] = Proposal{&c.Checkout, c.Ops}
	}
	collisions, code := Collisions(nodes, made), parse.NewEntryIndex(nodes, parse.CodeOf)
	list := make([]WorktreeChanges, 0, len(o.trees))
	for i := range o.trees {
		w := p.worktreeChanges(&o.trees[i], collisions)
		if at := p.indexOf(&o.trees[i]); at >= 0 {
			w.Code = touched(made[at].changes(nodes, code))
		}
		list = append(list, w)
	}
	return list, nil
}

// touched lists the nodes whose code a proposal changes.
func touched(changes map[string]*nodeChange) []ChangedCodeJSON {
	list := []ChangedCodeJSON{}
	for _, id := range slices.Sorted(maps.Keys(changes)) {
		if code := changes[id].code; len(code) > 0 {
			t := ChangedCodeJSON{Node: id}
			for _, path := range code {
				t.Paths = append(t.Paths, path.String())
			}
			list = append(list, t)
		}
	}
	return list
}

// indexOf returns the index of a worktree's proposal, -1 without one.
func (p *proposals) indexOf(w *worktree) int {
	return slices.IndexFunc(p.made, func(c *proposal) bool { return c.tree == w })
}

// readChanges finds the other files that the checkouts changed, which may collide. It does nothing if there is a
// single checkout and no spec, because no spec governs its files then.
func (r *Reader) readChanges(ctx context.Context, p *proposals) error {
	if len(p.made) < 2 && len(p.main) == 0 && !slices.ContainsFunc(p.made, func(c *proposal) bool { return len(c.Ops) > 0 }) {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxReading)
	for _, c := range p.made {
		if !c.Forked {
			continue
		}
		g.Go(func() error {
			all, err := r.changed(ctx, c.tree, c.forkID)
			c.Changed = slices.DeleteFunc(all, parse.IsSpec)
			c.err = err
			return ctx.Err()
		})
	}
	return g.Wait()
}

// nodesOf returns the nodes of main and the proposed new nodes.
func (r *Reader) nodesOf(ctx context.Context, p *proposals, own []repo.LoadedFile) ([]*parse.Node, error) {
	here := make(map[repo.ID][]byte)
	for _, f := range own {
		if f.ID.IsZero() {
			here[r.ws.Git.ObjectFormat().Blob(f.Content)] = f.Content
		}
	}
	var files []repo.LoadedFile
	var missing []repo.Path
	var ids []repo.ID
	for _, path := range paths(p.main) {
		id := p.main[path]
		if content, ok := here[id]; ok {
			files = append(files, repo.LoadedFile{Path: path, Content: content})
			continue
		}
		missing = append(missing, path)
		ids = append(ids, id)
	}
	read, err := loadSpecs(ctx, r.ws.Git, missing, ids)
	if err != nil {
		return nil, err
	}
	files = append(files, read...)
	for _, c := range p.made {
		for _, op := range c.Ops {
			if op.Op == OpAdded {
				files = append(files, c.file(op.Path))
			}
		}
	}
	nodes := parse.Load(files)
	id := p.idFunc()
	for _, n := range nodes {
		n.ID = id(n.Path)
	}
	return nodes, nil
}

// file returns a spec file of the checkout.
func (p *proposal) file(path repo.Path) repo.LoadedFile {
	i := slices.IndexFunc(p.files, func(f repo.LoadedFile) bool { return f.Path == path })
	if i < 0 {
		return repo.LoadedFile{Path: path}
	}
	return p.files[i]
}

func (p *proposals) worktreeChanges(w *worktree, collisions [][]Collision) WorktreeChanges {
	out := WorktreeChanges{Worktree: w.Name, Ops: []OpJSON{}, Code: []ChangedCodeJSON{}, Collisions: []CollisionJSON{}, Unknown: []fault.Unknown{}}
	like := newProposal(w)
	if like.Branch != "" {
		out.Branch = &like.Branch
	}
	out.Session = cmp.Or(like.Branch, w.Name)
	for _, u := range p.unknown {
		if u.name == w.Name {
			out.Unknown = append(out.Unknown, fault.NewUnknown(derive.FactOverlay, u.err))
		}
	}
	i := p.indexOf(w)
	if i < 0 {
		return out
	}
	c := p.made[i]
	out.Session = c.Session
	if c.err != nil {
		out.Unknown = append(out.Unknown, fault.NewUnknown(factCollisions, c.err))
	}
	for _, u := range p.unknown {
		out.Unknown = append(out.Unknown, u.unknown(factCollisions))
	}
	for _, other := range p.made {
		if other != c && other.err != nil {
			out.Unknown = append(out.Unknown, fault.Unknown{What: factCollisions, Why: other.Worktree + ": " + other.err.Error()})
		}
	}
	out.ChangesCode = len(c.Changed) > 0
	for _, op := range c.Ops {
		out.Ops = append(out.Ops, OpJSON{op.Node, op.Path.JSON(), op.Op, op.Committed, op.Dirty, pathText(op.From), pathText(op.To)})
	}
	for _, m := range collisions[i] {
		j := CollisionJSON{m.Node, m.Kind, m.With, []string{}}
		for _, path := range m.Paths {
			j.Paths = append(j.Paths, path.String())
		}
		out.Collisions = append(out.Collisions, j)
	}
	return out
}

// factCollisions names the collisions of a worktree as a fact that may be unknown.
const factCollisions = "collisions"

// pathText returns a path for a JSON document, nil for "".
func pathText(p repo.Path) *string {
	if p == "" {
		return nil
	}
	return new(p.String())
}

// addProposals adds proposals to a listing. The nodes of the listing are those of facts, in the same order.
func (l *Listing) addProposals(p *proposals, facts []derive.Facts) {
	for _, u := range p.unknown {
		l.Unknown = append(l.Unknown, u.unknown(derive.FactOverlay))
	}
	at := make(map[repo.Path]int, len(facts))
	for i := range facts {
		at[facts[i].Node.Path] = i
	}
	ghosts := make(map[repo.Path]*proposal)
	for _, c := range p.made {
		for _, op := range c.Ops {
			i, ok := -1, false
			for _, path := range []repo.Path{op.Path, op.Main, op.From} {
				if i, ok = at[path]; ok {
					break
				}
			}
			switch {
			case ok:
			case op.Op == OpAdded:
				i = len(l.Nodes)
				at[op.Path] = i
				ghosts[op.Path] = c
				l.Nodes = append(l.Nodes, ListedSpec{Overlays: []ProposedChange{}})
			default:
				continue // this checkout does not have the node
			}
			l.Nodes[i].Overlays = append(l.Nodes[i].Overlays, ProposedChange{
				c.Worktree, c.Session, op.Op, op.Committed, op.Dirty, pathText(op.From), pathText(op.To),
			})
			if i < len(facts) {
				l.Nodes[i].Status = facts[i].StatusWithProposal(true)
			}
		}
	}
	l.describeGhosts(ghosts, facts, at)
}

// describeGhosts fills in the nodes that exist only in other worktrees, from the spec files there. They have no
// history in this checkout.
func (l *Listing) describeGhosts(ghosts map[repo.Path]*proposal, facts []derive.Facts, at map[repo.Path]int) {
	if len(ghosts) == 0 {
		return
	}
	var own, more []repo.Path
	for i := range facts {
		own = append(own, facts[i].Node.Path)
	}
	for path := range ghosts {
		more = append(more, path)
	}
	ids := idsOf(own, more)
	byDir := make(map[repo.Path]string)
	for path, id := range ids {
		byDir[path.Dir()] = id
	}
	for _, path := range more {
		n := parse.ReadNode(ghosts[path].file(path))
		n.ID = ids[path]
		for dir := n.Dir().Dir(); dir != "" && n.Parent == ""; dir = dir.Dir() {
			n.Parent = byDir[dir]
		}
		f := derive.Facts{Node: n, Version: new(0), Drift: new(0), Touched: new(0)}
		seen := listedOf(&f, new(false))
		seen.Status, seen.Ghost, seen.Overlays = derive.StatusActive, true, l.Nodes[at[path]].Overlays
		l.Nodes[at[path]] = seen
	}
	slices.SortStableFunc(l.Nodes, func(a, b ListedSpec) int { return cmp.Compare(a.Path, b.Path) })
}
