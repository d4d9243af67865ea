package find

import (
	"cmp"
	"context"
	"slices"

	"ken/internal/repo"
	"ken/internal/searchindex"
)

// PlainSearch returns the files whose text contains the words of a query, best first by BM25. It is the baseline
// for comparisons with [Search], and uses no paths, symbols, summaries, commits and uses.
func PlainSearch(ctx context.Context, x *searchindex.Index, q Query) ([]repo.Path, error) {
	hits, err := x.Match(ctx, searchindex.InText, terms(q.Words), fieldHits)
	if err != nil {
		return nil, err
	}
	var list []repo.Path
	for _, h := range hits {
		if len(list) == cmp.Or(q.Limit, DefaultLimit) {
			break
		}
		f, err := x.FileAt(ctx, h.Row)
		if err != nil {
			return nil, err
		}
		if len(q.Kinds) == 0 || slices.Contains(q.Kinds, f.Kind) {
			list = append(list, f.Path)
		}
	}
	return list, nil
}
