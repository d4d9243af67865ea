package survey

import (
	"context"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A DirText is a summary of a directory by a person, an agent or a model.
type DirText struct {
	Path    repo.Path
	Text    string
	Verdict Verdict
	Reasons []string
	Receipt *string
}

// Written returns the summaries of some directories, and the stale summaries of all directories. Outlines do not
// count.
func (s *Survey) Written(ctx context.Context, dirs []repo.Path) (texts map[repo.Path]DirText, stale []DirText, err error) {
	latest, err := s.store.Latest(ctx)
	if err != nil {
		return nil, nil, err
	}
	texts = make(map[repo.Path]DirText)
	anySummary := false
	for _, records := range latest {
		anySummary = anySummary || slices.ContainsFunc(records, byModelOrAgent)
	}
	if !anySummary {
		return texts, nil, nil
	}
	written, err := s.written(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, text := range written {
		if slices.Contains(dirs, text.Path) {
			texts[text.Path] = text
		}
		if text.Verdict.State() == fresh.Stale {
			stale = append(stale, text)
		}
	}
	return texts, stale, nil
}

// written returns all summaries of directories, subdirectories first. It first stores the outlines that changed,
// since the verdicts of directories above depend on them.
func (s *Survey) written(ctx context.Context) ([]DirText, error) {
	const question = "texts"
	inputs, err := s.cacheInputs(ctx)
	if err != nil {
		return nil, err
	}
	var texts []DirText
	if s.loadAnswer(question, inputs, &texts) {
		return texts, nil
	}
	if err := s.keepOutlines(ctx); err != nil {
		return nil, err
	}
	return cached(ctx, s, question, s.judge, (*treeStatus).written)
}

// written returns all summaries of directories, without outlines.
func (ts *treeStatus) written() []DirText {
	var list []DirText
	for _, d := range ts.order {
		st := ts.at[d]
		if !st.written() {
			continue
		}
		shown := ts.shown(st)
		list = append(list, DirText{Path: d.Path, Text: *shown.Text, Verdict: st.Verdict, Reasons: st.Reasons, Receipt: shown.Receipt})
	}
	return list
}
