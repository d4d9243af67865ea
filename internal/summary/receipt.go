package summary

import (
	"context"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/tree"
)

// CheckReceipt checks the receipt of a file, or of a directory if no file has that record.
func (s *Summaries) CheckReceipt(ctx context.Context, text string) (*registry.ReceiptCheck, error) {
	out, err := s.Registry.CheckReceipt(ctx, text)
	if err != nil || !out.MaybeDirectory {
		return out, err
	}
	receipt, err := fresh.ParseReceipt(text)
	if err != nil {
		return nil, err
	}
	record, err := s.Sources.Store.DirRecord(ctx, receipt.Record)
	if err != nil {
		return nil, err
	}
	if record == nil {
		return out, s.checkBasis(ctx, receipt, out)
	}
	out.RecordHere, out.Hint = true, ""
	if record.Basis.Digest() != receipt.Basis {
		out.SetReasons([]string{"basis_is_not_the_records"}, nil)
		return out, nil
	}
	dir := subjectDir(receipt)
	out.Text = record.Text
	here, err := s.Surveys.WorkTree(nil).CheckRecord(ctx, record, dir)
	if err != nil {
		return nil, err
	}
	then, err := s.checkAt(ctx, receipt.Commit, func(sv *survey.Survey) (survey.RecordCheck, error) { return sv.CheckRecord(ctx, record, dir) })
	if err != nil {
		return nil, err
	}
	out.Verdict, out.Here, out.AtCommit = here.State, here.State, then.State
	out.SetReasons(here.Reasons, then.Reasons)
	out.Details = here.Details
	return out, nil
}

// subjectDir returns the directory of a receipt.
func subjectDir(receipt fresh.Receipt) repo.Path {
	if receipt.Subject == repo.DirLabel("") {
		return ""
	}
	return receipt.Subject
}

// checkBasis checks the receipt of a directory whose record this clone does not have, by the digest of its basis.
func (s *Summaries) checkBasis(ctx context.Context, receipt fresh.Receipt, out *registry.ReceiptCheck) error {
	dir := subjectDir(receipt)
	here, err := s.Surveys.WorkTree(nil).CheckBasis(ctx, receipt.Basis, dir)
	if err != nil {
		return err
	}
	then, err := s.checkAt(ctx, receipt.Commit, func(sv *survey.Survey) (survey.RecordCheck, error) { return sv.CheckBasis(ctx, receipt.Basis, dir) })
	if err != nil {
		return err
	}
	out.Verdict, out.Here, out.AtCommit = here.State, here.State, then.State
	out.SetReasons(append([]string{registry.ReasonNoRecord}, here.Reasons...), then.Reasons)
	out.Details = here.Details
	return nil
}

// checkAt checks a record or a basis against the tree of a commit.
func (s *Summaries) checkAt(ctx context.Context, commit repo.ID, check func(*survey.Survey) (survey.RecordCheck, error)) (survey.RecordCheck, error) {
	if commit.IsZero() {
		return survey.RecordCheck{Reasons: []string{"no_commit_yet"}}, nil
	}
	if _, ok, err := s.Sources.Workspace.Git.Resolve(ctx, commit.String()); err != nil || !ok {
		return survey.RecordCheck{Reasons: []string{"commit_not_here"}}, ctx.Err()
	}
	return check(s.Surveys.ForTree(tree.NewCommitTree(s.Sources, commit), nil))
}
