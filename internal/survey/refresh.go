package survey

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"ken/internal/repo"
)

// refresh outlines every directory of a level that has no summary and no outline of what is
// there now. ken derives an outline itself, so it is made again and never stale. The level
// below must be refreshed first, since an outline quotes the subdirectories.
//
// The outlines are not stored; see [Survey.keepOutlines].
func (j *judgement) refresh(ctx context.Context, level []*Directory) error {
	if !j.refreshes {
		return nil
	}
	for _, d := range level {
		s := j.at[d]
		switch {
		case s.Verdict == Excluded || s.written():
			continue
		case s.Verdict == Unknown && j.unread(s):
			continue
		}
		current := s.Record != nil && s.Verdict == Fresh && s.Record.Recipe == Outliner{}.Recipe()
		if current && !j.quotesStale(d) {
			continue
		}
		was, refreshed := *s, j.refreshed
		if err := j.outline(ctx, s); err != nil {
			return err
		}
		if current && s.Verdict == Fresh && s.Record.Text == was.Record.Text {
			*s, j.refreshed = was, refreshed
		}
	}
	return nil
}

// quotesStale reports whether the README of a directory has a stale mention, which its outline
// may quote: the document did not change, but what it is about did.
func (j *judgement) quotesStale(d *Directory) bool {
	for document := range j.opts.StaleMentions {
		if document.Dir() == d.Path && isReadme(document.Base()) {
			return true
		}
	}
	return false
}

// current reports whether each directory without a summary has its present outline in the
// store. Only then a cached judgement is right for writers and for readers.
func (j *judgement) current() bool {
	if j.refreshed {
		return false
	}
	for _, s := range j.at {
		if s.written() || s.Verdict == Excluded || s.Verdict == Unknown {
			continue
		}
		if s.Verdict == None && len(j.latest) == 0 {
			continue // nobody asked for outlines yet
		}
		if s.Verdict != Fresh || s.Record.Recipe != (Outliner{}).Recipe() || !j.refreshes && j.quotesStale(s.Dir) {
			return false
		}
	}
	return true
}

// unread reports whether an own file of a directory could not be read.
func (j *judgement) unread(s *DirStatus) bool {
	for _, f := range s.Dir.Files {
		if f.ID.IsZero() {
			return true
		}
	}
	return false
}

// written reports whether a person, an agent or a model wrote the text of the directory.
func (s *DirStatus) written() bool { return s.Record != nil && !s.Record.Outlined() }

// outline gives a directory its present outline.
func (j *judgement) outline(ctx context.Context, s *DirStatus) error {
	w := Outliner{}
	it, err := j.item(ctx, s)
	if errors.Is(err, ErrMoved) {
		// A file changed since the tree was listed. The caller asks again or says so.
		s.Verdict, s.Reasons = Unknown, []string{err.Error()}
		return nil
	}
	if err != nil {
		return err
	}
	draft, err := w.Write(ctx, it)
	if err != nil {
		return err
	}
	r, err := j.record(it, draft, w.Author(), w.Recipe())
	if err != nil {
		return fmt.Errorf("outline %s: %w", repo.DirLabel(s.Dir.Path), err)
	}
	failed := s.Verdict == Failed
	s.Record, s.outlined = r, true
	j.refreshed = true
	switch unknown := s.unknownChildren(); {
	case len(unknown) > 0:
		s.Verdict, s.Reasons, s.outlined = Unknown, unknown, false
	case failed: // a model failed to describe it, which the reason says
	case it.Absent > 0:
		s.Verdict, s.K = Fresh, 0
		s.Reasons = []string{fmt.Sprintf("%d of its files are not in this clone", it.Absent)}
	default:
		s.Verdict, s.K, s.Reasons = Fresh, 0, nil
	}
	return nil
}

// unknownChildren names the subdirectories whose verdict is unknown.
func (s *DirStatus) unknownChildren() []string {
	var names []string
	for _, c := range s.children {
		if c.Verdict == Unknown {
			names = append(names, said(s.calls(c))+" is "+Unknown.Word())
		}
	}
	return names
}

// keepOutlines makes the outlines again whose content changed, and stores them, so that the
// next command need not. A failure is not reported: whoever asks gets the outlines anyway.
func (s *Survey) keepOutlines(ctx context.Context) error {
	if !s.opts.KeepOutlines {
		return nil
	}
	_, _ = s.Run(ctx, Outliner{}, RunOptions{Jobs: runtime.GOMAXPROCS(0), Refresh: true})
	return ctx.Err()
}
