package derive

import (
	"context"
	"maps"
	"math/bits"
	"slices"

	"ken/internal/repo"
)

// A moveTracker follows nodes back to their paths before moves.
//
// At head, a node is at its path. Before a commit that moved another path there, it is at that other path. Before
// a commit that moved its path elsewhere, it is nowhere: the spec that was at this path is another node. If its
// path was deleted or first added, it stays there: a spec that is created again continues the old one. A merge
// that takes over such a move from one parent removes the path from the node in the other parents, too.
//
// A branch that forked before the move and was merged after it still has the node at its old path. So the node is
// at the old path also in the descendants of the commits where it was, until a commit moves it away, and unless
// this path belongs to another node at head. A branch may also move the node between two of its paths: it may make
// the same move as another branch, and undo it. Then the node is at the path that it was moved to, and is followed
// back from that commit as from head.
type moveTracker struct {
	d    *derivation
	into map[repo.Path][]repo.Move // moves that head reaches, by destination
	from map[repo.Path][]repo.Move // the same moves, by source
}

func newMoveTracker(d *derivation) *moveTracker {
	t := &moveTracker{d: d, into: make(map[repo.Path][]repo.Move), from: make(map[repo.Path][]repo.Move)}
	for _, m := range d.h.Moves() {
		if d.g.Has(m.Commit) {
			t.into[m.To] = append(t.into[m.To], m)
			t.from[m.From] = append(t.from[m.From], m)
		}
	}
	return t
}

// involves reports whether any commit moved a spec from or to a path.
func (t *moveTracker) involves(p repo.Path) bool { return len(t.into[p]) > 0 || len(t.from[p]) > 0 }

// sources returns the paths from which a commit moved a spec to a path.
func (t *moveTracker) sources(to commitPath) []repo.Path {
	var list []repo.Path
	for _, m := range t.into[to.path] {
		if m.Commit == to.commit {
			list = append(list, m.From)
		}
	}
	return list
}

// follow finds the versions of moved nodes, and the acks that may name them. One pass over the commits handles as
// many nodes as have 64 paths together.
func (t *moveTracker) follow(ctx context.Context, moved []*nodeState) error {
	var some walk
	for _, s := range moved {
		names := t.names(s.node.Path)
		if len(some.bits) > 0 && len(some.bits)+len(names) > maskBits {
			if err := some.end(ctx, t); err != nil {
				return err
			}
			some = walk{}
		}
		some.add(s, names)
	}
	return some.end(ctx, t)
}

// names returns every path that the node now at path may have had. path is the first.
func (t *moveTracker) names(path repo.Path) []repo.Path {
	list := []repo.Path{path}
	listed := map[repo.Path]bool{path: true}
	for i := 0; i < len(list); i++ {
		for _, m := range t.into[list[i]] {
			if !listed[m.From] {
				listed[m.From] = true
				list = append(list, m.From)
			}
		}
	}
	slices.Sort(list[1:]) // commit numbers must not influence the order
	return list
}

// A walk follows some nodes back. Each path of each node has a bit, which is set in the commits that have
// the node at this path.
type walk struct {
	states []*nodeState
	bits   []pathBit
	starts []int // the index of the first bit of each node
}

// A pathBit is the node and the path of a bit.
type pathBit struct {
	state *nodeState
	path  repo.Path
}

func (w *walk) add(s *nodeState, names []repo.Path) {
	w.states = append(w.states, s)
	w.starts = append(w.starts, len(w.bits))
	for _, p := range names {
		w.bits = append(w.bits, pathBit{s, p})
	}
}

// A bitMove is a move between two paths of a node, by their bits. A bit is -1 if the path is none of the node's.
type bitMove struct{ from, to int }

// mask returns the mask of a bit in a word, 0 if the bit is in another word.
func (bitMove) mask(bit, word int) uint64 {
	if bit < 0 || bit/64 != word {
		return 0
	}
	return 1 << (bit % 64)
}

// end follows the nodes of the walk, and adds their versions and claims.
func (w *walk) end(ctx context.Context, t *moveTracker) error {
	if len(w.bits) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	g := t.d.g
	moves := w.moves(t)
	seen := newMovesSeen(g, moves, len(w.bits))
	at, err := w.locate(ctx, t, moves, seen)
	if err != nil {
		return err
	}
	for i, l := range w.bits {
		pure := make(map[repo.CommitNumber]bool)
		for _, m := range t.into[l.path] {
			pure[m.Commit] = pure[m.Commit] || m.Same
		}
		before := len(l.state.versions)
		t.d.takeVersions(l.state, l.path, func(x repo.Touch) bool { return at.has(x.Commit, i) && !pure[x.Commit] })
		for k := range l.state.versions[before:] {
			v := &l.state.versions[before+k]
			v.from = t.sources(commitPath{v.commit, l.path})
			v.before = w.parentsOf(g, at, i, v.commit)
		}
		for _, a := range t.d.acksByPath[l.path] {
			if at.has(a.commit, i) {
				l.state.claims = append(l.state.claims, &claim{ack: a, path: l.path})
			}
		}
	}
	return nil
}

// A commitBit is a bit at a commit.
type commitBit struct {
	commit repo.CommitNumber
	bit    int
}

// locate finds the paths of the nodes in every commit. It follows them back from head, and then from the commits
// of other branches that moved them between their paths.
func (w *walk) locate(ctx context.Context, t *moveTracker, moves map[repo.CommitNumber][]bitMove, seen *movesSeen) (pathBits, error) {
	g := t.d.g
	var ends []commitBit
	for _, first := range w.starts {
		ends = append(ends, commitBit{g.head, first})
	}
	old := w.oldPaths(t, ends, moves, seen)
	for {
		at := w.descend(g, moves, nil, ends)
		taken, err := w.takenMoves(ctx, t, at, seen)
		if err != nil {
			return at, err
		}
		if len(taken) > 0 {
			at = w.descend(g, moves, taken, ends)
		}
		moved := w.markOldPaths(t, at, old, moves, seen)
		if len(moved) == 0 {
			return at, nil
		}
		ends = append(ends, moved...)
	}
}

// oldPaths returns the bits of the paths that the nodes had before, and that are no nodes at head. A node had a path if a
// commit moved it from there to its path, or to another path from which a later commit moved it on.
func (w *walk) oldPaths(
	t *moveTracker, ends []commitBit, moves map[repo.CommitNumber][]bitMove, seen *movesSeen,
) []uint64 {
	old := make([]uint64, (len(w.bits)+63)/64)
	known := make(map[commitBit]bool)
	for todo := slices.Clone(ends); len(todo) > 0; todo = todo[1:] {
		for _, c := range seen.back[todo[0].bit] {
			for _, x := range moves[c] {
				from := commitBit{c, x.from}
				came := x.to == todo[0].bit && x.from >= 0 && seen.has(todo[0].commit, c)
				if !came || known[from] {
					continue
				}
				known[from] = true
				todo = append(todo, from)
				if !t.d.taken[w.bits[x.from].path] {
					old[x.from/64] |= 1 << (x.from % 64)
				}
			}
		}
	}
	return old
}

// descend follows the nodes back from some ends over all commits. At a merge that took over a move, the bit of
// the moved path continues only to the other parents.
func (w *walk) descend(g *Graph, moves map[repo.CommitNumber][]bitMove, taken map[repo.CommitNumber][]takenMove, ends []commitBit) pathBits {
	at := newPathBits(g, len(w.bits))
	for _, end := range ends {
		at.set(end.commit, end.bit)
	}
	stops := slices.AppendSeq(slices.Collect(maps.Keys(moves)), maps.Keys(taken))
	slices.Sort(stops)
	before := make([]uint64, at.words)
	c := g.head
	for _, stop := range slices.Backward(slices.Compact(stops)) {
		g.descend(at.bits, at.words, c, stop)
		undoMoves(before, at.row(stop), moves[stop])
		for _, p := range g.parentsOf(stop) {
			row := at.row(p)
			for i, bits := range before {
				for _, m := range taken[stop] {
					if m.parent == p && m.bit/64 == i {
						bits &^= 1 << (m.bit % 64)
					}
				}
				row[i] |= bits
			}
		}
		c = stop - 1
	}
	g.descend(at.bits, at.words, c, -1)
	return at
}

// A takenMove is a move that a merge took over from one of its parents: another parent still has the path of the
// bit, and the merge does not.
type takenMove struct {
	parent repo.CommitNumber
	bit    int
}

// takenMoves returns the moves that merges took over, by merge. If the contents of a merge cannot be read, the
// versions of the node are unknown.
func (w *walk) takenMoves(ctx context.Context, t *moveTracker, at pathBits, seen *movesSeen) (map[repo.CommitNumber][]takenMove, error) {
	g, blobs := t.d.g, t.d.blobs
	found := make(map[repo.CommitNumber][]takenMove)
	for c := repo.CommitNumber(0); c <= g.head; c++ {
		if !g.reached[c] || len(g.parentsOf(c)) < 2 {
			continue
		}
		for bit, l := range w.bits {
			if !at.has(c, bit) || slices.Contains(seen.away[bit], c) || slices.Contains(seen.back[bit], c) {
				continue // the merge itself moved it
			}
			for _, p := range g.parentsOf(c) {
				if seen.movedSince(p, c, bit) {
					found[c] = append(found[c], takenMove{p, bit})
					blobs.Request(c, l.path)
					blobs.Request(p, l.path)
				}
			}
		}
	}
	if err := blobs.Fetch(ctx); err != nil {
		return nil, err
	}
	if blobs.Err != nil {
		for c, moves := range found {
			for _, m := range moves {
				s := w.bits[m.bit].state
				s.unsureVersions, s.unsureReason = append(s.unsureVersions, c), blobs.Err.Error()
			}
		}
		return nil, nil
	}
	for c, moves := range found {
		moves = slices.DeleteFunc(moves, func(m takenMove) bool {
			path := w.bits[m.bit].path
			return !blobs.At(c, path).IsZero() || blobs.At(m.parent, path).IsZero()
		})
		if found[c] = moves; len(moves) == 0 {
			delete(found, c)
		}
	}
	return found, nil
}

// parentsOf returns the other paths of the node with a bit in the parents of a merge.
func (w *walk) parentsOf(g *Graph, at pathBits, bit int, c repo.CommitNumber) []commitPath {
	parents := g.parentsOf(c)
	if len(parents) < 2 {
		return nil
	}
	var list []commitPath
	for i, l := range w.bits {
		if l.state != w.bits[bit].state || i == bit {
			continue
		}
		for _, p := range parents {
			if at.has(p, i) {
				list = append(list, commitPath{p, l.path})
			}
		}
	}
	return list
}

// markOldPaths sets the bits of the commits that have a node at an old path. It returns the commits that moved a
// node to an old path and in which it was not found before.
func (w *walk) markOldPaths(
	t *moveTracker, at pathBits, old []uint64, moves map[repo.CommitNumber][]bitMove, seen *movesSeen,
) (moved []commitBit) {
	g := t.d.g
	left := at.empty() // commits in which the path was moved away
	held := at.empty() // commits that have the node, followed forward over moves
	for c := repo.CommitNumber(0); c <= g.head; c++ {
		if !g.reached[c] {
			continue
		}
		parents := g.parentsOf(c)
		for _, x := range moves[c] {
			inParent := func(p repo.CommitNumber) bool { return held.has(p, x.from) }
			if x.from < 0 || x.to < 0 || !slices.ContainsFunc(parents, inParent) {
				continue
			}
			held.set(c, x.to)
			isOld := old[x.to/64]&(1<<(x.to%64)) != 0
			if isOld && !at.has(c, x.to) {
				at.set(c, x.to)
				moved = append(moved, commitBit{c, x.to})
			}
		}
		here, gone, on := at.row(c), left.row(c), held.row(c)
		for i := range here {
			known, before := uint64(0), uint64(0)
			for _, p := range parents {
				known |= at.row(p)[i]
				before |= held.row(p)[i]
				gone[i] |= left.row(p)[i]
			}
			if len(parents) > 1 {
				gone[i] &^= seen.cameBack(left, parents, i, gone[i])
			}
			var from, to uint64
			for _, x := range moves[c] {
				from |= x.mask(x.from, i)
				to |= x.mask(x.to, i)
			}
			stays := ^(gone[i] | from | to)
			here[i] |= known & old[i] & stays
			on[i] |= here[i] | before&stays
			gone[i] = (gone[i] | from) &^ to
		}
	}
	return moved
}

// movesSeen records the moves in the history of each commit.
type movesSeen struct {
	commits pathBits                  // by commit, a bit for each moving commit in its history
	number  map[repo.CommitNumber]int // the bit of each moving commit
	away    [][]repo.CommitNumber     // by path, the commits that moved it away
	back    [][]repo.CommitNumber     // by path, the commits that moved it back
}

func newMovesSeen(g *Graph, moves map[repo.CommitNumber][]bitMove, count int) *movesSeen {
	s := &movesSeen{
		number: make(map[repo.CommitNumber]int, len(moves)),
		away:   make([][]repo.CommitNumber, count), back: make([][]repo.CommitNumber, count),
	}
	words := (len(moves) + 63) / 64
	s.commits = pathBits{words, make([]uint64, int(g.head+1)*words)}
	for c, list := range moves {
		s.number[c] = len(s.number)
		for _, x := range list {
			if x.from >= 0 {
				s.away[x.from] = append(s.away[x.from], c)
			}
			if x.to >= 0 {
				s.back[x.to] = append(s.back[x.to], c)
			}
		}
	}
	for c := repo.CommitNumber(0); c <= g.head; c++ {
		if g.reached[c] {
			s.take(c, g.parentsOf(c))
		}
	}
	return s
}

// has reports whether a moving commit is in the history of a commit.
func (s *movesSeen) has(c, move repo.CommitNumber) bool { return s.commits.has(c, s.number[move]) }

// movedSince reports whether the history of c, and not that of parent, contains a move away from the path of a
// bit that no later commit moved back.
func (s *movesSeen) movedSince(parent, c repo.CommitNumber, bit int) bool {
	return slices.ContainsFunc(s.away[bit], func(away repo.CommitNumber) bool {
		return s.has(c, away) && !s.has(parent, away) && !slices.ContainsFunc(s.back[bit], func(back repo.CommitNumber) bool {
			return s.has(c, back) && s.has(back, away)
		})
	})
}

// take adds the moves of the parents' histories, and its own move, to a commit.
func (s *movesSeen) take(c repo.CommitNumber, parents []repo.CommitNumber) {
	row := s.commits.row(c)
	for _, p := range parents {
		for i, bits := range s.commits.row(p) {
			row[i] |= bits
		}
	}
	if n, ok := s.number[c]; ok {
		row[n/64] |= 1 << (n % 64)
	}
}

// cameBack returns the bits that some parents of a merge have moved away and another parent has moved back later:
// its history contains every move that the histories of the former contain.
func (s *movesSeen) cameBack(left pathBits, parents []repo.CommitNumber, word int, mask uint64) (back uint64) {
	for ; mask != 0; mask &= mask - 1 {
		bit := word*64 + bits.TrailingZeros64(mask)
		later := func(p repo.CommitNumber) bool {
			return !left.has(p, bit) && !slices.ContainsFunc(parents, func(q repo.CommitNumber) bool {
				return left.has(q, bit) && !s.knows(p, q, bit)
			})
		}
		if slices.ContainsFunc(parents, later) {
			back |= 1 << (bit % 64)
		}
	}
	return back
}

// knows reports whether the history of a commit contains every move of a path that the history of another
// contains.
func (s *movesSeen) knows(c, other repo.CommitNumber, bit int) bool {
	unknown := func(move repo.CommitNumber) bool { return s.has(other, move) && !s.has(c, move) }
	return !slices.ContainsFunc(s.away[bit], unknown) && !slices.ContainsFunc(s.back[bit], unknown)
}

// moves returns the moves of each commit.
func (w *walk) moves(t *moveTracker) map[repo.CommitNumber][]bitMove {
	moves := make(map[repo.CommitNumber][]bitMove)
	for k, start := range w.starts {
		end := len(w.bits)
		if k+1 < len(w.starts) {
			end = w.starts[k+1]
		}
		index := make(map[repo.Path]int, end-start)
		for i := start; i < end; i++ {
			index[w.bits[i].path] = i
		}
		of := func(p repo.Path) int {
			if i, ok := index[p]; ok {
				return i
			}
			return -1
		}
		for i := start; i < end; i++ {
			for _, m := range t.into[w.bits[i].path] {
				moves[m.Commit] = append(moves[m.Commit], bitMove{of(m.From), i})
			}
			for _, m := range t.from[w.bits[i].path] {
				if of(m.To) < 0 {
					moves[m.Commit] = append(moves[m.Commit], bitMove{i, -1})
				}
			}
		}
	}
	return moves
}

// undoMoves sets before to the bits before a commit, given the bits at the commit.
func undoMoves(before, at []uint64, list []bitMove) {
	for i := range at {
		var away, back uint64
		for _, x := range list {
			away |= x.mask(x.from, i) | x.mask(x.to, i)
			if x.from >= 0 && x.to >= 0 && at[x.to/64]&(1<<(x.to%64)) != 0 {
				back |= x.mask(x.from, i)
			}
		}
		before[i] = at[i]&^away | back
	}
}

// A pathBits has a bit for each path in each commit.
type pathBits struct {
	words int // words per commit
	bits  []uint64
}

// newPathBits returns an empty set. It may use g.mask.
func newPathBits(g *Graph, count int) pathBits {
	words := (count + 63) / 64
	if words > 1 {
		return pathBits{words, make([]uint64, len(g.mask)*words)}
	}
	clear(g.mask)
	return pathBits{words, g.mask}
}

// empty returns an empty set of the same size.
func (s pathBits) empty() pathBits { return pathBits{s.words, make([]uint64, len(s.bits))} }

func (s pathBits) row(c repo.CommitNumber) []uint64 {
	return s.bits[int(c)*s.words : (int(c)+1)*s.words]
}

func (s pathBits) set(c repo.CommitNumber, bit int) { s.row(c)[bit/64] |= 1 << (bit % 64) }

func (s pathBits) has(c repo.CommitNumber, bit int) bool {
	return s.row(c)[bit/64]&(1<<(bit%64)) != 0
}
