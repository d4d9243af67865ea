package spec

import (
	"context"
	"maps"
	"slices"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// Deriving all specs of a large repository takes longer than a hook may. After a commit, most rows of the last listing
// are still valid: those of the specs that the new commits do not affect. A new commit affects a spec if it changes the
// spec file or a governed file, acknowledges it, or adds a file to which deleted code of the spec may have moved.
// factsOfTree derives only the specs that the new commits affect.

// listingInputs are the inputs of a cached listing that the listing itself does not show. When HEAD has moved,
// factsOfTree uses them to compute facts again only for the nodes that the new commits may affect.
type listingInputs struct {
	Nodes     []cachedNode // the nodes of this checkout, by path
	Committed int          // the number of specs in HEAD
	// Watched are the paths to which deleted code may have been moved. All is set instead if there are more than
	// maxWatched.
	Watched []repo.Path
	All     bool
}

// maxWatched is the maximal length of listingInputs.Watched.
const maxWatched = 10_000

// matchRows finds the cached row of each node. If the nodes are not those of the cached listing, it drops the cached
// inputs.
func (t *specTree) matchRows() {
	t.facts, t.valid = make([]derive.Facts, len(t.nodes)), make([]bool, len(t.nodes))
	if t.cachedInputs == nil {
		return
	}
	if len(t.cachedInputs.Nodes) != len(t.nodes) {
		t.cachedInputs = nil
		return
	}
	byPath := make(map[repo.Path]*ListedSpec)
	for i := range t.cached.Nodes {
		l := &t.cached.Nodes[i]
		if !l.Ghost {
			byPath[l.rawPath()] = l
		}
	}
	for i, n := range t.nodes {
		l := byPath[n.Path]
		if l == nil || t.cachedInputs.Nodes[i].Path != n.Path || l.ID != n.ID {
			t.cachedInputs, t.cachedRows = nil, nil
			return
		}
		t.cachedRows = append(t.cachedRows, l)
	}
}

// newInputs returns the inputs to cache with the tree's listing.
func (t *specTree) newInputs() *listingInputs {
	in := &listingInputs{Committed: t.committed}
	for i, n := range t.nodes {
		node := newCachedNode(n, t.blobs[i])
		node.DependsOnWatched = t.facts[i].DependsOnWatched
		if t.valid[i] {
			node.DependsOnWatched = t.cachedInputs.Nodes[i].DependsOnWatched
		}
		in.Nodes = append(in.Nodes, node)
	}
	if slices.Contains(t.valid, true) {
		in.All = t.cachedInputs.All
		for _, p := range t.cachedInputs.Watched {
			t.watched[p] = true
		}
	}
	in.All = in.All || len(t.watched) > maxWatched
	if !in.All {
		in.Watched = slices.Sorted(maps.Keys(t.watched))
	}
	return in
}

// factsOfTree returns the facts about the nodes of a tree. It derives only those that are not valid in the cache. If why
// says that there is no history, all facts are unknown.
func (r *Reader) factsOfTree(ctx context.Context, t *specTree, head repo.ID, h derive.History, why error) ([]derive.Facts, error) {
	t.watched = make(map[repo.Path]bool)
	if why != nil {
		t.cachedInputs = nil
		t.facts = derive.AllUnknown(t.nodes, why.Error())
		return t.facts, nil
	}
	if t.cachedInputs != nil {
		if err := r.findValid(ctx, t, head, h); err != nil {
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
		if found, err = derive.SomeFacts(ctx, some, t.nodes, r.deriveOptions(head), h, contents); err != nil {
			return nil, err
		}
		t.outlineErr = found.OutlineErr
		if found.Watched != nil {
			t.watched = found.Watched
		}
	}
	for i, n := range t.nodes {
		if t.valid[i] {
			l := t.cachedRows[i]
			t.facts[i] = derive.Facts{Node: n, Version: l.Version, Drift: l.Drift, Touched: l.Touched}
			t.facts[i].Status = t.facts[i].StatusWithProposal(false)
			continue
		}
		t.facts[i], found.Facts = found.Facts[0], found.Facts[1:]
	}
	return t.facts, nil
}

// findValid finds the nodes whose cached row is still valid at head.
func (r *Reader) findValid(ctx context.Context, t *specTree, head repo.ID, h derive.History) error {
	w, err := r.newCommitsSince(ctx, h, t.cached.Head, head)
	if err != nil || w == nil {
		return err
	}
	affected, ok := t.affectedBy(ctx, w, h)
	if !ok {
		return ctx.Err()
	}
	for i := range t.nodes {
		t.valid[i] = !affected[i] && t.blobs[i] == t.cachedInputs.Nodes[i].Blob
	}
	t.specsChanged = w.specsChanged
	return nil
}

// affectedBy reports which nodes the new commits may affect. ok is false if they may affect any node, and if the
// context is done.
func (t *specTree) affectedBy(ctx context.Context, w *newCommits, h derive.History) (affected []bool, ok bool) {
	affected = make([]bool, len(t.nodes))
	byPath := make(map[repo.Path]int, len(t.nodes))
	for i, n := range t.nodes {
		byPath[n.Path] = i
	}
	// After a move, the old path of a spec may belong to another spec.
	moved := make(map[repo.Path]bool)
	if w.specsChanged || len(w.acked) > 0 {
		for _, m := range h.Moves() {
			moved[m.From], moved[m.To] = true, true
		}
	}
	for p := range w.ackCandidates(h) {
		if moved[p] {
			return nil, false
		}
		if i, here := byPath[p]; here {
			affected[i] = true
		}
	}
	watched := make(map[repo.Path]bool, len(t.cachedInputs.Watched))
	for _, p := range t.cachedInputs.Watched {
		watched[p] = true
	}
	owners := parse.NewEntryIndex(t.nodes, parse.CodeOf)
	watchedChanged := false
	var limit parse.MatchLimit
	for p := range w.changed {
		if ctx.Err() != nil || !limit.Allow(owners.Cost(p)) {
			return nil, false
		}
		if parse.IsSpec(p) {
			i, here := byPath[p]
			if !here || moved[p] {
				return nil, false
			}
			affected[i] = true
		}
		for e := range owners.Matching(p) {
			for _, n := range e.Nodes {
				affected[n.Node] = true
			}
		}
		watchedChanged = watchedChanged || t.cachedInputs.All || watched[p]
	}
	if watchedChanged {
		for i := range t.nodes {
			affected[i] = affected[i] || t.cachedInputs.Nodes[i].DependsOnWatched
		}
	}
	return affected, true
}

// ackCandidates returns the paths of the specs that the new acks may name.
func (w *newCommits) ackCandidates(h derive.History) map[repo.Path]bool {
	candidates := make(map[repo.Path]bool)
	if len(w.acked) == 0 {
		return candidates
	}
	ids := derive.NewIDIndex(h.Below(parse.Root))
	for _, id := range w.acked {
		for _, p := range ids.CandidatePaths(id) {
			candidates[p] = true
		}
	}
	return candidates
}
