package survey

import (
	"cmp"
	"slices"
)

// inOrder returns directories in the order of work: by band, and within a band in the given order, in which
// subdirectories come first. Subdirectories come first in the result too, because the band of a directory is never
// before that of its children.
func inOrder(order []*Directory) []*Directory {
	sorted := slices.Clone(order)
	slices.SortStableFunc(sorted, func(a, b *Directory) int { return cmp.Compare(a.band, b.band) })
	return sorted
}
