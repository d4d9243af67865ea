package share

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ken/internal/repo"
)

// A Brought is how many records somebody brought that were written in another name. An
// author is what a record says, and whoever may push can have it say anything; who
// committed it is what git says.
type Brought struct {
	Author    string `json:"author"`
	Committer string `json:"committer"` // Name <email>
	Records   int    `json:"records"`
}

// brought says who brought records that name another author, by their authors. They are
// those that a tip has and another one does not lead to.
func (s *Share) brought(ctx context.Context, known, tip repo.ID, authors map[Name]string) ([]Brought, error) {
	if len(authors) == 0 {
		return nil, nil
	}
	committers := make(map[Name]Voucher) // who brought each first
	err := s.ledger.Introductions(ctx, tip, known, false, func(v Voucher, changes []repo.Change) error {
		for _, c := range changes {
			n, ok := recordAt(c.Path)
			if first, there := committers[n]; ok && !c.New.IsZero() && (!there || v.At.Before(first.At)) {
				committers[n] = v
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	type pair struct{ author, committer string }
	counts := make(map[pair]int)
	for n, author := range authors {
		if v, ok := committers[n]; ok && !sameName(author, v.Committer) {
			counts[pair{author, v.Committer}]++
		}
	}
	var list []Brought
	for p, n := range counts {
		list = append(list, Brought{p.author, p.committer, n})
	}
	slices.SortFunc(list, func(a, b Brought) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), strings.Compare(a.Committer, b.Committer), strings.Compare(a.Author, b.Author))
	})
	return list, nil
}

// sameName reports whether an author, who may be named without an address, is who committed
// something.
func sameName(author, committer string) bool {
	name, _, _ := strings.Cut(committer, " <")
	return author == committer || author == name
}
