package survey

import (
	"context"
	"fmt"
	"strings"

	"ken/internal/english"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Report is the overview of the repository with the summaries of the top levels.
type Report struct {
	Commit repo.ID `json:"commit"`
	// Overview was written by a model or an agent. Its verdict is fresh if it was written from the present
	// summaries and these are fresh.
	Overview *Section        `json:"overview"`
	Sections []ListedDir     `json:"directories"` // the top levels, parents first
	Flags    []store.DirFlag `json:"flags"`
	Counts   map[string]int  `json:"counts"` // directories by verdict; an outline is fresh
	// Summaries counts the summaries that people, agents or models wrote, and the directories without one.
	Summaries DirCounts `json:"summaries"`
}

// A Section is a text about one subject, with its verdict.
type Section struct {
	Subject string `json:"subject"`
	Verdict string `json:"verdict"`
	Text    string `json:"text"`
}

// Report returns the summaries of the top levels, and the flags of all directories.
func (s *Survey) Report(ctx context.Context) (*Report, error) {
	ts, err := s.judgeAndKeep(ctx)
	if err != nil {
		return nil, err
	}
	r := &Report{Commit: s.tree.Commit(), Sections: []ListedDir{}, Flags: ts.flags(), Counts: make(map[string]int), Summaries: *ts.counts(nil)}
	for _, d := range ts.order {
		r.Counts[ts.status[d].Verdict.String()]++
	}
	whole, err := ts.judgeOverview(ctx)
	if err != nil {
		return nil, err
	}
	if whole == nil {
		return r, nil
	}
	for _, st := range whole.children {
		r.Sections = append(r.Sections, ts.shown(st))
	}
	if whole.Record != nil {
		shown := ts.shown(whole)
		r.Overview = &Section{Subject: "overview", Verdict: whole.Verdict.String(), Text: shown.TextOrEmpty()}
	}
	return r, nil
}

// Markdown returns the report as a document.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Survey\n\nAt %s: %s; %s", commitLabel(r.Commit), english.Count(r.Summaries.Directories, "directory"), r.Summaries.Summaries())
	for _, v := range []Verdict{Failed, Unknown, Excluded} {
		if n := r.Counts[v.String()]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, v)
		}
	}
	b.WriteString(".\n")
	if o := r.Overview; o != nil {
		fmt.Fprintf(&b, "\n## Overview (%s)\n\n%s\n", o.Verdict, o.Text)
	}
	for _, d := range r.Sections {
		fmt.Fprintf(&b, "\n## %s (%s)\n\n", d.Display(), d.Word())
		if d.Text == nil {
			fmt.Fprintf(&b, "%s\n", missingText(d.Outline))
			continue
		}
		fmt.Fprintf(&b, "%s\n", *d.Text)
	}
	if len(r.Flags) > 0 {
		b.WriteString("\n## Findings\n\n")
		for _, f := range r.Flags {
			fmt.Fprintf(&b, "- %s: %s: %s\n", f.Severity, f.Path, f.Finding)
		}
	}
	return b.String()
}

// missingText returns the line for a directory without a text.
func missingText(outlined bool) string {
	if outlined {
		return store.EmptyOutline
	}
	return "no summary yet"
}

// commitLabel returns the short name of a commit.
func commitLabel(commit repo.ID) string {
	if commit.IsZero() {
		return "no commit yet"
	}
	return commit.Short()
}
