package app

import (
	"context"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
)

// CheckReceipt checks a receipt of a file, or of a directory where no file has one of
// that name.
func (w *workspace) CheckReceipt(ctx context.Context, text string) (*registry.ReceiptCheck, error) {
	out, err := w.registry.CheckReceipt(ctx, text)
	if err != nil || !out.Elsewhere {
		return out, err
	}
	receipt, err := fresh.ParseReceipt(text)
	if err != nil {
		return nil, err
	}
	record, err := w.store.Kept(ctx, receipt.Record)
	if err != nil {
		return nil, err
	}
	if record == nil {
		return out, w.checkBasis(ctx, receipt, out)
	}
	out.RecordHere, out.Hint = true, ""
	if record.Basis.Digest() != receipt.Basis {
		out.Because([]string{"basis_is_not_the_records"}, nil)
		return out, nil
	}
	dir := subjectDir(receipt)
	out.Text = record.Text
	here, err := w.Survey(nil).Holds(ctx, record, dir)
	if err != nil {
		return nil, err
	}
	then, err := w.heldAt(ctx, receipt.Commit, func(s *survey.Survey) (survey.RecordCheck, error) { return s.Holds(ctx, record, dir) })
	if err != nil {
		return nil, err
	}
	out.Verdict, out.Here, out.AtCommit = here.State, here.State, then.State
	out.Because(here.Reasons, then.Reasons)
	out.Details = here.Details
	return out, nil
}

// subjectDir is the directory that a receipt is about.
func subjectDir(receipt fresh.Receipt) repo.Path {
	if receipt.Subject == repo.DirLabel("") {
		return ""
	}
	return receipt.Subject
}

// checkBasis checks the receipt of a directory whose record is not here, by the digest of
// what it was written from.
func (w *workspace) checkBasis(ctx context.Context, receipt fresh.Receipt, out *registry.ReceiptCheck) error {
	dir := subjectDir(receipt)
	here, err := w.Survey(nil).HoldsBasis(ctx, receipt.Basis, dir)
	if err != nil {
		return err
	}
	then, err := w.heldAt(ctx, receipt.Commit, func(s *survey.Survey) (survey.RecordCheck, error) { return s.HoldsBasis(ctx, receipt.Basis, dir) })
	if err != nil {
		return err
	}
	out.Verdict, out.Here, out.AtCommit = here.State, here.State, then.State
	out.Because(append([]string{registry.ReasonNoRecord}, here.Reasons...), then.Reasons)
	out.Details = here.Details
	return nil
}

// heldAt asks whether something held for a directory as a commit has it.
func (w *workspace) heldAt(ctx context.Context, commit repo.ID, holds func(*survey.Survey) (survey.RecordCheck, error)) (survey.RecordCheck, error) {
	if commit.IsZero() {
		return survey.RecordCheck{Reasons: []string{"no_commit_yet"}}, nil
	}
	if _, ok, err := w.git.Resolve(ctx, commit.String()); err != nil || !ok {
		return survey.RecordCheck{Reasons: []string{"commit_not_here"}}, ctx.Err()
	}
	return holds(w.surveyOf(&commitTree{w: w, commit: commit}, nil))
}
