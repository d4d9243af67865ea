package survey

import (
	"context"
	"strings"

	"ken/internal/fresh"
	"ken/internal/survey/describe"
)

// child returns the directory as a child in a prompt. An outline that ken has just made is no text for a prompt: until
// a run stores it, the directory is pending.
func (s *DirStatus) child() describe.Child {
	c := describe.Child{Path: s.Dir.Path, Reason: strings.Join(s.Reasons, ", ")}
	switch {
	case s.Verdict.State == fresh.Excluded:
		c.Status = describe.ChildExcluded
	case s.Verdict.Reason == fresh.Failed && !s.hasSummary():
		c.Status = describe.ChildFailed
	case s.Verdict.State == fresh.Unknown && !s.hasSummary():
		c.Status = describe.ChildPending
	case s.outlined || s.Verdict.State != fresh.Fresh && !s.hasSummary():
		c.Status, c.Reason = describe.ChildPending, "pending"
	case s.Verdict.State == fresh.Fresh:
		c.Status, c.Text, c.Reason = describe.ChildSummary, s.Record.Summary(), ""
	default:
		c.Status, c.Text = describe.ChildStale, s.Record.Summary()
	}
	return c
}

// item collects the present input of a summary. It returns [workspace.ErrChanged] if a file has changed since the
// tree was judged.
func (ts *treeStatus) item(ctx context.Context, s *DirStatus) (*describe.Item, error) {
	it := &describe.Item{Path: s.Dir.Path, Shallow: s.Dir.rank == RankShallow, Basis: ts.basis(s)}
	if s.Verdict.State != fresh.Fresh && s.hasSummary() { // an outdated outline is of no use to a writer
		it.Old, it.Changes = s.Record, s.Reasons
	}
	err := it.ReadFiles(ctx, ts.tree, s.Dir.Files, ts.opts.StaleMentions)
	if err != nil {
		return nil, err
	}
	it.Patches, err = ts.patches(ctx, it)
	if err != nil {
		return nil, err
	}
	for _, c := range s.children {
		it.Children = append(it.Children, c.child())
	}
	return it, nil
}
