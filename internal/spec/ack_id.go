package spec

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"ken/internal/repo"
)

// A register knows every spec file that ever was, by the ids that it may have had.
//
// Which spec had an id in a commit depends on the other specs that
// existed there: only on those that could have the same id, or a shorter
// one that such a spec would prefer. So an ack needs few lookups: one
// for each past spec that shares the last element of its id.
type register struct {
	bids  map[string][]repo.Path // in order
	taken map[repo.Path][]string // the bids of a path, shortest first
}

// newRegister returns the register of the spec files among paths, which are sorted.
func newRegister(paths []repo.Path) *register {
	r := &register{make(map[string][]repo.Path), make(map[repo.Path][]string)}
	for _, p := range paths {
		if !IsSpec(p) {
			continue
		}
		bids := bidsOf(p)
		r.taken[p] = bids
		for _, bid := range bids {
			r.bids[bid] = append(r.bids[bid], p)
		}
	}
	return r
}

// bidsOf returns what the node at a path may be called, shortest first.
func bidsOf(p repo.Path) []string {
	if p.Dir() == Root {
		return []string{rootID}
	}
	var bids []string
	for b := newIDCandidate(&Node{Path: p}); !b.atEnd(); {
		b.extend()
		bids = append(bids, b.bid())
	}
	return bids
}

// rivals returns the paths on which it depends who has an id, sorted.
func (r *register) rivals(id string) []repo.Path {
	found := make(map[repo.Path]bool)
	asked := make(map[string]bool)
	todo := numbered(norm.NFC.String(id))
	for len(todo) > 0 {
		bid := todo[0]
		todo = todo[1:]
		if asked[bid] {
			continue
		}
		asked[bid] = true
		for _, p := range r.bids[bid] {
			found[p] = true
			for _, shorter := range r.taken[p] {
				if shorter == bid {
					break
				}
				todo = append(todo, shorter)
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// numbered returns the bids that may have led to an id: itself and, when it ends in
// a number, that of those who ran out of path, and the lower numbers.
func numbered(id string) []string {
	bids := []string{id}
	i := strings.LastIndexByte(id, '-')
	if i < 0 {
		return bids
	}
	last, err := strconv.Atoi(id[i+1:])
	if err != nil || last < 2 || last > maxNumbered {
		return bids
	}
	bids = append(bids, id[:i])
	for n := 2; n < last; n++ {
		bids = append(bids, id[:i+1]+strconv.Itoa(n))
	}
	return bids
}

// maxNumbered is how many nodes with one name are still told apart in an ack.
const maxNumbered = 1000

// holder returns which of some paths, sorted, has an id when no others are there, ""
// when none has.
func holder(id string, there []repo.Path) repo.Path {
	nodes := make([]*Node, len(there))
	for i, p := range there {
		nodes[i] = &Node{Path: p}
	}
	identify(nodes, make(map[string]bool, len(nodes)))
	id = norm.NFC.String(id)
	for _, n := range nodes {
		if n.ID == id {
			return n.Path
		}
	}
	return ""
}
