package board

import (
	"context"

	"ken/internal/docs"
)

// Documents counts the mentions in documents.
type Documents struct {
	Documents int
	Mentions  int
	Hold      int
	Wrong     int // mentions that ken docs lists
	Report    *docs.Report
}

// documents reads the mentions in documents. It returns nil if there is no report yet.
func (s *Source) documents(ctx context.Context) (*Documents, error) {
	rep, err := s.Documents(ctx)
	if err != nil || rep == nil {
		return nil, err
	}
	counts := rep.Counts()
	d := &Documents{Documents: len(rep.Documents), Hold: counts[docs.Holds], Wrong: len(rep.Stale()), Report: rep}
	for _, n := range counts {
		d.Mentions += n
	}
	return d, nil
}
