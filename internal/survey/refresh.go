package survey

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey/describe"
	"ken/internal/survey/excerpt"
	"ken/internal/workspace"
)

// refresh outlines every directory of a level that has no summary and no outline of the present content. ken makes
// such outlines again, so an outline is never stale. The level below must be refreshed first, since an outline
// quotes the subdirectories.
//
// refresh does not store the outlines; see [Survey.keepOutlines].
func (ts *treeStatus) refresh(ctx context.Context, level []*Directory) error {
	if !ts.refreshes {
		return nil
	}
	for _, d := range level {
		s := ts.status[d]
		switch {
		case s.Verdict.State == fresh.Excluded || s.hasSummary():
			continue
		case s.Verdict.State == fresh.Unknown && s.hasUnreadFile():
			continue
		}
		current := s.Record != nil && s.Verdict.State == fresh.Fresh && s.Record.Recipe == describe.Outliner{}.Recipe()
		if current && !ts.quotesStale(d) {
			continue
		}
		was := *s
		if err := ts.outline(ctx, s); err != nil {
			return err
		}
		if current && s.Verdict.State == fresh.Fresh && s.Record.Text == was.Record.Text {
			*s = was
		}
	}
	return nil
}

// quotesStale reports whether the README of a directory has a stale mention, which its outline may quote. The
// README itself did not change.
func (ts *treeStatus) quotesStale(d *Directory) bool {
	for document := range ts.opts.StaleMentions {
		if document.Dir() == d.Path && excerpt.IsReadme(document.Base()) {
			return true
		}
	}
	return false
}

// hasUnreadFile reports whether an own file of a directory could not be read.
func (s *DirStatus) hasUnreadFile() bool {
	return slices.ContainsFunc(s.Dir.Files, func(f *repo.File) bool { return f.ID.IsZero() })
}

// hasSummary reports whether a person, an agent or a model wrote the text of the directory.
func (s *DirStatus) hasSummary() bool { return s.Record != nil && !s.Record.IsOutline() }

// outline gives a directory its present outline.
func (ts *treeStatus) outline(ctx context.Context, s *DirStatus) error {
	w := describe.Outliner{}
	it, err := ts.item(ctx, s)
	if errors.Is(err, workspace.ErrChanged) {
		// A file changed since the tree was listed. The caller retries or reports it.
		s.Verdict, s.Reasons = fresh.Verdict{}, []string{err.Error()}
		return nil
	}
	if err != nil {
		return err
	}
	for i, c := range s.children {
		if c.outlined {
			it.Children[i] = describe.Child{Path: c.Dir.Path, Status: describe.ChildSummary, Text: c.Record.Summary()}
		}
	}
	draft, err := w.Write(ctx, it)
	if err != nil {
		return err
	}
	r, err := ts.record(it, draft, w.Author(), w.Recipe())
	if err != nil {
		return fmt.Errorf("outline %s: %w", repo.DirLabel(s.Dir.Path), err)
	}
	failed := s.Verdict.Reason == fresh.Failed
	s.Record, s.outlined = r, true
	if it.AbsentFiles > 0 {
		ts.uncertain = true // git may get the contents later
	}
	switch unknown := s.unknownChildren(); {
	case len(unknown) > 0:
		s.Verdict, s.Reasons, s.outlined = fresh.Verdict{}, unknown, false
	case failed: // keep the verdict and the reason of the failure
	case it.AbsentFiles > 0:
		s.Verdict, s.ChangedChildren = fresh.Verdict{State: fresh.Fresh}, 0
		s.Reasons = []string{fmt.Sprintf("git lacks the contents of %d of its files", it.AbsentFiles)}
	default:
		s.Verdict, s.ChangedChildren, s.Reasons = fresh.Verdict{State: fresh.Fresh}, 0, nil
	}
	return nil
}

// unknownChildren names the subdirectories whose verdict is unknown.
func (s *DirStatus) unknownChildren() []string {
	var names []string
	for _, c := range s.children {
		if c.Verdict.State == fresh.Unknown {
			names = append(names, quoteName(c.Dir.Name())+" is "+fresh.Unknown.String())
		}
	}
	return names
}

// judgeAndKeep is judge for commands that show directories. It first stores the outlines of changed content.
func (s *Survey) judgeAndKeep(ctx context.Context) (*treeStatus, error) {
	if err := s.keepOutlines(ctx); err != nil {
		return nil, err
	}
	return s.judge(ctx)
}

// keepOutlines makes the outlines of changed content again and stores them, so that the next command need not. It
// ignores failures, because judge makes the outlines in memory anyway.
func (s *Survey) keepOutlines(ctx context.Context) error {
	if !s.opts.KeepOutlines {
		return nil
	}
	_, _ = s.Run(ctx, describe.Outliner{}, RunOptions{Jobs: runtime.GOMAXPROCS(0), Refresh: true})
	return ctx.Err()
}
