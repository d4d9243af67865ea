package mcp

import (
	"fmt"
	"strings"
	"unicode"

	"ken/internal/spec"
)

// verdictOn returns the status of a spec as a Markdown comment, so that the file can
// follow it.
func verdictOn(l *spec.Listing, n *spec.ListedSpec) string {
	v := &comment{}
	if isUnjudged(*n) {
		v.line("status", "unknown; the spec declares "+n.Status.String())
	} else {
		v.line("status", n.Status.String())
	}
	v.number("version", n.Version)
	v.number("drift", n.Drift)
	var cut leftOut
	for _, f := range capped(&cut, "behind", n.DriftFiles, nodeItems) {
		v.line("behind", fmt.Sprintf("%s +%d", f.File, f.Behind))
	}
	if more := cut["behind"]; more > 0 {
		v.line("behind", fmt.Sprintf("%d more files", more))
	}
	for _, u := range append(n.Unknown, l.Unknown...) {
		v.line("unknown", u.String())
	}
	for _, entry := range capped(&cut, "missing", n.Missing, nodeItems) {
		v.line("missing", entry+": no tracked file")
	}
	for _, p := range n.Problems {
		at := ""
		if p.Line > 0 {
			at = fmt.Sprintf("line %d: ", p.Line)
		}
		v.line("problem", at+p.Message+"; "+p.Fix)
	}
	for _, o := range n.Overlays {
		v.line("proposed", fmt.Sprintf("%s in %s by %s", o.Op, o.Worktree, o.Session))
	}
	if n.Dirty != nil && *n.Dirty {
		v.line("dirty", "uncommitted changes")
	}
	v.line("path", n.Path)
	if l.Head.IsZero() {
		v.line("head", "no commit yet")
	} else {
		v.line("head", l.Head.String())
	}
	if n.Status == spec.StatusDrift {
		v.line("next", "compare the spec with the code; edit it if it is wrong, else call spec_ack")
	}
	return v.markdown()
}

// A comment is a Markdown comment with lines of name and value.
type comment struct{ strings.Builder }

func (c *comment) markdown() string { return "<!-- ken\n" + c.String() + "-->\n" }

// line adds a line. The value cannot end the line or the comment.
func (c *comment) line(name, value string) {
	value = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, value)
	value = strings.NewReplacer("-->", "-- >", "--!>", "-- !>").Replace(value)
	fmt.Fprintf(c, "%s: %s\n", name, value)
}

func (c *comment) number(name string, n *int) {
	if n == nil {
		c.line(name, "unknown")
		return
	}
	c.line(name, fmt.Sprint(*n))
}
