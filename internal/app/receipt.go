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
	if err != nil || record == nil {
		return out, err
	}
	if record.Basis.Digest() != receipt.Basis {
		out.Because([]string{"basis_is_not_the_records"}, nil)
		return out, nil
	}
	dir := receipt.Subject
	if dir == survey.Label("") {
		dir = ""
	}
	out.Text = record.Text
	here, err := w.Survey(nil).Holds(ctx, record, dir)
	if err != nil {
		return nil, err
	}
	then, err := w.heldAt(ctx, record, dir, receipt.Commit)
	if err != nil {
		return nil, err
	}
	out.Verdict, out.Here, out.AtCommit = here.State, here.State, then.State
	out.Because(here.Reasons, then.Reasons)
	out.Details = here.Details
	return out, nil
}

// heldAt says whether a record held for a directory as a commit has it.
func (w *workspace) heldAt(ctx context.Context, record *survey.Record, dir repo.Path, commit repo.ID) (survey.Held, error) {
	if commit.IsZero() {
		return survey.Held{Reasons: []string{"no_commit_yet"}}, nil
	}
	if _, ok, err := w.git.Resolve(ctx, commit.String()); err != nil || !ok {
		return survey.Held{Reasons: []string{"commit_not_here"}}, ctx.Err()
	}
	return w.surveyOf(&commitTree{w: w, commit: commit}, nil).Holds(ctx, record, dir)
}
