package cli

import (
	"fmt"
	"slices"
	"strings"

	"ken/internal/attention"
	"ken/internal/board"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/registry"
	"ken/internal/survey"
	"ken/internal/term"
)

// overviewItems is the number of items of each kind that ken status lists.
const overviewItems = 5

// printOverview prints a line for each part, then what needs attention: so many items of each
// kind.
func (p *program) printOverview(known *statusReport, o *Overview, items int) {
	p.io.Buffered(func() {
		say := func(part, text string) { p.io.Printf("%-12s %s\n", part, term.Clean(text)) }
		say("files", filesLine(known.Report, false))
		if known.Counts.Files == 0 {
			return
		}
		say("directories", directoriesLine(known.Directories))
		part := func(name, text string, unread *fault.Unknown) {
			if unread != nil {
				text = "unknown"
			}
			say(name, text)
		}
		part("specs", specsLine(o.Specs), o.worktree.Spec.Unknown)
		part("documents", documentsLine(o.worktree.Documents.Known), o.worktree.Documents.Unknown)
		part("workflow", workflowLine(o.Workflow), o.worktree.State.Unknown)
		if !o.mentioned || len(o.Attention) > 0 {
			p.printAttention(o.Attention, items)
		}
	})
}

// printAttention prints what needs attention, so many items of each kind.
func (p *program) printAttention(list []Attention, items int) {
	if len(list) == 0 {
		p.io.Printf("\nNothing needs attention.\n")
		return
	}
	p.io.Printf("\nNeeds attention:\n")
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Kind == list[0].Kind {
			n++
		}
		for _, a := range list[:min(n, items)] {
			p.io.Line(toneOfKind(a.Kind), a.word, a.Subject, a.Why+"  → "+a.Command)
		}
		if n > items {
			p.io.Printf("            and %d more → %s\n", n-items, moreCommands[list[0].Kind])
		}
		list = list[n:]
	}
}

// toneOfKind returns the colour of the first word of an item.
func toneOfKind(kind attention.Kind) term.Tone {
	switch kind {
	case attention.Broken, attention.Failed, attention.Unknown:
		return term.Bad
	default:
		return term.Warn
	}
}

// moreCommands are the commands that list all items of a kind.
var moreCommands = map[attention.Kind]string{
	attention.Stale: "ken status --all", attention.Mention: "ken docs", attention.Drift: "ken spec ls", attention.Broken: "ken spec lint",
	attention.Collision: "ken spec overlay", attention.Foreign: "ken state audit", attention.Failed: "ken survey plan",
	attention.Untrusted: "ken share status", attention.Unknown: "ken status --all",
}

// filesLine says how many files changed, and how many have a summary. verified says that
// ken verify made the report.
func filesLine(rep *registry.Report, verified bool) string {
	c := rep.Counts
	if c.Files == 0 {
		return "none tracked"
	}
	line := fmt.Sprint(c.Files)
	if !rep.Head.IsZero() {
		line += " at " + rep.Head.Short()
	}
	changed := c.Mismatch + c.New + c.Missing + c.Conflicted
	switch {
	case rep.State == registry.StateBootstrap && verified:
		line += ", checked for the first time"
	case rep.State == registry.StateBootstrap || slices.Contains(rep.Reasons, registry.ReasonNoBaseline) && !verified:
		line += ", never checked"
	case changed == 0:
		line += ", nothing changed since the last check"
	default:
		line += fmt.Sprintf(", %d changed since the last check", changed)
	}
	line += "; " + survey.SummaryCounts(c.Fresh, c.Stale, c.Unknown+c.Conflicted)
	var rest []string
	if c.Gone > 0 {
		rest = append(rest, fmt.Sprintf("%d gone", c.Gone))
	}
	if c.None > 0 && c.Fresh+c.Stale+c.Unknown > 0 {
		rest = append(rest, fmt.Sprintf("%d without", c.None))
	}
	if c.Excluded > 0 {
		rest = append(rest, fmt.Sprintf("%d excluded", c.Excluded))
	}
	if c.Sparse > 0 {
		rest = append(rest, fmt.Sprintf("%d not checked out", c.Sparse))
	}
	if len(rest) > 0 {
		line += " (" + strings.Join(rest, ", ") + ")"
	}
	if n := rep.Upstream.Behind; n > 0 {
		line += fmt.Sprintf("; the upstream branch is %s ahead", english.Count(n, "commit"))
	}
	return line
}

func directoriesLine(d *survey.DirCounts) string {
	if d == nil || d.Fresh+d.Stale+d.Unknown+d.Outlines == 0 {
		return "not described yet: ken up"
	}
	return d.String()
}

func specsLine(s *SpecsOverview) string {
	if s == nil {
		return "none"
	}
	line := fmt.Sprint(s.Nodes)
	if s.Drifting == 0 {
		line += "; none in drift"
	} else {
		line += fmt.Sprintf("; %d in drift, %d over the gate", s.Drifting, s.OverGate)
	}
	for _, part := range []struct {
		n    int
		text string
	}{
		{s.Active, "being edited"},
		{s.Pending, "pending"},
		{s.Problems, "with errors"},
		{s.Missing, "governing missing files"},
		{max(s.Unknown, s.DriftUnknown), "unknown"},
	} {
		if part.n > 0 {
			line += fmt.Sprintf(", %d %s", part.n, part.text)
		}
	}
	return line
}

func documentsLine(d *board.Documents) string {
	if d == nil {
		return "not checked since the last change: ken docs"
	}
	unread := 0
	for _, u := range d.Report.Unread {
		if !u.NotText {
			unread++
		}
	}
	switch {
	case d.Documents == 0 && unread > 0:
		return fmt.Sprintf("%d could not be read", unread)
	case d.Documents == 0:
		return "none"
	}
	count := "no stale mentions"
	if d.Wrong > 0 {
		count = english.Count(d.Wrong, "stale mention")
	} else if len(d.Report.Unknown(false)) > unread {
		count = "no stale mentions found"
	}
	line := fmt.Sprintf("%d; %s (%d checked", d.Documents, count, d.Mentions)
	if n := d.Mentions - d.Hold - d.Wrong; n > 0 {
		line += fmt.Sprintf(", %d left out: ken docs --all", n)
	}
	line += ")"
	if unread > 0 {
		line += fmt.Sprintf("; %d could not be read", unread)
	}
	return line
}

func workflowLine(f *WorkflowOverview) string {
	if f == nil {
		return "none"
	}
	line := "none begun"
	if f.ID != "" {
		line = strings.TrimSpace(f.Type + " " + f.ID)
	}
	line += "; " + english.Count(f.Counts.Total, "file") + " in the state directory"
	if n := f.Counts.AdHoc; n > 0 {
		line += fmt.Sprintf(", %d foreign", n)
	}
	if n := f.Counts.Ephemeral; n > 0 {
		line += fmt.Sprintf(", %d left over", n)
	}
	if n := f.Counts.Unknown; n > 0 {
		line += fmt.Sprintf(", %d unknown", n)
	}
	return line
}
