package derive

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// An IDIndex indexes every spec file that ever existed by the ids that it may have had.
type IDIndex struct {
	byID   map[string][]repo.Path // spec paths by candidate id, sorted
	byPath map[repo.Path][]string // the candidate ids of a path, shortest first
}

// NewIDIndex indexes the spec files among paths, which must be sorted.
func NewIDIndex(paths []repo.Path) *IDIndex {
	r := &IDIndex{make(map[string][]repo.Path), make(map[repo.Path][]string)}
	for _, p := range paths {
		if !parse.IsSpec(p) {
			continue
		}
		candidates := parse.CandidateIDs(p)
		r.byPath[p] = candidates
		for _, candidate := range candidates {
			r.byID[candidate] = append(r.byID[candidate], p)
		}
	}
	return r
}

// CandidatePaths returns the paths of all specs that influence which spec has an id, sorted.
func (i *IDIndex) CandidatePaths(id string) []repo.Path {
	found := make(map[repo.Path]bool)
	asked := make(map[string]bool)
	todo := numbered(norm.NFC.String(id))
	for len(todo) > 0 {
		candidate := todo[0]
		todo = todo[1:]
		if asked[candidate] {
			continue
		}
		asked[candidate] = true
		for _, p := range i.byID[candidate] {
			found[p] = true
			for _, shorter := range i.byPath[p] {
				if shorter == candidate {
					break
				}
				todo = append(todo, shorter)
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// numbered returns the candidate ids that may have led to an id: the id itself and, if it ends in a number, the id
// without the number and with lower numbers.
func numbered(id string) []string {
	candidates := []string{id}
	i := strings.LastIndexByte(id, '-')
	if i < 0 {
		return candidates
	}
	last, err := strconv.Atoi(id[i+1:])
	if err != nil || last < 2 || last > maxNumbered {
		return candidates
	}
	candidates = append(candidates, id[:i])
	for n := 2; n < last; n++ {
		candidates = append(candidates, id[:i+1]+strconv.Itoa(n))
	}
	return candidates
}

// maxNumbered is the highest number at the end of an id that acks support.
const maxNumbered = 1000

// specWithID returns the path that has an id if only the given specs exist, "" without one. The paths are sorted.
func specWithID(id string, there []repo.Path) repo.Path {
	nodes := make([]*parse.Node, len(there))
	for i, p := range there {
		nodes[i] = &parse.Node{Path: p}
	}
	parse.AssignIDs(nodes, make(map[string]bool, len(nodes)))
	id = norm.NFC.String(id)
	for _, n := range nodes {
		if n.ID == id {
			return n.Path
		}
	}
	return ""
}
