package survey

import (
	"slices"

	"ken/internal/english"
	"ken/internal/repo"
)

// A partialAnswer is a directory that a model could not finish.
type partialAnswer struct {
	path  repo.Path
	again bool // an earlier run could not finish it either
}

// triedPartial reports whether this run has a partial summary from the present basis of a
// directory. The run does not ask for it again; the next run does, once.
func (r *run) triedPartial(s *DirStatus) bool {
	if !s.hasPartialSummary() {
		return false
	}
	_, ok := r.partial[r.basis(s).Digest()]
	return ok
}

// remarkPartial names the directories that the model could not finish.
func (r *run) remarkPartial() {
	var first, again []string
	for _, p := range r.partial {
		name := repo.DirLabel(p.path).String()
		if p.again {
			again = append(again, name)
		} else {
			first = append(first, name)
		}
	}
	if len(first) > 0 {
		r.result.Remarks = append(r.result.Remarks, "the model could not finish "+names(first)+
			": the summary is stored as partial, and the next run asks once more")
	}
	if len(again) > 0 {
		r.result.Remarks = append(r.result.Remarks, "the model could not finish "+names(again)+
			" the second time: the summary stays partial, and ken asks again when the content changes")
	}
}

// maxNames is the most directories that a remark names.
const maxNames = 5

// names lists directories for a remark.
func names(list []string) string {
	slices.Sort(list)
	return english.First(slices.Compact(list), maxNames)
}
