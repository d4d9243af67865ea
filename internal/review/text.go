package review

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ken/internal/english"
	"ken/internal/repo"
)

// String returns the review for people: a headline, and a line for each problem.
func (r *Review) String() string {
	var b strings.Builder
	b.WriteString(r.Headline())
	if len(r.Lines) == 0 && len(r.Unknown) == 0 {
		b.WriteString(": nothing to do")
	}
	b.WriteString("\n")
	if len(r.Lines)+len(r.Unknown)+len(r.OlderLines) > 0 {
		b.WriteString("\n")
	}
	writeRows(&b, r.Lines)
	if r.More > 0 {
		fmt.Fprintf(&b, "and %s (--all)\n", english.Count(r.More, "more line"))
	}
	if len(r.Unknown) > 0 {
		b.WriteString("unknown  " + r.unknownText() + "\n")
	}
	switch {
	case len(r.OlderLines) > 0:
		b.WriteString("\nolder than this change\n")
		writeRows(&b, r.OlderLines)
	case r.Older > 0:
		fmt.Fprintf(&b, "%s (--all)\n", english.Count(r.Older, "older problem"))
	}
	return b.String()
}

// Headline returns the range and the number of files.
func (r *Review) Headline() string {
	files := english.Count(r.Files, "file") + " changed"
	if r.Files == 0 {
		files = "no file changed"
	}
	switch {
	case r.From == "":
		return "this change could not be reviewed"
	case r.To != Worktree:
		return fmt.Sprintf("%s from %s (%s) to %s", files, plain(r.Base), short(r.From), short(r.To))
	default:
		return fmt.Sprintf("%s since %s (%s)", files, plain(r.Base), short(r.From))
	}
}

// Worktree is the end of a change that is not committed.
const Worktree = "worktree"

func short(id string) string { return id[:min(len(id), 7)] }

// unknownText returns a line about the checks that were not possible.
func (r *Review) unknownText() string {
	parts := make([]string, len(r.Unknown))
	for i, u := range r.Unknown {
		parts[i] = plain(u.Reason)
		if u.Command != "" {
			parts[i] += ": " + plain(u.Command)
		}
	}
	return strings.Join(parts, "; ")
}

// writeRows writes a line for each, in columns.
func writeRows(b *strings.Builder, lines []Line) {
	const widest = 44
	width := 0
	for _, l := range lines {
		if n := len([]rune(l.Subject)); n <= widest {
			width = max(width, n)
		}
	}
	for _, l := range lines {
		parts := fmt.Sprintf("%-7s  %-*s  %s", l.Kind, width, plain(l.Subject), plain(l.Text))
		if l.Kind == Also {
			parts = fmt.Sprintf("%-7s  %s", l.Kind, plain(l.Text))
		}
		if l.Kind == Tests && l.Command != "" {
			parts = fmt.Sprintf("%-7s  %-*s  %s", l.Kind, width, plain(l.Subject), plain(l.Command))
		} else if l.Command != "" {
			parts += "  " + plain(l.Command)
		}
		b.WriteString(strings.TrimRight(parts, " ") + "\n")
		if l.listTests {
			for _, t := range l.Tests {
				fmt.Fprintf(b, "%-7s  %s\n", "", plain(t.Path))
			}
		}
	}
}

// String returns the line without columns.
func (l *Line) String() string {
	parts := []string{string(l.Kind), plain(l.Subject), plain(l.Text)}
	if l.Command != "" {
		parts = append(parts, plain(l.Command))
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "  ")
}

// plain returns text of the repository on one line, without control characters.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || repo.IsMisleading(r) {
			return ' '
		}
		return r
	}, text)
}
