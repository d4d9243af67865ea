package spec

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"ken/internal/repo"
)

// A WorktreeChanges is what one worktree proposes to main, and whom it meets there.
type WorktreeChanges struct {
	Worktree   string        `json:"worktree"`
	Branch     *string       `json:"branch"`  // null when detached
	Session    string        `json:"session"` // who works there
	Ops        []OpJSON      `json:"ops"`
	Code       []TouchedJSON `json:"code"` // the nodes whose code it changed
	Collisions []CollideJSON `json:"collisions"`
	Unknown    []Unknown     `json:"unknown"` // what could not be learnt of it
	Works      bool          `json:"-"`       // it changed something else than specs, as far as anybody looked
}

// An OpJSON is an op as documents show it.
type OpJSON struct {
	Node string `json:"node"`
	repo.PathJSON
	Op        OpKind  `json:"op"`
	Committed bool    `json:"committed"`
	Dirty     bool    `json:"dirty"`
	From      *string `json:"from"` // of a move
	To        *string `json:"to"`
}

// A TouchedJSON is a node whose code a worktree changed, committed or not.
type TouchedJSON struct {
	Node  string   `json:"node"`
	Paths []string `json:"paths"` // of the code, sorted
}

// A CollideJSON is a collision as documents show it.
type CollideJSON struct {
	Node  string        `json:"node"`
	Kind  CollisionKind `json:"kind"`
	With  []string      `json:"with"`
	Paths []string      `json:"paths"`
}

// Overlays says what every worktree proposes, the main checkout first, the others by name.
// Those that propose nothing are there too.
func (r *Reader) Overlays(ctx context.Context) ([]WorktreeChanges, error) {
	o, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	if len(o.unknown) > 0 {
		return nil, errors.New(o.unknown[0].Reason)
	}
	h, err := r.past.History(ctx, o.heads())
	if err != nil {
		return nil, err
	}
	files, _, err := r.src.Specs(ctx)
	if err != nil {
		return nil, err
	}
	p, err := r.propose(ctx, o, h, files)
	if err != nil {
		return nil, err
	}
	if err := r.change(ctx, p); err != nil {
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
	collisions, code := Collisions(nodes, made), newEntryIndex(nodes, codeOf)
	list := make([]WorktreeChanges, 0, len(o.trees))
	for i := range o.trees {
		w := p.overlaid(&o.trees[i], collisions)
		if at := p.of(&o.trees[i]); at >= 0 {
			w.Code = touched(made[at].stakes(nodes, code))
		}
		list = append(list, w)
	}
	return list, nil
}

// touched lists the nodes of which code is at stake.
func touched(stakes map[string]*nodeChange) []TouchedJSON {
	list := []TouchedJSON{}
	for _, id := range slices.Sorted(maps.Keys(stakes)) {
		if code := stakes[id].code; len(code) > 0 {
			t := TouchedJSON{Node: id}
			for _, path := range code {
				t.Paths = append(t.Paths, path.String())
			}
			list = append(list, t)
		}
	}
	return list
}

// of returns which of the proposals is a worktree's, -1 for none.
func (p *proposals) of(w *Worktree) int {
	return slices.IndexFunc(p.made, func(c *proposal) bool { return c.tree == w })
}

// change finds out what else the checkouts changed, on which they may meet. Where there
// is one alone, and no spec, it is nobody's code.
func (r *Reader) change(ctx context.Context, p *proposals) error {
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
			all, err := c.tree.Work.Changed(ctx, c.forkID)
			c.Changed = slices.DeleteFunc(all, IsSpec)
			c.err = err
			return ctx.Err()
		})
	}
	return g.Wait()
}

// nodesOf returns the nodes of main, and those that are proposed beside them.
func (r *Reader) nodesOf(ctx context.Context, p *proposals, own []repo.LoadedFile) ([]*Node, error) {
	here := make(map[repo.ID][]byte)
	for _, f := range own {
		if f.ID.IsZero() {
			here[r.past.Blob(f.Content)] = f.Content
		}
	}
	var files []repo.LoadedFile
	var missing []repo.ID
	for _, path := range paths(p.main) {
		id := p.main[path]
		if _, ok := here[id]; !ok {
			missing = append(missing, id)
		}
	}
	read, err := r.past.Blobs(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i, id := range missing {
		here[id] = read[i]
	}
	for _, path := range paths(p.main) {
		files = append(files, repo.LoadedFile{Path: path, Content: here[p.main[path]]})
	}
	for _, c := range p.made {
		for _, op := range c.Ops {
			if op.Op == OpAdded {
				files = append(files, c.file(op.Path))
			}
		}
	}
	nodes := Load(files)
	id := p.names()
	for _, n := range nodes {
		n.ID = id(n.Path)
	}
	return nodes, nil
}

// file returns a spec file of the checkout.
func (c *proposal) file(path repo.Path) repo.LoadedFile {
	i := slices.IndexFunc(c.files, func(f repo.LoadedFile) bool { return f.Path == path })
	if i < 0 {
		return repo.LoadedFile{Path: path}
	}
	return c.files[i]
}

func (p *proposals) overlaid(w *Worktree, collisions [][]Collision) WorktreeChanges {
	out := WorktreeChanges{Worktree: w.Name, Ops: []OpJSON{}, Code: []TouchedJSON{}, Collisions: []CollideJSON{}, Unknown: []Unknown{}}
	like := newProposal(w)
	if like.Branch != "" {
		out.Branch = &like.Branch
	}
	out.Session = cmp.Or(like.Branch, w.Name)
	for _, u := range p.unknown {
		if u.worktree == w.Name {
			out.Unknown = append(out.Unknown, u.Unknown)
		}
	}
	i := p.of(w)
	if i < 0 {
		return out
	}
	c := p.made[i]
	out.Session = c.Session
	if c.err != nil {
		out.Unknown = append(out.Unknown, Unknown{factCollisions, c.err.Error()})
	}
	for _, u := range p.unknown {
		out.Unknown = append(out.Unknown, Unknown{factCollisions, u.worktree + ": " + u.Reason})
	}
	for _, other := range p.made {
		if other != c && other.err != nil {
			out.Unknown = append(out.Unknown, Unknown{factCollisions, other.Worktree + ": " + other.err.Error()})
		}
	}
	out.Works = len(c.Changed) > 0
	for _, op := range c.Ops {
		out.Ops = append(out.Ops, OpJSON{op.Node, op.Path.JSON(), op.Op, op.Committed, op.Dirty, pathText(op.From), pathText(op.To)})
	}
	for _, m := range collisions[i] {
		j := CollideJSON{m.Node, m.Kind, m.With, []string{}}
		for _, path := range m.Paths {
			j.Paths = append(j.Paths, path.String())
		}
		out.Collisions = append(out.Collisions, j)
	}
	return out
}

// factCollisions is where a worktree meets others, which may be unknown.
const factCollisions = "collisions"

// pathText returns a path for a document, nil for none.
func pathText(p repo.Path) *string {
	if p == "" {
		return nil
	}
	return new(p.String())
}

// lay puts proposals over a listing whose nodes are those of facts, in their order.
func (l *Listing) lay(p *proposals, facts []Facts) {
	for _, u := range p.unknown {
		l.Unknown = append(l.Unknown, Unknown{u.Fact, u.worktree + ": " + u.Reason})
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
				l.Nodes = append(l.Nodes, Listed{Overlays: []Proposed{}})
			default:
				continue // of a node that this checkout does not have
			}
			l.Nodes[i].Overlays = append(l.Nodes[i].Overlays, Proposed{
				c.Worktree, c.Session, op.Op, op.Committed, op.Dirty, pathText(op.From), pathText(op.To),
			})
			if i < len(facts) {
				l.Nodes[i].Status = facts[i].StatusUnder(true)
			}
		}
	}
	l.embody(ghosts, facts, at)
}

// embody describes the nodes that only others have, by the files of those. They
// have no history here.
func (l *Listing) embody(ghosts map[repo.Path]*proposal, facts []Facts, at map[repo.Path]int) {
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
	ids := named(own, more)
	byDir := make(map[repo.Path]string)
	for path, id := range ids {
		byDir[path.Dir()] = id
	}
	for _, path := range more {
		n := readNode(ghosts[path].file(path))
		n.ID = ids[path]
		for dir := n.Dir().Dir(); dir != "" && n.Parent == ""; dir = dir.Dir() {
			n.Parent = byDir[dir]
		}
		f := Facts{Node: n, Version: new(0), Drift: new(0), Touched: new(0)}
		seen := f.listed(new(false))
		seen.Status, seen.Ghost, seen.Overlays = StatusActive, true, l.Nodes[at[path]].Overlays
		l.Nodes[at[path]] = seen
	}
	slices.SortStableFunc(l.Nodes, func(a, b Listed) int { return cmp.Compare(a.Path, b.Path) })
}
