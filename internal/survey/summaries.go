package survey

import (
	"context"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A DirSummary is a summary of a directory by a person, an agent or a model.
type DirSummary struct {
	Path    repo.Path
	Text    string
	Verdict fresh.Verdict
	Reasons []string
}

// Summaries returns the summaries of some directories, and the stale summaries of all directories. Outlines do not
// count.
func (s *Survey) Summaries(ctx context.Context, dirs []repo.Path) (texts map[repo.Path]DirSummary, stale []DirSummary, err error) {
	latest, err := s.store.Latest(ctx)
	if err != nil {
		return nil, nil, err
	}
	texts = make(map[repo.Path]DirSummary)
	anySummary := false
	for _, records := range latest {
		anySummary = anySummary || slices.ContainsFunc(records, byModelOrAgent)
	}
	if !anySummary {
		return texts, nil, nil
	}
	all, err := s.summaries(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, text := range all {
		if slices.Contains(dirs, text.Path) {
			texts[text.Path] = text
		}
		if text.Verdict.State == fresh.Stale {
			stale = append(stale, text)
		}
	}
	return texts, stale, nil
}

// summaries returns all summaries of directories, subdirectories first. It first stores the outlines that changed,
// since the verdicts of directories above depend on them.
func (s *Survey) summaries(ctx context.Context) ([]DirSummary, error) {
	const question = "texts"
	inputs, err := s.cacheInputs(ctx)
	if err != nil {
		return nil, err
	}
	var texts []DirSummary
	if s.loadAnswer(question, inputs, &texts) {
		return texts, nil
	}
	if err := s.keepOutlines(ctx); err != nil {
		return nil, err
	}
	return cached(ctx, s, question, s.judge, (*treeStatus).summaries)
}

// summaries returns all summaries of directories, without outlines.
func (ts *treeStatus) summaries() []DirSummary {
	var list []DirSummary
	for _, d := range ts.order {
		st := ts.status[d]
		if !st.hasSummary() {
			continue
		}
		shown := ts.shown(st)
		list = append(list, DirSummary{Path: d.Path, Text: *shown.Text, Verdict: st.Verdict, Reasons: st.Reasons})
	}
	return list
}
