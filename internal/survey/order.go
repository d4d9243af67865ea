package survey

import (
	"cmp"
	"slices"
)

// inOrder returns directories in the order in which they are worked on: by band, and
// within it as they come, which is every one after all below it. The band of a
// directory is never before that of its children, so that holds for all of them.
func inOrder(order []*Directory) []*Directory {
	sorted := slices.Clone(order)
	slices.SortStableFunc(sorted, func(a, b *Directory) int { return cmp.Compare(a.band, b.band) })
	return sorted
}
