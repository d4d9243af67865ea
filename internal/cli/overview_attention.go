package cli

import (
	"strings"

	"ken/internal/attention"
	"ken/internal/board"
	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/term"
)

// commandFrom returns a function that writes a command that runs at the root of the repository. It adds -C unless the
// user is at the root. here is the user's directory, from the root.
func commandFrom(dir string, here repo.Path) func(args ...string) string {
	if here != "" {
		up := strings.Repeat("../", strings.Count(string(here), "/")+1)
		if dir != "" {
			dir += "/"
		}
		dir += strings.TrimSuffix(up, "/")
	}
	prefix := "ken"
	if dir != "" {
		prefix += " -C " + fault.Quote(dir)
	}
	return func(args ...string) string {
		line := prefix
		for _, a := range args {
			line += " " + fault.Quote(a)
		}
		return line
	}
}

// collectAttention lists what needs attention, the most important kind first.
func (o *Overview) collectAttention(known *statusReport, command func(args ...string) string) {
	for _, it := range attention.List(o.facts(known)) {
		a := Attention{Kind: it.Kind, Subject: it.Subject, Why: it.Why, Command: it.Shell, item: it}
		if it.Shell == "" {
			a.Command = command(it.Args...)
		}
		if it.Since != (board.Change{}) {
			a.Since = &it.Since
		}
		o.Attention = append(o.Attention, a)
	}
}

// facts returns the facts of the overview for [attention.List].
func (o *Overview) facts(known *statusReport) attention.Facts {
	f := attention.Facts{
		Files: known.Verdicts, Directories: known.Directories, Documents: o.documents, Collisions: o.Collisions, Ignored: o.ignored, RenamedFrom: o.renamed,
	}
	if s := o.Specs; s != nil {
		f.Gate, f.SpecsUnknown = s.Gate, s.unknown
		for i := range s.nodes {
			f.Specs = append(f.Specs, &s.nodes[i])
		}
	}
	if o.Workflow != nil {
		audit := o.Workflow.audit
		f.Foreign = audit.Entries(contract.AdHoc)
		f.Leftovers = audit.Entries(contract.Ephemeral)
		f.Uninspected = audit.Entries(contract.Unknown)
	}
	if o.runs != nil {
		f.Runs = o.runs.Runs
	}
	for _, u := range o.Unknown {
		f.Unread = append(f.Unread, attention.Unread{Part: u.Fact, Reason: u.Reason})
	}
	return f
}

// toneOfItem returns the colour of the first word of an item.
func toneOfItem(it *attention.Item) term.Tone {
	switch it.Kind {
	case attention.Broken, attention.Failed, attention.Unknown:
		return term.Bad
	default:
		return term.Warn
	}
}

// Limits of an overview: items of a kind, and characters of a text that others wrote.
const (
	overviewItems = 5
	overviewWidth = 120
)
