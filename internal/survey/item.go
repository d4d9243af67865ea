package survey

import (
	"context"
	"strings"

	"ken/internal/survey/describe"
)

// child returns the directory as a child in a prompt.
func (s *DirStatus) child() describe.Child {
	c := describe.Child{Path: s.Dir.Path, Reason: strings.Join(s.Reasons, ", ")}
	switch {
	case s.Verdict == Excluded:
		c.Status = describe.ChildExcluded
	case s.Record == nil && s.Verdict == Failed:
		c.Status = describe.ChildFailed
	case s.Record == nil:
		c.Status = describe.ChildPending
		if c.Reason == "" {
			c.Reason = "pending"
		}
	case s.Verdict == Failed && !s.hasSummary() && !s.outlined:
		c.Status = describe.ChildFailed
	case s.Verdict == Unknown && !s.hasSummary():
		c.Status = describe.ChildPending
	case s.Verdict != Fresh && !s.hasSummary() && !s.outlined:
		c.Status, c.Reason = describe.ChildPending, "pending" // its outline is outdated
	case s.Verdict == Fresh || s.outlined:
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
	if s.Verdict != Fresh && s.hasSummary() { // an outdated outline is of no use to a writer
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
