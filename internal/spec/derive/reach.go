package derive

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"ken/internal/repo"
)

// maskBits is the number of commit sets that one pass over the history follows: one for each bit of a word.
const maskBits = 64

// A Graph is the part of a history that can be reached from one commit.
type Graph struct {
	head    repo.CommitNumber // -1 when there is no commit yet
	reached []bool
	parents repo.ParentTable
	roots   []repo.CommitNumber // the reached commits without parents
	mask    []uint64            // one word per commit, reused by each pass
}

// NewGraph returns the graph of the commits that head reaches.
func NewGraph(h History, head repo.CommitNumber) *Graph {
	g := &Graph{head: head, reached: make([]bool, head+1), parents: h.Parents(), mask: make([]uint64, head+1)}
	if head >= 0 {
		g.reached[head] = true
	}
	for c := head; c >= 0; c-- {
		if !g.reached[c] {
			continue
		}
		parents := g.parents.Of(c)
		for _, p := range parents {
			g.reached[p] = true
		}
		if len(parents) == 0 {
			g.roots = append(g.roots, c)
		}
	}
	return g
}

// parentsOf returns the parents of a commit.
func (g *Graph) parentsOf(c repo.CommitNumber) []repo.CommitNumber { return g.parents.Of(c) }

// Has reports whether head reaches a commit.
func (g *Graph) Has(c repo.CommitNumber) bool { return c >= 0 && c <= g.head && g.reached[c] }

// A reachSet has the commits that each of up to 64 sets of commits reaches, including the sets themselves.
type reachSet struct {
	first int                   // index of the first set
	sets  int                   // number of sets
	mask  []uint64              // by commit: a bit for each set that reaches it
	top   [][]repo.CommitNumber // by set: the commits that no other commit of the set reaches
}

// reaches reports whether a commit is reached from the i-th set of the reachSet.
func (r *reachSet) reaches(i int, c repo.CommitNumber) bool { return r.mask[c]&(1<<i) != 0 }

// eachReachSet finds the commits that sets of commits reach, and calls see for each 64 sets. It makes one pass over the
// commits for these: every commit passes its bits on to its parents, which have lower numbers.
func (g *Graph) eachReachSet(ctx context.Context, sets [][]repo.CommitNumber, see func(v *reachSet)) error {
	type seed struct {
		commit repo.CommitNumber
		set    int
	}
	var seeds []seed
	for first := 0; first < len(sets); first += maskBits {
		if err := ctx.Err(); err != nil {
			return err
		}
		some := sets[first:min(first+maskBits, len(sets))]
		v := &reachSet{first: first, sets: len(some), mask: g.mask, top: make([][]repo.CommitNumber, len(some))}
		seeds = seeds[:0]
		for i, set := range some {
			for _, c := range set {
				seeds = append(seeds, seed{c, i})
			}
		}
		slices.SortFunc(seeds, func(a, b seed) int {
			return cmp.Or(cmp.Compare(b.commit, a.commit), cmp.Compare(a.set, b.set))
		})
		seeds = slices.Compact(seeds)
		clear(g.mask)
		rest := seeds
		start := repo.CommitNumber(-1)
		if len(rest) > 0 {
			start = rest[0].commit
		}
		for c := start; c >= 0; {
			// Down to the next seed, commits only pass on their bits.
			next := repo.CommitNumber(-1)
			if len(rest) > 0 {
				next = rest[0].commit
			}
			g.descend(g.mask, 1, c, next)
			if c = next; c < 0 {
				break
			}
			for above := g.mask[c]; len(rest) > 0 && rest[0].commit == c; rest = rest[1:] {
				bit := uint64(1) << rest[0].set
				if above&bit == 0 {
					v.top[rest[0].set] = append(v.top[rest[0].set], c)
				}
				g.mask[c] |= bit
			}
			g.passOn(g.mask, 1, c, 0, g.mask[c])
			c--
		}
		see(v)
	}
	return nil
}

// EachReach calls see for each set of commits. reaches reports whether the set contains or reaches a commit; it is
// valid until see returns.
func (g *Graph) EachReach(ctx context.Context, sets [][]repo.CommitNumber, see func(i int, reaches func(c repo.CommitNumber) bool)) error {
	return g.eachReachSet(ctx, sets, func(v *reachSet) {
		for i := range v.sets {
			see(v.first+i, func(c repo.CommitNumber) bool { return v.reaches(i, c) })
		}
	})
}

// descend passes the bits of the commits in (to, from] on to their parents. Each commit has the given number of
// words in mask.
func (g *Graph) descend(mask []uint64, words int, from, to repo.CommitNumber) {
	starts, parents := g.parents.Starts, g.parents.Numbers
	for c := from; c > to; c-- {
		if words == 1 { // the common case
			m := mask[c]
			if m == 0 {
				continue
			}
			for i := starts[c]; i < starts[c+1]; i++ {
				mask[parents[i]] |= m
			}
			continue
		}
		for i := range words {
			g.passOn(mask, words, c, i, mask[int(c)*words+i])
		}
	}
}

// passOn adds the bits of one word of a commit to its parents.
func (g *Graph) passOn(mask []uint64, words int, c repo.CommitNumber, word int, bits uint64) {
	for _, p := range g.parentsOf(c) {
		mask[int(p)*words+word] |= bits
	}
}

// lowest returns for each set the lowest commit that head reaches and the set does not, head+1 without one.
func (g *Graph) lowest(v *reachSet) [maskBits]repo.CommitNumber {
	var low [maskBits]repo.CommitNumber
	for i := range low {
		low[i] = g.head + 1
	}
	missing := ^uint64(0)
	if v.sets < maskBits {
		missing = 1<<v.sets - 1
	}
	for c := repo.CommitNumber(0); c <= g.head && missing != 0; c++ {
		found := missing &^ v.mask[c]
		if found == 0 || !g.reached[c] {
			continue
		}
		for ; found != 0; found &= found - 1 {
			i := bits.TrailingZeros64(found)
			low[i] = c
			missing &^= 1 << i
		}
	}
	return low
}
