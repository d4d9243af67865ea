package searchindex

import (
	"cmp"
	"slices"
	"strings"

	"ken/internal/repo"
)

// A Link combines all edges between two files, from the view of one of them.
type Link struct {
	Other   repo.Path
	Edges   []Edge
	Symbols []string // of the used file, most used first
	Lines   []int    // in the using file, sorted
	Places  int      // more than Lines if not all lines are known
	Exact   bool     // at least one edge is exact
	Via     repo.Path
}

// Links groups edges by the file that end returns: exact links first, then those with more
// places.
func Links(edges []Edge, end func(Edge) repo.Path) []Link {
	at := make(map[repo.Path]int)
	var list []Link
	for _, e := range edges {
		p := end(e)
		i, known := at[p]
		if !known {
			i = len(list)
			at[p] = i
			list = append(list, Link{Other: p})
		}
		l := &list[i]
		l.Edges = append(l.Edges, e)
		l.Places += len(e.Lines) + e.More
		l.Lines = append(l.Lines, e.Lines...)
		if e.Exact && !l.Exact || l.Via == "" {
			l.Via = e.Via
		}
		l.Exact = l.Exact || e.Exact
	}
	for i := range list {
		slices.Sort(list[i].Lines)
		list[i].Lines = slices.Compact(list[i].Lines)
		list[i].Symbols = symbolsByUse(list[i].Edges)
	}
	slices.SortStableFunc(list, func(a, b Link) int {
		if a.Exact != b.Exact {
			if a.Exact {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Places, a.Places), strings.Compare(string(a.Other), string(b.Other)))
	})
	return list
}

// symbolsByUse returns the symbols of edges, those with most places first.
func symbolsByUse(edges []Edge) []string {
	places := make(map[string]int)
	var names []string
	for _, e := range edges {
		if e.Symbol == "" {
			continue
		}
		if _, known := places[e.Symbol]; !known {
			names = append(names, e.Symbol)
		}
		places[e.Symbol] += len(e.Lines) + e.More
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(places[b], places[a]), strings.Compare(a, b))
	})
	return names
}
