package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"ken/internal/board"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/spec"
	"ken/internal/survey"
)

// specsPage shows the tree of specs.
func (s *Server) specsPage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "specs", "Specs")
	if err != nil || f.Tree == nil {
		return f, err
	}
	f.Body = summarize(f.Tree)
	return f, nil
}

// A boardSummary has the values of the four cards and the filters.
type boardSummary struct {
	Files, Directories []barSegment
	// Entry says whether files changed since the last check, and Next is the command
	// to run, "" for none.
	Entry, Next string
	// Why is the most frequent reason for unknown drift.
	Why   string
	Chips []chip
}

// A chip is a filter button above the tree of specs.
type chip struct {
	Name  string
	Title string
	Glyph string
	Count int
}

// A barSegment is a part of a bar.
type barSegment struct {
	Word  string
	Tone  string // CSS class: colour and pattern
	Count int
	From  string // in percent
	Wide  string
}

// summarize makes the values of the cards.
func summarize(w *board.Worktree) *boardSummary {
	out := &boardSummary{}
	if f := w.Files.Known; f != nil {
		c := f.Counts
		rest := max(c.Files-c.Fresh-c.Stale-c.None-c.Excluded, 0)
		out.Files = bar([]barSegment{
			{Word: "fresh", Tone: "fresh", Count: c.Fresh},
			{Word: "stale", Tone: "stale", Count: c.Stale},
			{Word: "no summary", Tone: "none", Count: c.None},
			{Word: "excluded", Tone: "excluded", Count: c.Excluded},
			{Word: "unknown", Tone: "unknown", Count: rest},
		})
	}
	if f := w.Files.Known; f != nil {
		out.Entry, out.Next = entryText(f)
	}
	if known := w.Spec.Known; known != nil {
		out.Chips, out.Why = chips(known), whyUnknown(known)
	}
	if d := w.Survey.Known; d != nil {
		c := d.Summaries
		list := []barSegment{
			{Word: "fresh", Tone: "fresh", Count: c.Fresh},
			{Word: "outline only", Tone: "outline", Count: c.Outlines},
			{Word: "stale", Tone: "stale", Count: c.Stale},
			{Word: "no summary", Tone: "none", Count: c.None},
			{Word: "excluded", Tone: "excluded", Count: d.Counts[fresh.Excluded.String()]},
			{Word: "unknown", Tone: "unknown", Count: c.Unknown},
		}
		out.Directories = bar(list)
	}
	return out
}

// bar computes the positions of segments and leaves out empty ones.
func bar(list []barSegment) []barSegment {
	total, at := 0, 0
	for _, s := range list {
		total += s.Count
	}
	var out []barSegment
	for _, s := range list {
		if s.Count > 0 {
			s.From, s.Wide = percent(at, total), percent(s.Count, total)
			at += s.Count
			out = append(out, s)
		}
	}
	return out
}

// chips returns the filters with their counts. A spec counts under its status and under
// the filters that extraFilters names.
func chips(s *board.Spec) []chip {
	counts := make(map[string]int)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		counts[displayStatus(n)]++
		for more := range strings.FieldsSeq(extraFilters(*n)) {
			counts[more]++
		}
	}
	all := []chip{
		{Name: spec.StatusDrift.String(), Title: "specs whose code changed since they were edited or acknowledged"},
		{Name: broken, Title: "specs with missing code or with problems in their file"},
		{Name: spec.StatusActive.String(), Title: "specs that a worktree changes"},
		{Name: spec.StatusPending.String(), Title: "specs whose code is not written yet"},
		{Name: spec.StatusUnknown.String(), Title: "specs whose status or drift is unknown"},
		{Name: spec.StatusMerged.String(), Title: "specs that match their code"},
	}
	var list []chip
	for _, c := range all {
		if c.Count, c.Glyph = counts[c.Name], glyph(c.Name); c.Count > 0 {
			list = append(list, c)
		}
	}
	return list
}

// whyUnknown returns the most frequent reason for unknown drift.
func whyUnknown(s *board.Spec) string {
	best := ""
	counts := make(map[string]int)
	for i := range s.Nodes {
		for _, u := range s.Nodes[i].Unknown {
			if u.What != spec.FactDrift {
				continue
			}
			if counts[u.Why]++; counts[u.Why] > counts[best] {
				best = u.Why
			}
		}
	}
	return best
}

// broken is the displayed status of a merged spec whose code is missing or whose file
// has problems.
const broken = "broken"

// displayStatus returns the status of a spec, or broken.
func displayStatus(n *board.Node) string {
	if n.Status == spec.StatusMerged && isBroken(n) {
		return broken
	}
	return n.Status.String()
}

func isBroken(n *board.Node) bool { return len(n.Missing)+len(n.Problems) > 0 }

// extraFilters returns the filters that match a spec besides its status, separated by
// spaces.
func extraFilters(n board.Node) string {
	var list []string
	switch {
	case n.Drift == nil && !n.Ghost:
		list = append(list, spec.StatusUnknown.String())
	case num(n.Drift) > 0:
		list = append(list, spec.StatusDrift.String())
	}
	if isBroken(&n) {
		list = append(list, broken)
	}
	is := displayStatus(&n)
	return strings.Join(slices.DeleteFunc(list, func(name string) bool { return name == is }), " ")
}

// entryText explains the entry state of the registry, and returns the command to run.
func entryText(f *board.Files) (text, next string) {
	switch f.State {
	case registry.StateNew:
		return "git tracks no files yet", "git add FILE"
	case registry.StateBootstrap:
		return "files not checked in this worktree yet", "ken verify"
	case registry.StateTrust:
		return "nothing changed since the last check", ""
	default: // registry.StateVerify
	}
	var words []string
	for _, r := range f.Reasons {
		words = append(words, reasonText(r))
	}
	if len(words) == 0 {
		words = append(words, "files may have changed since the last check")
	}
	return strings.Join(words, "; "), "ken verify"
}

func reasonText(r registry.Reason) string {
	switch r {
	case registry.ReasonHeadMoved:
		return "HEAD moved since the last check"
	case registry.ReasonDirty:
		return "files differ from HEAD"
	case registry.ReasonBehind:
		return "the upstream has new commits"
	case registry.ReasonBaselineDirty:
		return "files differed from HEAD at the last check"
	case registry.ReasonBaselineLost:
		return "the last checked commit is no longer in the history"
	case registry.ReasonNoBaseline:
		return "only some files were checked so far"
	case registry.ReasonFlags:
		return "git is set to ignore changes of some files"
	case registry.ReasonPolicyChanged:
		return "the rules for which files count changed"
	case registry.ReasonConflicted:
		return "files have merge conflicts"
	default:
		return string(r)
	}
}

// summariesText adds details to the number of fresh directory summaries.
func summariesText(c survey.DirCounts) string {
	var words []string
	if c.Stale > 0 {
		words = append(words, fmt.Sprintf("%d stale", c.Stale))
	}
	if c.Unknown > 0 {
		words = append(words, fmt.Sprintf("%d unknown", c.Unknown))
	}
	if n := c.Outlines + c.None; n > 0 {
		words = append(words, fmt.Sprintf("%d outline only", n))
	}
	return strings.Join(words, "; ")
}
