package spec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// proposals are the changes that the checkouts of a repository propose to main, in the order of the checkouts.
// unknown has the checkouts that could not be read.
type proposals struct {
	main    FileIDs
	made    []*proposal
	unknown []unreadWorktree
}

// An unreadWorktree is a worktree whose changes could not be read.
type unreadWorktree struct {
	name       string
	err        error
	unreadable bool // the worktree cannot be opened; repoState.key covers that, so the listing can be cached
}

// unknown returns that a fact is unknown, since the worktree could not be read.
func (u *unreadWorktree) unknown(fact string) fault.Unknown {
	return fault.NewUnknown(fact, fmt.Errorf("%s: %w", u.name, u.err))
}

// certain reports whether the answer depends on nothing but the inputs that a cached listing is compared with.
func (p *proposals) certain() bool {
	return !slices.ContainsFunc(p.unknown, func(u unreadWorktree) bool { return !u.unreadable })
}

// A proposal is one checkout and the changes that it proposes.
type proposal struct {
	Checkout
	Ops   []Op
	tree  *worktree
	files []repo.LoadedFile
	stats repo.StatDigest
	err   error

	head   repo.ID
	fork   repo.CommitNumber
	forkID repo.ID
	own    []repo.CommitNumber // the commits that main does not reach, descending
	since  map[repo.Path][]repo.CommitNumber
	gone   map[repo.Path]bool      // paths that main deleted since the fork
	now    map[repo.Path]repo.Path // paths that main moved since the fork, and where to
}

// propose returns the changes that each checkout proposes. A checkout of the main branch proposes nothing: its
// edited specs are reported as dirty. own are the spec files of the reader's checkout, which the caller has read.
func (r *Reader) propose(ctx context.Context, o *repoState, h derive.History, own []repo.LoadedFile) (*proposals, error) {
	p := &proposals{}
	if o.main.Commit.IsZero() {
		return p, nil
	}
	for i := range o.trees {
		w := &o.trees[i]
		switch {
		case w.Err != nil:
			p.unknown = append(p.unknown, unreadWorktree{w.Name, w.Err, true})
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
	g := derive.NewGraph(h, tip)
	for _, c := range p.made {
		c.findFork(g, h)
	}
	if err := r.readProposals(ctx, o, p, own); err != nil {
		return nil, err
	}
	return p, r.judge(ctx, p, o.main.Commit, g, h)
}

func newProposal(w *worktree) *proposal {
	return &proposal{
		Checkout: Checkout{Worktree: w.Name, Branch: strings.TrimPrefix(w.Head.Branch, "refs/heads/"), Moved: make(map[repo.Path]repo.Path)},
		tree:     w, head: w.Head.Commit,
		since: make(map[repo.Path][]repo.CommitNumber), gone: make(map[repo.Path]bool), now: make(map[repo.Path]repo.Path),
	}
}

// findFork finds the commit at which a checkout left main, and the commits that only the checkout has. If several commits are
// shared, the one with the highest number is the fork: no other shared commit descends from it.
func (p *proposal) findFork(g *derive.Graph, h derive.History) {
	head, ok := h.Find(p.head)
	if !ok {
		p.err = errors.New("its commit is not in the history")
		return
	}
	mark := make([]bool, head+1)
	mark[head] = true
	pending := 1 // marked commits not visited yet
	for n := head; n >= 0 && pending > 0; n-- {
		if !mark[n] {
			continue
		}
		pending--
		if g.Has(n) {
			if !p.Forked {
				p.Forked, p.fork, p.forkID = true, n, h.Commit(n).ID
			}
			continue
		}
		p.own = append(p.own, n)
		for _, parent := range h.Commit(n).Parents {
			if !mark[parent] {
				mark[parent] = true
				pending++
			}
		}
	}
	p.Session = p.session(h)
	p.findMoves(h)
}

// session returns the session of a checkout: the one that its commits name, else its branch, else its worktree
// name.
func (p *proposal) session(h derive.History) string {
	for _, n := range p.own {
		if s := derive.Session(h.Commit(n).Trailers); s != nil {
			return *s
		}
	}
	return cmp.Or(p.Branch, p.Worktree)
}

// findMoves finds the spec files that the checkout's own commits moved.
func (p *proposal) findMoves(h derive.History) {
	if len(p.own) == 0 {
		return
	}
	for _, m := range h.Moves() {
		if _, own := slices.BinarySearchFunc(p.own, m.Commit, func(n, want repo.CommitNumber) int { return cmp.Compare(want, n) }); !own {
			continue
		}
		from := m.From
		if earlier, ok := p.Moved[from]; ok {
			from = earlier
			delete(p.Moved, m.From)
		}
		p.Moved[m.To] = from
	}
}

// maxReading is the number of checkouts that are read at the same time.
const maxReading = 4

// readProposals reads three sets of specs for each checkout: of its files, of its commit, and of its fork. It also
// reads those of main.
func (r *Reader) readProposals(ctx context.Context, o *repoState, p *proposals, own []repo.LoadedFile) error {
	sets := make(map[repo.ID]FileIDs)
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
				c.files, c.stats, c.err = c.tree.specs(ctx)
			}
			c.Now = r.stored(c.files, c.Head)
			return ctx.Err()
		})
	}
	return g.Wait()
}

// addStats adds the stat digests of the spec files of other checkouts.
func (p *proposals) addStats(all map[string]repo.StatDigest) {
	for _, c := range p.made {
		if c.Forked && !c.tree.Here {
			all[c.Worktree] = c.stats
		}
	}
}

// setsAt returns the specs of some commits.
func (r *Reader) setsAt(ctx context.Context, commits map[repo.ID]FileIDs) (map[repo.ID]FileIDs, error) {
	ids := make([]repo.ID, 0, len(commits))
	for id := range commits {
		ids = append(ids, id)
	}
	found := make([]FileIDs, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxReading)
	for i, id := range ids {
		g.Go(func() error {
			var err error
			found[i], err = r.specsAt(ctx, id)
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

// stored returns the blob ids that git would store files under. It prefers the id in head if the file differs only
// by line endings or filters.
func (r *Reader) stored(files []repo.LoadedFile, head FileIDs) FileIDs {
	now := make(FileIDs, len(files))
	for _, f := range files {
		id := head[f.Path]
		if id.IsZero() || !r.isStored(f, id) {
			id = r.blob(f)
		}
		now[f.Path] = id
	}
	return now
}

// judge computes the ops of each checkout. The first pass finds all differences from main. The second pass drops
// the changes that main has had since the fork.
func (r *Reader) judge(ctx context.Context, p *proposals, tip repo.ID, g *derive.Graph, h derive.History) error {
	m := MainBranch{
		Specs: p.main,
		Had:   func(*Checkout, repo.Path, repo.ID) bool { return false },
		Now:   func(_ *Checkout, path repo.Path) repo.Path { return path },
		ID:    func(repo.Path) string { return "" },
	}
	var forks [][]repo.CommitNumber
	var open []*proposal
	for _, c := range p.made {
		if c.err != nil {
			p.unknown = append(p.unknown, unreadWorktree{c.Worktree, c.err, false})
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
	err := g.EachReach(ctx, forks, func(i int, reaches func(repo.CommitNumber) bool) {
		open[i].readMainChanges(h, moves, func(n repo.CommitNumber) bool { return g.Has(n) && !reaches(n) })
	})
	if err != nil {
		return err
	}
	had, err := r.mainContents(ctx, open, h)
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
		return slices.ContainsFunc(of[c].since[path], func(n repo.CommitNumber) bool { return had.At(n, path) == content })
	}
	m.Now = func(c *Checkout, path repo.Path) repo.Path { return cmp.Or(of[c].now[path], path) }
	m.ID = p.idFunc()
	for _, c := range open {
		c.Ops = Overlay(m, &c.Checkout)
		if err := r.dropMerged(ctx, c, tip); err != nil {
			return err
		}
	}
	return nil
}

// dropMerged removes committed ops that a merge would not change anything for: main got them by a squash or a
// cherry-pick, and has changed the spec since.
func (r *Reader) dropMerged(ctx context.Context, c *proposal, main repo.ID) error {
	var paths []repo.Path
	for _, op := range c.Ops {
		if !op.Dirty {
			paths = append(paths, op.paths()...)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	keeps, err := r.mergeKeeps(ctx, main, c.head, paths)
	if err != nil {
		return err
	}
	changes := func(p repo.Path) bool { return !keeps[p] }
	c.Ops = slices.DeleteFunc(c.Ops, func(op Op) bool { return !op.Dirty && !slices.ContainsFunc(op.paths(), changes) })
	return nil
}

// readMainChanges finds the changes that main made since the fork to the paths that the checkout changes.
func (p *proposal) readMainChanges(h derive.History, moves []repo.Move, since func(n repo.CommitNumber) bool) {
	for _, m := range moves {
		if !since(m.Commit) {
			continue
		}
		for _, op := range p.Ops {
			for _, path := range []repo.Path{op.Path, op.From} {
				if path != "" && cmp.Or(p.now[path], path) == m.From {
					p.now[path] = m.To
				}
			}
		}
	}
	for _, op := range p.Ops {
		for _, path := range []repo.Path{op.Path, op.From, p.now[op.Path], p.now[op.From]} {
			if _, done := p.since[path]; done || path == "" {
				continue
			}
			p.since[path] = nil
			for _, t := range h.Touching(path) {
				switch {
				case !since(t.Commit):
				case t.Kind == repo.Deleted:
					p.gone[path] = true
				default:
					p.since[path] = append(p.since[path], t.Commit)
				}
			}
		}
	}
}

// mainContents reads the blobs that main had since the forks at the changed paths.
func (r *Reader) mainContents(ctx context.Context, open []*proposal, h derive.History) (*derive.BlobBatch, error) {
	s := derive.NewBlobBatch(h, r.ws.Git.Contents())
	for _, c := range open {
		for path, commits := range c.since {
			for _, n := range commits {
				s.Request(n, path)
			}
		}
	}
	if err := s.Fetch(ctx); err != nil {
		return nil, err
	}
	return s, s.Err
}

// idFunc returns a function from path to node id. Nodes of main have the ids of main; proposed nodes have ids that
// no node of main has.
func (p *proposals) idFunc() func(path repo.Path) string {
	var more []repo.Path
	for _, c := range p.made {
		more = append(more, paths(c.Fork, c.Now)...)
	}
	ids := idsOf(paths(p.main), more)
	return func(path repo.Path) string { return ids[path] }
}

// idsOf returns the ids of the nodes at some paths, and at more paths, which get ids that the former do not have.
func idsOf(some, more []repo.Path) map[repo.Path]string {
	ids := make(map[repo.Path]string)
	taken := make(map[string]bool)
	for _, list := range [][]repo.Path{some, more} {
		var nodes []*parse.Node
		for _, path := range slices.Compact(slices.Sorted(slices.Values(list))) {
			if _, has := ids[path]; !has {
				nodes = append(nodes, &parse.Node{Path: path})
			}
		}
		parse.AssignIDs(nodes, taken)
		for _, n := range nodes {
			ids[n.Path] = n.ID
		}
	}
	return ids
}
