package board

import (
	"context"

	"ken/internal/docs"
)

// Documents counts the mentions in documents.
type Documents struct {
	Documents int `json:"documents"`
	Mentions  int `json:"mentions"`
	Hold      int `json:"hold"`
	Wrong     int `json:"wrong"` // mentions that ken docs lists

	// Report has the mentions. It is not part of the JSON: ken docs --json prints it.
	Report *docs.Report `json:"-"`
}

// documents reads the mentions in documents.
func (s *Source) documents(ctx context.Context) (*Documents, error) {
	rep, err := s.Documents(ctx)
	if err != nil {
		return nil, err
	}
	counts := rep.Counts()
	d := &Documents{Documents: len(rep.Documents), Hold: counts[docs.Holds], Wrong: len(rep.Shown()), Report: rep}
	for _, n := range counts {
		d.Mentions += n
	}
	return d, nil
}
