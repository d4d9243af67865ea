package share

import (
	"context"

	"ken/internal/repo"
)

// A Size is how much there is in a ledger.
type Size struct {
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
	Budget  int64 `json:"budget"`
}

// Over reports whether that is more than it should be.
func (s Size) Over() bool { return s.Bytes > s.Budget }

func (s *Share) size(st *state) Size {
	return Size{st.records, st.bytes, s.opts.Policy.budget()}
}

// count counts what a state has.
func (s *Share) count(ctx context.Context, st *state) error {
	changes, err := s.ledger.Differences(ctx, repo.ID{}, st.tip)
	if err != nil {
		return err
	}
	var ids []repo.ID
	for _, c := range changes {
		if _, ok := recordAt(c.Path); ok && c.NewMode == repo.Regular && st.quarantined[c.Path] == "" {
			ids = append(ids, c.New)
		}
	}
	st.records, st.bytes = len(ids), 0
	return s.ledger.EachBlob(ctx, ids, func(_ int, _ []byte, size int64) { st.bytes += max(size, 0) })
}
