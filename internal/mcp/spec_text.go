package mcp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/spec"
	"ken/internal/term"
)

func (a *specAnswer) print(out *term.IO) {
	if a.Node != nil {
		a.Node.printFacts(out)
	} else {
		a.printList(out)
	}
	for _, u := range a.Unknown {
		out.Line(term.Plain, "unknown", u.Fact, u.Reason)
	}
	if a.Omitted > 0 {
		out.Remarkf("%d more: set limit, or ask with id or paths", a.Omitted)
	}
	if a.Note != "" {
		out.Remarkf("note: %s", forAgents(a.Note))
	}
	if a.Node != nil {
		a.Node.printBody(out)
	}
}

// printList prints the counts, the specs that govern the given paths, and the rows.
func (a *specAnswer) printList(out *term.IO) {
	if len(a.Counts) > 0 {
		total := 0
		var parts []string
		for _, status := range slices.Sorted(maps.Keys(a.Counts)) {
			total += a.Counts[status]
			parts = append(parts, fmt.Sprintf("%d %s", a.Counts[status], status))
		}
		out.Printf("%s: %s\n", english.Count(total, "spec"), strings.Join(parts, ", "))
	}
	for _, o := range a.Owners {
		path := o.Display()
		for _, c := range o.Governing {
			out.Line(term.Plain, "governs", path, c.ID+"  "+c.Desc)
		}
		for _, c := range o.Related {
			out.Line(term.Plain, "related", path, c.ID+"  "+c.Desc)
		}
		if len(o.Governing)+len(o.Related) == 0 {
			out.Line(term.Plain, "none", path, "no spec governs it")
		}
		o.LeftOut.print(out)
	}
	printWrong(out, a.Wrong)
	for i := range a.listed {
		n := a.listed[i]
		n.Overlays = n.Overlays[:min(len(n.Overlays), rowItems)]
		n.Unknown = nil // the reasons follow once for all
		out.Line(term.Plain, shownStatus(&n), n.ID, joined("  ", n.Describe(), unknownFacts(&n)))
	}
	if slices.ContainsFunc(a.listed, func(n spec.ListedSpec) bool { return n.Drift != nil && *n.Drift > 0 }) {
		out.Remarkf("hint: compare a drifted spec (call spec with its id) with its code; edit it, or call spec_ack if it still holds")
	}
}

// shownStatus is unknown for a spec that could not be judged, whatever it declares.
func shownStatus(n *spec.ListedSpec) string {
	if isUnjudged(*n) {
		return spec.StatusUnknown.String()
	}
	return n.Status.String()
}

// unknownFacts names the facts about a spec that are unknown.
func unknownFacts(n *spec.ListedSpec) string {
	var list []string
	if n.Version == nil && !n.Ghost {
		list = append(list, "version unknown")
	}
	if n.Drift == nil && !n.Ghost {
		list = append(list, "drift unknown")
	}
	return strings.Join(list, "  ")
}

// namedFiles is the number of files ahead of a spec that its line surely names.
const namedFiles = 4

// printFacts prints what ken knows about a spec. Its text comes last, so that nothing in
// it can pass for a line of ken's.
func (s *specNode) printFacts(out *term.IO) {
	out.Line(term.Plain, s.ID, s.Title, s.Desc)
	out.Line(term.Plain, "file", s.Display(), "")
	out.Line(term.Plain, shownStatus(&s.ListedSpec), s.ID, s.Describe())
	if len(s.DriftFiles) > namedFiles {
		for _, f := range s.DriftFiles {
			out.Line(term.Plain, "ahead", f.File, fmt.Sprintf("+%d", f.Behind))
		}
	}
	for _, c := range s.Code {
		out.Line(term.Plain, "governs", c, "")
	}
	for _, r := range s.Related {
		out.Line(term.Plain, "related", r, "")
	}
	for _, p := range s.Problems {
		out.Line(term.Plain, "problem", s.Display(), p.Message+"; "+p.Fix)
	}
	for _, h := range s.History {
		why := h.Subject
		if h.Additions != nil && h.Deletions != nil {
			why = fmt.Sprintf("+%d -%d  %s", *h.Additions, *h.Deletions, why)
		}
		out.Line(term.Plain, h.Commit.Short(), h.Date, why)
	}
	s.LeftOut.print(out)
	if s.Drift != nil && *s.Drift > 0 {
		out.Remarkf("hint: if the code changed the meaning of the spec, edit the file; if the spec still holds: spec_ack {\"ids\": [%s], \"reason\": \"TEXT\"}",
			quoted(s.ID))
	}
}

func (s *specNode) printBody(out *term.IO) {
	if s.Body == nil {
		out.Printf("\nonly another worktree has this spec; ask with that worktree as root\n")
		return
	}
	out.Printf("\n%s\n", strings.TrimSpace(term.CleanText(*s.Body)))
}

// print says how many items of a list, or bytes of the text, were left out.
func (l leftOut) print(out *term.IO) {
	for _, name := range slices.Sorted(maps.Keys(l)) {
		unit := cmp.Or(map[string]string{"body": "bytes of the text"}[name], strings.ReplaceAll(name, "_", " "))
		out.Remarkf("%d more %s", l[name], unit)
	}
}

// joined joins the parts that are not empty.
func joined(sep string, parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, sep)
}
