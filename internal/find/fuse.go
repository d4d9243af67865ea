package find

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// Limits of a search with phrasings. Each word costs a search of the index.
const (
	maxPhrasings = 8
	maxWords     = 100  // of a phrasing
	maxWordBytes = 1000 // a longer one is no word
)

// FindAny searches for each of some phrasings of one question, with the other fields of q, and fuses the answers: a place
// that several phrasings find comes before a place that one of them finds as well. Phrasings that are all single words
// are the words of one phrasing.
func (f *Finder) FindAny(ctx context.Context, phrasings []string, q Query, at repo.ID) (*Answer, error) {
	if !slices.ContainsFunc(phrasings, func(p string) bool { return len(strings.Fields(p)) > 1 }) {
		phrasings = []string{strings.Join(phrasings, " ")}
	}
	var left []fault.Unknown
	if n := len(phrasings); n > maxPhrasings {
		phrasings = phrasings[:maxPhrasings]
		left = append(left, fault.Unknown{Why: fmt.Sprintf("only the first %d of %d phrasings were searched", maxPhrasings, n)})
	}
	limit := cmp.Or(q.Limit, defaultLimit)
	if len(phrasings) > 1 {
		q.Limit = 3 * limit // a place may be lower in each answer than in the fused one
	}
	var answers []*Answer
	for _, p := range phrasings {
		words := strings.Fields(p)
		q.Words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return len(w) > maxWordBytes })
		q.Words = q.Words[:min(len(q.Words), maxWords)]
		if len(q.Words) < len(words) {
			left = append(left, fault.Unknown{Why: fmt.Sprintf("only %d of %d words were searched", len(q.Words), len(words))})
		}
		a, err := f.Find(ctx, q, at)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	fused := fuse(answers, limit)
	fused.Unknown = append(fused.Unknown, left...)
	return fused, nil
}

// fuse combines answers by the reciprocal ranks of their places. A place looks as in the answer that ranks it best.
func fuse(answers []*Answer, limit int) *Answer {
	if len(answers) == 1 {
		return answers[0]
	}
	const flat = 60 // ranks below it count little less than the first, so that agreement decides
	fused := &Answer{At: answers[0].At, Places: []Place{}, Unmatched: []string{}}
	var queries []string
	scores := make(map[repo.Path]float64)
	best := make(map[repo.Path]int)
	shown := make(map[repo.Path]Place)
	for _, a := range answers {
		queries = append(queries, a.Query)
		for rank, p := range a.Places {
			scores[p.Path] += 1 / float64(flat+rank+1)
			if before, seen := best[p.Path]; !seen || rank < before {
				best[p.Path] = rank
				shown[p.Path] = p
			}
		}
		fused.Unmatched = appendNew(fused.Unmatched, a.Unmatched)
		fused.Removed = appendNew(fused.Removed, a.Removed)
		fused.Unknown = appendNew(fused.Unknown, a.Unknown)
	}
	fused.Query = strings.Join(queries, " | ")
	for path, p := range shown {
		p.Score = scores[path]
		fused.Places = append(fused.Places, p)
	}
	slices.SortFunc(fused.Places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(best[a.Path], best[b.Path]), cmp.Compare(a.Path, b.Path))
	})
	fused.Places = fused.Places[:min(len(fused.Places), limit)]
	return fused
}

// appendNew appends the elements of more that a list does not have.
func appendNew[T comparable](list, more []T) []T {
	for _, e := range more {
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}
