package spec

import (
	"context"
	"maps"
	"math/bits"
	"slices"

	"ken/internal/repo"
)

// A trail follows nodes back to where they were before they were moved.
//
// A node is at its path in head. Going back over a commit that moved another path
// there, it is at that path; over one that moved its path elsewhere, it is nowhere,
// since what was there before is another node. Where its path was deleted or first
// added, it stays: a node that is created again continues. A merge that took over such
// a move from one parent takes the path away from the node in the others, too.
//
// A branch that began before the move and was merged after it knows the node by its
// old path still. So from where the node was, it is at the same path in what stands
// on that, as long as no commit has moved it away; unless that path is a node of its
// own at head. A branch may also move the node itself, from one of its paths to
// another: it may make the same move as another branch and undo it. There the node is
// at the path that it was moved to, and is followed back from that commit as from head.
type trail struct {
	d    *derivation
	into map[repo.Path][]repo.Move // the moves that head reaches, by where to
	from map[repo.Path][]repo.Move // and by where from
	left []uint64                  // for spread, one word to a commit
	held []uint64                  // for spread, one word to a commit
}

func newTrail(d *derivation) *trail {
	t := &trail{d: d, into: make(map[repo.Path][]repo.Move), from: make(map[repo.Path][]repo.Move)}
	for _, m := range d.h.Moves() {
		if d.g.has(m.Commit) {
			t.into[m.To] = append(t.into[m.To], m)
			t.from[m.From] = append(t.from[m.From], m)
		}
	}
	return t
}

// involves reports whether a path was ever moved from or to.
func (t *trail) involves(p repo.Path) bool { return len(t.into[p]) > 0 || len(t.from[p]) > 0 }

// follow finds the versions of nodes that were moved, and the acks that may be
// theirs: as many nodes at a time as have 64 names together, in one pass over the
// commits.
func (t *trail) follow(ctx context.Context, moved []*study) error {
	var some walk
	for _, s := range moved {
		names := t.names(s.node.Path)
		if len(some.lanes) > 0 && len(some.lanes)+len(names) > lanes {
			if err := some.end(ctx, t); err != nil {
				return err
			}
			some = walk{}
		}
		some.add(s, names)
	}
	return some.end(ctx, t)
}

// names returns every path at which what is now at path may have been, that one
// first.
func (t *trail) names(path repo.Path) []repo.Path {
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
	slices.Sort(list[1:]) // the order of commits decides nothing
	return list
}

// A walk follows some nodes back. Each name of each node has a lane: a bit that is
// set where the node is at that path.
type walk struct {
	studies []*study
	lanes   []lane
	starts  []int // of each study's lanes
}

type lane struct {
	study *study
	path  repo.Path
}

func (w *walk) add(s *study, names []repo.Path) {
	w.studies = append(w.studies, s)
	w.starts = append(w.starts, len(w.lanes))
	for _, p := range names {
		w.lanes = append(w.lanes, lane{s, p})
	}
}

// A turn is what a move does to the lanes of one node, -1 where it has no lane for
// a path.
type turn struct{ from, to int }

// bit returns the bit of a lane in one of the words, none if it is in another.
func (turn) bit(lane, word int) uint64 {
	if lane < 0 || lane/64 != word {
		return 0
	}
	return 1 << (lane % 64)
}

// end walks, and takes what it finds.
func (w *walk) end(ctx context.Context, t *trail) error {
	if len(w.lanes) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	g := t.d.g
	turns := w.turns(t)
	seen := newMovesSeen(g, turns, len(w.lanes))
	at, err := w.locate(ctx, t, turns, seen)
	if err != nil {
		return err
	}
	for i, l := range w.lanes {
		pure := make(map[repo.CommitNumber]bool)
		from := make(map[repo.CommitNumber][]repo.Path)
		for _, m := range t.into[l.path] {
			pure[m.Commit] = pure[m.Commit] || m.Same
			from[m.Commit] = append(from[m.Commit], m.From)
		}
		before := len(l.study.versions)
		t.d.takeVersions(l.study, l.path, func(x repo.Touch) bool { return at.has(x.Commit, i) && !pure[x.Commit] })
		for k := range l.study.versions[before:] {
			v := &l.study.versions[before+k]
			v.from = from[v.commit]
			v.before = w.parentsOf(g, at, i, v.commit)
		}
		for _, a := range t.d.rivals[l.path] {
			if at.has(a.commit, i) {
				l.study.claims = append(l.study.claims, &claim{ack: a, path: l.path})
			}
		}
	}
	return nil
}

// A laneSpot is a lane at a commit.
type laneSpot struct {
	commit repo.CommitNumber
	lane   int
}

// locate finds where the nodes are in every commit. It follows them back from head, and
// then again from the commits of other branches that moved them between their paths.
func (w *walk) locate(ctx context.Context, t *trail, turns map[repo.CommitNumber][]turn, seen *movesSeen) (laneSet, error) {
	g := t.d.g
	var ends []laneSpot
	for _, first := range w.starts {
		ends = append(ends, laneSpot{g.head, first})
	}
	for {
		at := w.descend(g, turns, nil, ends)
		taken, err := w.takenMoves(ctx, t, at, seen)
		if err != nil {
			return at, err
		}
		if len(taken) > 0 {
			at = w.descend(g, turns, taken, ends)
		}
		moved := w.spread(t, at, turns, seen)
		if len(moved) == 0 {
			return at, nil
		}
		ends = append(ends, moved...)
	}
}

// descend follows the nodes back from some ends over all commits. Over a merge that took a
// move over, the lane of what was moved goes on only to the other parents.
func (w *walk) descend(g *graph, turns map[repo.CommitNumber][]turn, taken map[repo.CommitNumber][]takenMove, ends []laneSpot) laneSet {
	at := newLaneSet(g, len(w.lanes))
	for _, end := range ends {
		at.set(end.commit, end.lane)
	}
	stops := slices.AppendSeq(slices.Collect(maps.Keys(turns)), maps.Keys(taken))
	slices.Sort(stops)
	before := make([]uint64, at.words)
	c := g.head
	for _, stop := range slices.Backward(slices.Compact(stops)) {
		g.descend(at.bits, at.words, c, stop)
		turnLanes(before, at.row(stop), turns[stop])
		for _, p := range g.parentsOf(stop) {
			row := at.row(p)
			for i, bits := range before {
				for _, m := range taken[stop] {
					if m.parent == p && m.lane/64 == i {
						bits &^= 1 << (m.lane % 64)
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

// A takenMove is a move away from the path of a lane that a merge took over from another
// parent: this parent still has the path, and the merge has not.
type takenMove struct {
	parent repo.CommitNumber
	lane   int
}

// takenMoves returns by merge which moves the merges took over, of those that the nodes
// may have been in. Where nobody can say what a merge has, the versions of the node are
// not known.
func (w *walk) takenMoves(ctx context.Context, t *trail, at laneSet, seen *movesSeen) (map[repo.CommitNumber][]takenMove, error) {
	g, sheet := t.d.g, t.d.sheet
	found := make(map[repo.CommitNumber][]takenMove)
	for c := repo.CommitNumber(0); c <= g.head; c++ {
		if !g.reached[c] || len(g.parentsOf(c)) < 2 {
			continue
		}
		for lane, l := range w.lanes {
			if !at.has(c, lane) || slices.Contains(seen.away[lane], c) || slices.Contains(seen.back[lane], c) {
				continue // a move that the merge made itself decides
			}
			for _, p := range g.parentsOf(c) {
				if seen.movedSince(p, c, lane) {
					found[c] = append(found[c], takenMove{p, lane})
					sheet.want(c, l.path)
					sheet.want(p, l.path)
				}
			}
		}
	}
	if err := sheet.ask(ctx); err != nil {
		return nil, err
	}
	if sheet.err != nil {
		for c, moves := range found {
			for _, m := range moves {
				s := w.lanes[m.lane].study
				s.doubtful, s.doubt = append(s.doubtful, c), sheet.err.Error()
			}
		}
		return nil, nil
	}
	for c, moves := range found {
		moves = slices.DeleteFunc(moves, func(m takenMove) bool {
			path := w.lanes[m.lane].path
			return !sheet.at(c, path).IsZero() || sheet.at(m.parent, path).IsZero()
		})
		if found[c] = moves; len(moves) == 0 {
			delete(found, c)
		}
	}
	return found, nil
}

// parentsOf returns where the node of a lane was in the parents of a merge, as far as
// that is another path than the lane's.
func (w *walk) parentsOf(g *graph, at laneSet, lane int, c repo.CommitNumber) []spot {
	parents := g.parentsOf(c)
	if len(parents) < 2 {
		return nil
	}
	var list []spot
	for i, l := range w.lanes {
		if l.study != w.lanes[lane].study || i == lane {
			continue
		}
		for _, p := range parents {
			if at.has(p, i) {
				list = append(list, spot{p, l.path})
			}
		}
	}
	return list
}

// spread sets the lanes of the commits that know a node by an old path. It returns the
// commits that moved a node to an old path and at which it was not found before.
func (w *walk) spread(t *trail, at laneSet, turns map[repo.CommitNumber][]turn, seen *movesSeen) (moved []laneSpot) {
	g := t.d.g
	left := at.scratch(&t.left)     // where a path has been moved away
	held := at.scratch(&t.held)     // where the node is, followed over moves from where it was
	old := make([]uint64, at.words) // the lanes that can be spread
	for i, l := range w.lanes {
		if !t.d.taken[l.path] {
			old[i/64] |= 1 << (i % 64)
		}
	}
	for c := repo.CommitNumber(0); c <= g.head; c++ {
		if !g.reached[c] {
			continue
		}
		parents := g.parentsOf(c)
		for _, x := range turns[c] {
			inParent := func(p repo.CommitNumber) bool { return held.has(p, x.from) }
			if x.from < 0 || x.to < 0 || !slices.ContainsFunc(parents, inParent) {
				continue
			}
			held.set(c, x.to)
			isOld := old[x.to/64]&(1<<(x.to%64)) != 0
			if isOld && !at.has(c, x.to) {
				at.set(c, x.to)
				moved = append(moved, laneSpot{c, x.to})
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
			for _, x := range turns[c] {
				from |= x.bit(x.from, i)
				to |= x.bit(x.to, i)
			}
			stays := ^(gone[i] | from | to)
			here[i] |= known & old[i] & stays
			on[i] |= here[i] | before&stays
			gone[i] = (gone[i] | from) &^ to
		}
	}
	return moved
}

// movesSeen knows which moves each commit has in its history.
type movesSeen struct {
	commits laneSet                   // by commit, a bit for each commit that moves something
	number  map[repo.CommitNumber]int // of those commits
	of      [][]uint64                // by lane, the bits of the commits that moved it away or back
	away    [][]repo.CommitNumber     // by lane, the commits that moved it away
	back    [][]repo.CommitNumber     // by lane, the commits that moved it back
}

func newMovesSeen(g *graph, turns map[repo.CommitNumber][]turn, lanes int) *movesSeen {
	s := &movesSeen{
		number: make(map[repo.CommitNumber]int, len(turns)), of: make([][]uint64, lanes),
		away: make([][]repo.CommitNumber, lanes), back: make([][]repo.CommitNumber, lanes),
	}
	words := (len(turns) + 63) / 64
	s.commits = laneSet{words, make([]uint64, int(g.head+1)*words)}
	for i := range s.of {
		s.of[i] = make([]uint64, words)
	}
	for c, list := range turns {
		n := len(s.number)
		s.number[c] = n
		for _, x := range list {
			for _, lane := range []int{x.from, x.to} {
				if lane >= 0 {
					s.of[lane][n/64] |= 1 << (n % 64)
				}
			}
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

// has reports whether a commit has a commit that moves something in its history.
func (s *movesSeen) has(c, move repo.CommitNumber) bool { return s.commits.has(c, s.number[move]) }

// movedSince reports whether a commit has a move away from the path of a lane in its
// history, which nobody moved back since, that its parent has not.
func (s *movesSeen) movedSince(parent, c repo.CommitNumber, lane int) bool {
	return slices.ContainsFunc(s.away[lane], func(away repo.CommitNumber) bool {
		return s.has(c, away) && !s.has(parent, away) && !slices.ContainsFunc(s.back[lane], func(back repo.CommitNumber) bool {
			return s.has(c, back) && s.has(back, away)
		})
	})
}

// take gives a commit what its parents have in their histories, and its own move.
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

// cameBack returns the lanes, of those that some parents of a merge have moved away, that
// another parent has moved back since: it knows every move that the former know.
func (s *movesSeen) cameBack(left laneSet, parents []repo.CommitNumber, word int, lanes uint64) (back uint64) {
	for ; lanes != 0; lanes &= lanes - 1 {
		lane := word*64 + bits.TrailingZeros64(lanes)
		later := func(p repo.CommitNumber) bool {
			return !left.has(p, lane) && !slices.ContainsFunc(parents, func(q repo.CommitNumber) bool {
				return left.has(q, lane) && !s.knows(p, q, lane)
			})
		}
		if slices.ContainsFunc(parents, later) {
			back |= 1 << (lane % 64)
		}
	}
	return back
}

// knows reports whether a commit has every move of a lane in its history that another has.
func (s *movesSeen) knows(c, other repo.CommitNumber, lane int) bool {
	for i, mask := range s.of[lane] {
		if s.commits.row(other)[i]&mask&^s.commits.row(c)[i] != 0 {
			return false
		}
	}
	return true
}

// turns returns by commit what its moves do to the lanes.
func (w *walk) turns(t *trail) map[repo.CommitNumber][]turn {
	turns := make(map[repo.CommitNumber][]turn)
	for k, start := range w.starts {
		end := len(w.lanes)
		if k+1 < len(w.starts) {
			end = w.starts[k+1]
		}
		index := make(map[repo.Path]int, end-start)
		for i := start; i < end; i++ {
			index[w.lanes[i].path] = i
		}
		of := func(p repo.Path) int {
			if i, ok := index[p]; ok {
				return i
			}
			return -1
		}
		for i := start; i < end; i++ {
			for _, m := range t.into[w.lanes[i].path] {
				turns[m.Commit] = append(turns[m.Commit], turn{of(m.From), i})
			}
			for _, m := range t.from[w.lanes[i].path] {
				if of(m.To) < 0 {
					turns[m.Commit] = append(turns[m.Commit], turn{i, -1})
				}
			}
		}
	}
	return turns
}

// turnLanes makes of the lanes at a commit those before it.
func turnLanes(before, at []uint64, list []turn) {
	for i := range at {
		var away, back uint64
		for _, x := range list {
			away |= x.bit(x.from, i) | x.bit(x.to, i)
			if x.from >= 0 && x.to >= 0 && at[x.to/64]&(1<<(x.to%64)) != 0 {
				back |= x.bit(x.from, i)
			}
		}
		before[i] = at[i]&^away | back
	}
}

// A laneSet holds a bit for each lane at each commit.
type laneSet struct {
	words int // to a commit
	bits  []uint64
}

// newLaneSet returns an empty set. It may use the graph's mask.
func newLaneSet(g *graph, lanes int) laneSet {
	words := (lanes + 63) / 64
	if words > 1 {
		return laneSet{words, make([]uint64, len(g.mask)*words)}
	}
	clear(g.mask)
	return laneSet{words, g.mask}
}

// scratch returns an empty set of the same size. It keeps the bits where told, for the
// next one.
func (s laneSet) scratch(kept *[]uint64) laneSet {
	if len(*kept) != len(s.bits) {
		*kept = make([]uint64, len(s.bits))
	}
	clear(*kept)
	return laneSet{s.words, *kept}
}

func (s laneSet) row(c repo.CommitNumber) []uint64 {
	return s.bits[int(c)*s.words : (int(c)+1)*s.words]
}

func (s laneSet) set(c repo.CommitNumber, lane int) { s.row(c)[lane/64] |= 1 << (lane % 64) }

func (s laneSet) has(c repo.CommitNumber, lane int) bool {
	return s.row(c)[lane/64]&(1<<(lane%64)) != 0
}
