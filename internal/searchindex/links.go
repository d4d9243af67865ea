package searchindex

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

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

// LikelyPairs returns the pairs of files of which one uses the other, exact or likely. The used file is in a
// directory and its name matches one of the globs.
func (x *Index) LikelyPairs(ctx context.Context, dir repo.Path, globs []string) (list []Pair, err error) {
	x.conn.SetInterrupt(ctx.Done())
	for _, glob := range globs {
		err = sqlitex.Execute(x.conn, `
			SELECT source.path, target.path FROM (
				SELECT DISTINCT edge.source AS s, edge.target AS t FROM path JOIN edge ON edge.target = path.id
				WHERE path.path GLOB ?1 AND path.path GLOB ?2 AND edge.source <> edge.target
			) JOIN path AS source ON source.id = s JOIN path AS target ON target.id = t`, &sqlitex.ExecOptions{
			Args: []any{globBelow(dir), glob},
			ResultFunc: func(s *sqlite.Stmt) error {
				list = append(list, Pair{repo.Path(s.ColumnText(0)), repo.Path(s.ColumnText(1))})
				return nil
			},
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// CommitsLargerThan counts the commits that touched more than the given number of files.
func (x *Index) CommitsLargerThan(ctx context.Context, files int) (n int, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT count(*) FROM entry WHERE files > ?1`, &sqlitex.ExecOptions{
		Args:       []any{int64(files)},
		ResultFunc: func(s *sqlite.Stmt) error { n = s.ColumnInt(0); return nil },
	})
	return n, err
}
