package registry

import (
	"context"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A ReceiptCheck says whether a receipt held at its commit, and whether it holds in this clone.
type ReceiptCheck struct {
	Verdict  fresh.State `json:"verdict"` // in this clone
	Reasons  []string    `json:"reasons"`
	Subject  string      `json:"subject"`
	B64      string      `json:"subject_b64,omitempty"`
	AtCommit fresh.State `json:"at_commit"`
	Here     fresh.State `json:"here"`
	Commit   repo.ID     `json:"commit"`
	Text     string      `json:"text,omitempty"`
	Details  []string    `json:"details,omitempty"` // the reasons in words, for a directory
	// RecordHere says that this clone has the record of the receipt. If not, the check compares the content that
	// the record was written from, and there is no summary to show.
	RecordHere bool   `json:"record_here"`
	Hint       string `json:"hint,omitempty"` // how to get the record

	// ReasonsHere and ReasonsAtCommit are the reasons for this clone and for the commit.
	ReasonsHere     []string `json:"-"`
	ReasonsAtCommit []string `json:"-"`

	// MaybeDirectory says that no file's record has that name and that the subject is not a file: it may be a directory.
	MaybeDirectory bool `json:"-"`
}

// ReasonNoRecord is the reason for a receipt whose record is not in this clone.
const ReasonNoRecord = "record_not_here"

// SetPullHint notes that the record of the receipt is not in this clone, and how to get it.
func (c *ReceiptCheck) SetPullHint() {
	c.Hint = "if the record was shared, fetch it with: ken share pull"
}

// SetReasons sets the reasons for this clone and for the commit.
func (c *ReceiptCheck) SetReasons(here, then []string) {
	c.ReasonsHere, c.ReasonsAtCommit = here, then
	c.Reasons = append(append([]string{}, here...), then...)
}

// CheckReceipt checks a receipt against this clone, offline. If something cannot be checked, the verdict is unknown
// with the reason.
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
		return out, r.checkContent(ctx, receipt, out)
	}
	out.RecordHere = true
	if record.Basis.Digest() != receipt.Basis {
		out.SetReasons([]string{"basis_is_not_the_records"}, nil)
		return out, nil
	}
	out.Text = record.Text
	_, subjects, err := r.examine(ctx, []repo.Path{receipt.Subject}, false)
	if err != nil {
		return nil, err
	}
	here, why, err := r.holds(ctx, record, &subjects[0])
	if err != nil {
		return nil, err
	}
	then, whyThen := r.heldAt(ctx, record, receipt, subjects[0].now.Marks.Has(store.MarkRaw))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out.Verdict, out.Here, out.AtCommit = here, here, then
	out.SetReasons(why, whyThen)
	return out, nil
}

// checkContent checks a receipt whose record is not in this clone: it compares the digest of the content that the
// record was written from.
func (r *Registry) checkContent(ctx context.Context, receipt fresh.Receipt, out *ReceiptCheck) error {
	out.SetPullHint()
	_, subjects, err := r.examine(ctx, []repo.Path{receipt.Subject}, false)
	if err != nil {
		return err
	}
	s := &subjects[0]
	named := func(c repo.Content) bool {
		return fresh.Basis{Content: repo.Content{ID: c.ID}}.Digest() == receipt.Basis && !c.ID.IsZero() ||
			fresh.Basis{Content: repo.Content{MD5: c.MD5}}.Digest() == receipt.Basis && !c.MD5.IsZero()
	}
	var then repo.ID
	inCommit := false
	if !receipt.Commit.IsZero() {
		// If the commit is missing, heldAt reports it.
		then, inCommit, _ = r.git.At(ctx, receipt.Commit, receipt.Subject)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	record := fresh.Record{}
	switch {
	case s.readable() && named(s.now.Content):
		record.Basis.Content = s.now.Content
	case inCommit && named(repo.Content{ID: then}):
		record.Basis.Content.ID = then
	case !s.tracked:
		out.SetReasons([]string{ReasonNoRecord}, nil)
		out.MaybeDirectory = true
		return nil
	}
	if record.Basis.IsZero() {
		// The content of the record is not found, so the file has other content now.
		out.SetReasons([]string{ReasonNoRecord}, nil)
		if state, _, why := r.verdict(s); !s.readable() {
			out.Verdict, out.Here = state, state
			out.SetReasons(append([]string{ReasonNoRecord}, why...), nil)
		} else if !s.now.Content.ID.IsZero() && !s.now.Content.MD5.IsZero() {
			out.Verdict, out.Here = fresh.Stale, fresh.Stale
			out.SetReasons([]string{ReasonNoRecord, "content_changed"}, nil)
		}
		if inCommit {
			out.AtCommit = fresh.Stale
			out.SetReasons(out.ReasonsHere, []string{"other_content_in_commit"})
		}
		return nil
	}
	here, why, err := r.holds(ctx, record, s)
	if err != nil {
		return err
	}
	at, whyThen := r.heldAt(ctx, record, receipt, s.now.Marks.Has(store.MarkRaw))
	if err := ctx.Err(); err != nil {
		return err
	}
	out.Verdict, out.Here, out.AtCommit = here, here, at
	out.SetReasons(append([]string{ReasonNoRecord}, why...), whyThen)
	return nil
}

// holds judges a record by the current content of its subject. A difference that the policy does not count leaves
// it fresh.
func (r *Registry) holds(ctx context.Context, record fresh.Record, s *subject) (fresh.State, []string, error) {
	if s.readable() {
		row := s.now
		if record.Basis.Key() != row.SummaryBasis {
			c := choice{
				rows:   []store.FileRow{row},
				before: func(int) store.FileRow { return store.FileRow{} },
				bytes:  func(int) repo.ID { return repo.ID{} },
			}
			if err := r.nearest(ctx, c, []int{0}, [][]store.RecordHeader{{{Basis: record.Basis}}}); err != nil {
				return fresh.Unknown, nil, err
			}
			row = c.rows[0]
		}
		switch state, _ := r.judge(row); state {
		case fresh.Fresh:
			return state, nil, nil
		case fresh.Stale:
			return state, []string{"content_changed"}, nil
		default:
		}
	}
	state, _, why := r.verdict(s)
	return state, why, nil
}

// heldAt judges a record by the content that its subject has in the receipt's commit. A commit has neither raw
// content nor an md5.
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
