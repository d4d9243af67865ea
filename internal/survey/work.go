package survey

import (
	"cmp"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// wanted reports whether a writer with a recipe should describe a directory. Models and agents describe
// directories that are stale or have only an outline. A writer of outlines replaces stale
// outlines and those of another recipe, never a summary of a model or an agent.
func wanted(s *DirStatus, recipe string) bool {
	if s.Verdict.State == fresh.Stale || s.Verdict.State == fresh.None {
		return !makesOutlines(recipe) || s.Record == nil || s.Record.IsOutline()
	}
	return s.Verdict.State == fresh.Fresh && s.Record.IsOutline() && recipe != s.Record.Recipe
}

// makesOutlines reports whether a recipe is that of outlines.
func makesOutlines(recipe string) bool { return strings.HasPrefix(recipe, store.OutlineRecipe) }

// sameInputAsBefore reports whether a writer would get the same input as before, so that asking it again is useless.
// The directories below could not be described or read, or the same model already gave two partial answers.
func (ts *treeStatus) sameInputAsBefore(s *DirStatus, recipe string) bool {
	if s.hasPartialSummary() && s.Record.Recipe != recipe {
		return false
	}
	return ts.nothingNew(s) && (makesOutlines(recipe) || !s.Record.IsOutline())
}

// nothingNew reports whether a stale or partial text was already written from everything that a
// writer would get now.
func (ts *treeStatus) nothingNew(s *DirStatus) bool {
	if s.Verdict.Reason == fresh.Partial {
		return s.retried
	}
	changedBelow := s.Verdict.Reason == fresh.StaleBelow || s.Verdict.Reason == fresh.Incomplete
	mayFinish := changedBelow && s.Record.Partial && !s.retried
	return changedBelow && !mayFinish && s.Record.Basis.Digest() == ts.basis(s).Digest()
}

// work returns the directories that a writer would describe, among those that wants accepts. It
// leaves out a directory for which the writer would get the same input as before. It keeps such a
// directory if one below it will be described, because that can change the input.
func (ts *treeStatus) work(recipe string, wants func(*DirStatus) bool) map[*Directory]bool {
	work := make(map[*Directory]bool)
	for _, d := range ts.order { // each after all below it
		below := slices.ContainsFunc(d.Children, func(c *Directory) bool { return work[c] })
		if wants(ts.status[d]) && (below || !ts.sameInputAsBefore(ts.status[d], recipe)) {
			work[d] = true
		}
	}
	return work
}

// needing returns the directories within a path that need a summary by a writer with a recipe.
func (ts *treeStatus) needing(recipe string, within repo.Path) map[*Directory]bool {
	return ts.work(recipe, func(s *DirStatus) bool { return s.Dir.Path.Under(within) && wanted(s, recipe) })
}

// inOrder returns directories in the order of work: by band, and within a band in the given order, in which
// subdirectories come first. Subdirectories come first in the result too, because the band of a directory is never
// before that of its children.
func inOrder(order []*Directory) []*Directory {
	sorted := slices.Clone(order)
	slices.SortStableFunc(sorted, func(a, b *Directory) int { return cmp.Compare(a.band, b.band) })
	return sorted
}
