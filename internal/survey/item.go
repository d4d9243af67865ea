package survey

import (
	"context"
	"errors"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/workspace"
)

// An Item is a directory to describe, with all input of its summary.
type Item struct {
	Path     repo.Path
	About    string // description of the repository from the plan, "" without one
	Rank     Rank
	Basis    store.DirBasis
	Files    []ItemFile
	Own      OwnWords // its description in its own files
	Children []Child
	Old      *store.DirRecord // its previous summary, nil without one
	Changes  []string         // reasons why Old is stale
	Patches  []FilePatch      // changes of its own files since Old
	Absent   int              // number of files whose content is not in this clone
}

// An ItemFile is an own file of the directory.
type ItemFile struct {
	*workspace.File
	Outline *outline.Outline // nil without a grammar for the file
	Summary workspace.Summary
}

// A ChildStatus is the status of a child for a prompt.
type ChildStatus string

// The statuses of a child.
const (
	ChildSummary  ChildStatus = "summary"  // it has a fresh text
	ChildStale    ChildStatus = "stale"    // it has a text that may be stale
	ChildPending  ChildStatus = "pending"  // it has no summary yet
	ChildFailed   ChildStatus = "failed"   // a writer failed to describe it
	ChildExcluded ChildStatus = "excluded" // policy leaves it out
)

// A Child is a subdirectory in the prompt of its parent.
type Child struct {
	Path   repo.Path
	Status ChildStatus
	Reason string // why it has no fresh summary
	Text   string // its text, fresh or stale
}

// child returns the directory as a child in a prompt.
func (s *DirStatus) child() Child {
	c := Child{Path: s.Dir.Path, Reason: strings.Join(s.Reasons, ", ")}
	switch {
	case s.Verdict == Excluded:
		c.Status = ChildExcluded
	case s.Record == nil && s.Verdict == Failed:
		c.Status = ChildFailed
	case s.Record == nil:
		c.Status = ChildPending
		if c.Reason == "" {
			c.Reason = "pending"
		}
	case s.Verdict == Failed && !s.written() && !s.outlined:
		c.Status = ChildFailed
	case s.Verdict == Unknown && !s.written():
		c.Status = ChildPending
	case s.Verdict != Fresh && !s.written() && !s.outlined:
		c.Status, c.Reason = ChildPending, "pending" // its outline is outdated
	case s.Verdict == Fresh || s.outlined:
		c.Status, c.Text, c.Reason = ChildSummary, s.Record.Summary(), ""
	default:
		c.Status, c.Text = ChildStale, s.Record.Summary()
	}
	return c
}

// item collects the present input of a summary. It returns [workspace.ErrChanged] if a file has changed since the
// tree was judged.
func (ts *treeStatus) item(ctx context.Context, s *DirStatus) (*Item, error) {
	it := &Item{Path: s.Dir.Path, Rank: s.Dir.rank, Basis: ts.basis(s)}
	if ts.plan != nil {
		it.About = ts.plan.About
	}
	if s.Verdict != Fresh && s.written() { // an outdated outline is of no use to a writer
		it.Old, it.Changes = s.Record, s.Reasons
	}
	if len(s.Dir.Files) > 0 {
		shapes, err := ts.tree.Outlines(ctx, s.Dir.Files)
		if err != nil {
			return nil, err
		}
		summaries, err := ts.tree.Summaries(ctx, s.Dir.Files)
		if err != nil {
			return nil, err
		}
		for i, f := range s.Dir.Files {
			switch err := shapes[i].Err; {
			case errors.Is(err, workspace.ErrAbsent):
				it.Absent++
			case err != nil:
				return nil, err
			}
			it.Files = append(it.Files, ItemFile{f, shapes[i].Outline, summaries[i]})
			it.Basis.Files[i].Shape = store.ShapeOf(shapes[i].Outline)
		}
		if it.Patches, err = ts.patches(ctx, it); err != nil {
			return nil, err
		}
		if it.Own, err = ts.ownWords(ctx, it); err != nil {
			return nil, err
		}
	}
	for _, c := range s.children {
		it.Children = append(it.Children, c.child())
	}
	return it, nil
}

// checkUnchanged returns [workspace.ErrChanged] if a file of an item has changed. The writer may have read the file
// itself, later than the item.
func (s *Survey) checkUnchanged(ctx context.Context, it *Item) error {
	for _, f := range it.Files {
		if _, err := s.tree.Read(ctx, f.File, maxRead); errors.Is(err, workspace.ErrChanged) {
			return err
		}
	}
	return nil
}
