package spec

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"ken/internal/repo"
)

// proposals are what the checkouts of a repository propose to main, in order.
// Those that cannot be read are in unknown.
type proposals struct {
	main    Set
	made    []*proposal
	unknown []unread
}

// An unread is what could not be learnt of a worktree.
type unread struct {
	worktree string
	Unknown
	away bool // the worktree cannot be looked into, and that is part of the outlook
}

// certain reports whether all was learnt that could be, as things stand.
func (p *proposals) certain() bool {
	return !slices.ContainsFunc(p.unknown, func(u unread) bool { return !u.away })
}

// A proposal is a checkout while it is read.
type proposal struct {
	Checkout
	Ops   []Op
	tree  *Worktree
	files []repo.LoadedFile
	look  repo.StatDigest
	err   error

	head   repo.ID
	fork   repo.CommitNumber
	forkID repo.ID
	own    []repo.CommitNumber // the commits that main does not reach, descending
	since  map[repo.Path][]repo.CommitNumber
	gone   map[repo.Path]bool      // main deleted it since the fork
	now    map[repo.Path]repo.Path // where main moved it since
}

// propose reads what each checkout proposes. Those on the main branch propose
// nothing: what is not committed there is dirty, and that is all. The files of the
// reader's own checkout are those that were read already.
func (r *Reader) propose(ctx context.Context, o *repoState, h History, own []repo.LoadedFile) (*proposals, error) {
	p := &proposals{}
	if o.main.Commit.IsZero() {
		return p, nil
	}
	for i := range o.trees {
		w := &o.trees[i]
		switch {
		case w.Err != nil:
			p.unknown = append(p.unknown, unread{w.Name, Unknown{FactOverlay, w.Err.Error()}, true})
		case !w.on(o.main.Name) && !w.Head.Commit.IsZero():
			p.made = append(p.made, newProposal(w))
		}
	}
	if len(p.made) == 0 {
		return p, nil
	}
	tip, ok := h.Find(o.main.Commit)
	if !ok {
		return nil, errors.New("the main branch is not in the history")
	}
	g := newGraph(h, tip)
	for _, c := range p.made {
		c.branchOff(g, h)
	}
	if err := r.readProposals(ctx, o, p, own); err != nil {
		return nil, err
	}
	return p, r.judge(ctx, p, g, h)
}

func newProposal(w *Worktree) *proposal {
	return &proposal{
		Checkout: Checkout{Worktree: w.Name, Branch: strings.TrimPrefix(w.Head.Branch, "refs/heads/"), Moved: make(map[repo.Path]repo.Path)},
		tree:     w, head: w.Head.Commit,
		since: make(map[repo.Path][]repo.CommitNumber), gone: make(map[repo.Path]bool), now: make(map[repo.Path]repo.Path),
	}
}

// branchOff finds where a checkout left main, and what its own commits are. Of
// several commits in common, the one with the highest number has no other of them
// above it.
func (c *proposal) branchOff(g *graph, h History) {
	head, ok := h.Find(c.head)
	if !ok {
		c.err = errors.New("its commit is not in the history")
		return
	}
	mark := make([]bool, head+1)
	mark[head] = true
	pending := 1 // marked, and perhaps not main's
	for n := head; n >= 0 && pending > 0; n-- {
		if !mark[n] {
			continue
		}
		pending--
		if g.has(n) {
			if !c.Forked {
				c.Forked, c.fork, c.forkID = true, n, h.Commit(n).ID
			}
			continue
		}
		c.own = append(c.own, n)
		for _, parent := range h.Commit(n).Parents {
			if !mark[parent] {
				mark[parent] = true
				pending++
			}
		}
	}
	c.Session = c.session(h)
	c.follow(h)
}

// session returns who works in a checkout: whom its commits name, else its branch,
// else its own name.
func (c *proposal) session(h History) string {
	for _, n := range c.own {
		if s := session(h.Commit(n).Trailers); s != nil {
			return *s
		}
	}
	return cmp.Or(c.Branch, c.Worktree)
}

// follow finds what its own commits moved.
func (c *proposal) follow(h History) {
	if len(c.own) == 0 {
		return
	}
	for _, m := range h.Moves() {
		if _, own := slices.BinarySearchFunc(c.own, m.Commit, func(n, want repo.CommitNumber) int { return cmp.Compare(want, n) }); !own {
			continue
		}
		from := m.From
		if earlier, ok := c.Moved[from]; ok {
			from = earlier
			delete(c.Moved, m.From)
		}
		c.Moved[m.To] = from
	}
}

// maxReading is how many checkouts are read at a time.
const maxReading = 4

// readProposals reads the specs of each checkout: as it has them, and as its commit
// and main have them.
func (r *Reader) readProposals(ctx context.Context, o *repoState, p *proposals, own []repo.LoadedFile) error {
	sets := make(map[repo.ID]Set)
	sets[o.main.Commit] = nil
	for _, c := range p.made {
		if c.err == nil && c.Forked {
			sets[c.head], sets[c.forkID] = nil, nil
		}
	}
	found, err := r.setsAt(ctx, sets)
	if err != nil {
		return err
	}
	p.main = found[o.main.Commit]
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxReading)
	for _, c := range p.made {
		if c.err != nil || !c.Forked {
			continue
		}
		c.Fork, c.Head = found[c.forkID], found[c.head]
		g.Go(func() error {
			c.files = own
			if !c.tree.Here {
				c.files, c.look, c.err = c.tree.Work.Specs(ctx)
			}
			c.Now = r.stored(c.files, c.Head)
			return ctx.Err()
		})
	}
	return g.Wait()
}

// looks adds how the files of other checkouts looked that were read.
func (p *proposals) looks(all map[string]repo.StatDigest) {
	for _, c := range p.made {
		if c.Forked && !c.tree.Here {
			all[c.Worktree] = c.look
		}
	}
}

// setsAt reads the specs of some commits.
func (r *Reader) setsAt(ctx context.Context, commits map[repo.ID]Set) (map[repo.ID]Set, error) {
	ids := make([]repo.ID, 0, len(commits))
	for id := range commits {
		ids = append(ids, id)
	}
	found := make([]Set, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxReading)
	for i, id := range ids {
		g.Go(func() error {
			var err error
			found[i], err = r.past.SpecsAt(ctx, id)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, id := range ids {
		commits[id] = found[i]
	}
	return commits, nil
}

// stored returns what git would store files as, given what a commit has.
func (r *Reader) stored(files []repo.LoadedFile, head Set) Set {
	now := make(Set, len(files))
	for _, f := range files {
		id := head[f.Path]
		if id.IsZero() || !r.isStored(f, id) {
			id = r.blob(f)
		}
		now[f.Path] = id
	}
	return now
}

// judge says what each checkout proposes. It looks at everything that differs, asks
// what main has had of it since, and looks again.
func (r *Reader) judge(ctx context.Context, p *proposals, g *graph, h History) error {
	m := Main{
		Specs: p.main,
		Had:   func(*Checkout, repo.Path, repo.ID) bool { return false },
		Now:   func(_ *Checkout, path repo.Path) repo.Path { return path },
		ID:    func(repo.Path) string { return "" },
	}
	var forks [][]repo.CommitNumber
	var open []*proposal
	for _, c := range p.made {
		if c.err != nil {
			p.unknown = append(p.unknown, unread{c.Worktree, Unknown{FactOverlay, c.err.Error()}, false})
			continue
		}
		if c.Ops = Overlay(m, &c.Checkout); len(c.Ops) > 0 {
			forks, open = append(forks, []repo.CommitNumber{c.fork}), append(open, c)
		}
	}
	p.made = slices.DeleteFunc(p.made, func(c *proposal) bool { return c.err != nil })
	if len(open) == 0 {
		return nil
	}
	moves := h.Moves()
	err := g.cover(ctx, forks, func(v *cover) {
		for i, c := range open[v.first : v.first+v.sets] {
			c.catchUp(h, moves, func(n repo.CommitNumber) bool { return g.has(n) && !v.by(i, n) })
		}
	})
	if err != nil {
		return err
	}
	had, err := r.had(ctx, open, h)
	if err != nil {
		return err
	}
	of := make(map[*Checkout]*proposal)
	for _, c := range open {
		of[&c.Checkout] = c
	}
	m.Had = func(c *Checkout, path repo.Path, content repo.ID) bool {
		if content.IsZero() {
			return of[c].gone[path]
		}
		return slices.ContainsFunc(of[c].since[path], func(n repo.CommitNumber) bool { return had.at(n, path) == content })
	}
	m.Now = func(c *Checkout, path repo.Path) repo.Path { return cmp.Or(of[c].now[path], path) }
	m.ID = p.names()
	for _, c := range open {
		c.Ops = Overlay(m, &c.Checkout)
		if err := c.dropMerged(ctx, g, h, r.past.Contents()); err != nil {
			return err
		}
	}
	return nil
}

// dropMerged removes the committed ops of which nothing is left to merge: they landed by a
// squash or a cherry-pick, and main changed the spec besides.
func (c *proposal) dropMerged(ctx context.Context, g *graph, h History, contents Contents) error {
	var paths []repo.Path
	for _, op := range c.Ops {
		if !op.Dirty {
			paths = append(paths, op.paths()...)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	keeps, err := contents.MergeKeeps(ctx, h.Commit(g.head).ID, c.head, paths)
	if err != nil {
		return err
	}
	changes := func(p repo.Path) bool { return !keeps[p] }
	c.Ops = slices.DeleteFunc(c.Ops, func(op Op) bool { return !op.Dirty && !slices.ContainsFunc(op.paths(), changes) })
	return nil
}

// catchUp finds what main did, since the fork, to what the checkout proposes to
// change.
func (c *proposal) catchUp(h History, moves []repo.Move, since func(n repo.CommitNumber) bool) {
	for _, m := range moves {
		if !since(m.Commit) {
			continue
		}
		for _, op := range c.Ops {
			for _, path := range []repo.Path{op.Path, op.From} {
				if path != "" && cmp.Or(c.now[path], path) == m.From {
					c.now[path] = m.To
				}
			}
		}
	}
	for _, op := range c.Ops {
		for _, path := range []repo.Path{op.Path, op.From, c.now[op.Path], c.now[op.From]} {
			if _, done := c.since[path]; done || path == "" {
				continue
			}
			c.since[path] = nil
			for _, t := range h.Touching(path) {
				switch {
				case !since(t.Commit):
				case t.Kind == repo.Deleted:
					c.gone[path] = true
				default:
					c.since[path] = append(c.since[path], t.Commit)
				}
			}
		}
	}
}

// had asks what main held at those places.
func (r *Reader) had(ctx context.Context, open []*proposal, h History) (*blobBatch, error) {
	s := newSheet(h, r.past.Contents())
	for _, c := range open {
		for path, commits := range c.since {
			for _, n := range commits {
				s.want(n, path)
			}
		}
	}
	if err := s.ask(ctx); err != nil {
		return nil, err
	}
	return s, s.err
}

// names returns how nodes are called: those of main as main calls them, those that
// are proposed by ids that none of main's has.
func (p *proposals) names() func(path repo.Path) string {
	var more []repo.Path
	for _, c := range p.made {
		more = append(more, paths(c.Fork, c.Now)...)
	}
	ids := named(paths(p.main), more)
	return func(path repo.Path) string { return ids[path] }
}

// named returns the ids of the nodes at some paths, and at more that leave these
// theirs.
func named(some, more []repo.Path) map[repo.Path]string {
	ids := make(map[repo.Path]string)
	taken := make(map[string]bool)
	for _, list := range [][]repo.Path{some, more} {
		var nodes []*Node
		for _, path := range slices.Compact(slices.Sorted(slices.Values(list))) {
			if _, has := ids[path]; !has {
				nodes = append(nodes, &Node{Path: path})
			}
		}
		identify(nodes, taken)
		for _, n := range nodes {
			ids[n.Path] = n.ID
		}
	}
	return ids
}
