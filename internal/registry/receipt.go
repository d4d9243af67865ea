package registry

import (
	"context"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
)

// A ReceiptCheck answers the two questions a receipt raises: did it hold at its
// commit, and does it hold here.
type ReceiptCheck struct {
	Verdict  fresh.State `json:"verdict"` // the one for here
	Reasons  []string    `json:"reasons"`
	Subject  string      `json:"subject"`
	B64      string      `json:"subject_b64,omitempty"`
	AtCommit fresh.State `json:"at_commit"`
	Here     fresh.State `json:"here"`
	Commit   repo.ID     `json:"commit"`
	Text     string      `json:"text,omitempty"`
	Details  []string    `json:"details,omitempty"` // what reasons mean here, of a directory

	// ReasonsHere and ReasonsThen are the reasons for here and those for the commit.
	ReasonsHere []string `json:"-"`
	ReasonsThen []string `json:"-"`

	// Elsewhere says that no file's record has that name; a directory's may.
	Elsewhere bool `json:"-"`
}

// Because gives the reasons for here and those for the commit.
func (c *ReceiptCheck) Because(here, then []string) {
	c.ReasonsHere, c.ReasonsThen = here, then
	c.Reasons = append(append([]string{}, here...), then...)
}

// CheckReceipt checks a receipt against this clone, offline. What cannot be
// checked is unknown, with the reason.
func (r *Registry) CheckReceipt(ctx context.Context, s string) (*ReceiptCheck, error) {
	receipt, err := fresh.ParseReceipt(s)
	if err != nil {
		return nil, &fault.Error{
			Kind: fault.Usage,
			Hint: "copy the receipt from: ken summary show PATH --json, or: ken survey show DIR --json",
			Err:  err,
		}
	}
	name := receipt.Subject.JSON()
	out := &ReceiptCheck{Reasons: []string{}, Subject: name.Path, B64: name.B64, Commit: receipt.Commit}
	record, ok, err := r.store.Record(ctx, receipt.Record)
	if err != nil {
		return nil, err
	}
	if !ok {
		out.Because([]string{"record_not_here"}, nil)
		out.Elsewhere = true
		return out, nil
	}
	if record.Basis.Digest() != receipt.Basis {
		out.Because([]string{"basis_is_not_the_records"}, nil)
		return out, nil
	}
	out.Text = record.Text
	_, subjects, err := r.examine(ctx, []repo.Path{receipt.Subject}, false)
	if err != nil {
		return nil, err
	}
	here, why := r.holds(record, &subjects[0])
	then, whyThen := r.heldAt(ctx, record, receipt, subjects[0].now.Marks.Has(Raw))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out.Verdict, out.Here, out.AtCommit = here, here, then
	out.Because(why, whyThen)
	return out, nil
}

// holds says whether a record holds for what stands at its subject now.
func (r *Registry) holds(record fresh.Record, s *subject) (fresh.State, []string) {
	if s.readable() {
		row := s.now
		if row.About = record.Basis; record.Basis.Key() != s.now.About {
			row.Marks &^= graded | Spared // those are about another text
		}
		switch state, _ := r.judge(row); state {
		case fresh.Fresh:
			return state, nil
		case fresh.Stale:
			return state, []string{"content_changed"}
		default:
		}
	}
	state, _, why := r.verdict(s)
	return state, why
}

// heldAt says whether a record held for its subject as the receipt's commit has
// it. Raw content is not in any commit, and neither is an md5.
func (r *Registry) heldAt(ctx context.Context, record fresh.Record, receipt fresh.Receipt, raw bool) (fresh.State, []string) {
	if receipt.Commit.IsZero() {
		return fresh.Unknown, []string{"no_commit_yet"}
	}
	id, ok, err := r.git.At(ctx, receipt.Commit, receipt.Subject)
	switch {
	case err != nil:
		return fresh.Unknown, []string{"commit_not_here"}
	case !ok:
		return fresh.Gone, []string{"not_in_commit"}
	case record.Basis.Content.ID == id:
		return fresh.Fresh, nil
	case raw || record.Basis.Content.ID.IsZero():
		return fresh.Unknown, []string{"not_comparable_with_a_commit"}
	default:
		return fresh.Stale, []string{"other_content_in_commit"}
	}
}
