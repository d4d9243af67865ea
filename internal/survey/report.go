package survey

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Report has the summaries of the top levels. That of the root is the overview.
type Report struct {
	Commit   repo.ID         `json:"commit"`
	Sections []ListedDir     `json:"directories"` // the top levels, parents first
	Flags    []store.DirFlag `json:"flags"`
	Counts   map[string]int  `json:"counts"` // directories by verdict; an outline is fresh
	// Summaries counts the summaries that people, agents or models wrote, and the directories without one.
	Summaries DirCounts `json:"summaries"`
	// Files are the files with a summary, if they were asked for.
	Files []registry.Summary `json:"files,omitempty"`
}

// A report has directories of the levels up to reportDepth, at most reportDirs of them.
const (
	reportDepth = 2
	reportDirs  = 80
)

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
	for depth := 0; depth <= reportDepth; depth++ {
		for _, d := range slices.Backward(ts.order) {
			if d.depth == depth && d.Excluded == "" && len(r.Sections) < reportDirs {
				r.Sections = append(r.Sections, ts.shown(ts.status[d]))
			}
		}
	}
	return r, nil
}

// Markdown returns the report as a document.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Survey\n\nAt %s: %s; %s", commitLabel(r.Commit), english.Count(r.Summaries.Directories, "directory"), r.Summaries.Summaries())
	for _, v := range []fmt.Stringer{fresh.Failed.Verdict(), fresh.Unknown, fresh.Excluded} {
		if n := r.Counts[v.String()]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, v)
		}
	}
	b.WriteString(".\n")
	for _, d := range r.Sections {
		fmt.Fprintf(&b, "\n## %s (%s)\n\n", d.Display(), d.Word())
		if d.Text == nil {
			fmt.Fprintf(&b, "%s\n", missingText(d.Outline))
			continue
		}
		fmt.Fprintf(&b, "%s\n", *d.Text)
	}
	for i := range r.Files {
		f := &r.Files[i]
		fmt.Fprintf(&b, "\n### %s (%s)\n\n%s\n", f.Display(), f.Verdict, f.Text)
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
