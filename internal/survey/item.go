package survey

import (
	"context"
	"errors"
	"strings"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
)

// An Item is a directory to be described, with all that its text is written from.
type Item struct {
	Path     repo.Path
	About    string // what the repository seems to be, "" when nobody has said
	Rank     Rank
	Basis    store.DirBasis
	Files    []ItemFile
	Own      OwnWords // what it says of itself
	Children []Child
	Old      *store.DirRecord // what was said of it before, nil for nothing
	Changes  []string         // since then
	Patches  []FilePatch      // of its own files that changed since then
	Absent   int              // files whose content nobody can see here
}

// An ItemFile is one of its own files.
type ItemFile struct {
	*File
	Outline *outline.Outline // nil when no grammar is for it
	Summary Summary
}

// A Summary is what is said of a file.
type Summary struct {
	Text  string
	State fresh.State
}

// A ChildStatus is what can be told of a child.
type ChildStatus string

// The statuses of a child.
const (
	ChildSummary  ChildStatus = "summary"  // its text holds
	ChildStale    ChildStatus = "stale"    // its text may not
	ChildPending  ChildStatus = "pending"  // nobody has described it yet
	ChildFailed   ChildStatus = "failed"   // somebody tried
	ChildExcluded ChildStatus = "excluded" // nobody will
)

// A Child is what a directory is told about one that lies in it, and never a lie.
type Child struct {
	Path   repo.Path
	Status ChildStatus
	Reason string // of all but a summary that holds
	Text   string // of a summary, stale or not
}

// child says what can be told of a directory.
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
		c.Status, c.Text, c.Reason = ChildSummary, s.Record.Words(), ""
	default:
		c.Status, c.Text = ChildStale, s.Record.Words()
	}
	return c
}

// item puts together what a text about a directory is written from now. If a file is not
// what was judged any more, there is no such text to be had: [ErrMoved].
func (j *judgement) item(ctx context.Context, s *DirStatus) (*Item, error) {
	it := &Item{Path: s.Dir.Path, Rank: s.Dir.rank, Basis: j.basis(s)}
	if j.plan != nil {
		it.About = j.plan.About
	}
	if s.Verdict != Fresh && s.written() { // an outline that is outdated tells a writer nothing
		it.Old, it.Changes = s.Record, s.Reasons
	}
	if len(s.Dir.Files) > 0 {
		shapes, err := j.tree.Outlines(ctx, s.Dir.Files)
		if err != nil {
			return nil, err
		}
		said, err := j.tree.Summaries(ctx, s.Dir.Files)
		if err != nil {
			return nil, err
		}
		for i, f := range s.Dir.Files {
			switch err := shapes[i].Err; {
			case errors.Is(err, ErrAbsent):
				it.Absent++
			case err != nil:
				return nil, err
			}
			it.Files = append(it.Files, ItemFile{f, shapes[i].Outline, said[i]})
			it.Basis.Files[i].Shape = store.ShapeOf(shapes[i].Outline)
		}
		if it.Patches, err = j.patches(ctx, it); err != nil {
			return nil, err
		}
		if it.Own, err = j.ownWords(ctx, it); err != nil {
			return nil, err
		}
	}
	for _, c := range s.children {
		it.Children = append(it.Children, c.child())
	}
	return it, nil
}

// still returns [ErrMoved] if a file of an item is no longer what it was. Whoever wrote
// about it may have looked at the file itself, in between.
func (s *Survey) still(ctx context.Context, it *Item) error {
	for _, f := range it.Files {
		if _, err := s.tree.Read(ctx, f.File, maxRead); errors.Is(err, ErrMoved) {
			return err
		}
	}
	return nil
}
