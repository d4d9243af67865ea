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
func (r *Review) String() string { return r.text(plain) }

// Quoted returns the review for agents, with the texts of the repository in quotes.
func (r *Review) Quoted() string { return repo.NoteQuotations(r.text(repo.QuotedName)) }

// text returns the review with each text of the repository as quote returns it.
func (r *Review) text(quote func(string) string) string {
	var b strings.Builder
	b.WriteString(r.headline(quote))
	if len(r.Lines) == 0 && len(r.Unknown) == 0 {
		b.WriteString(": nothing to do")
		if r.Signatures > 0 {
			b.WriteString(", but for what a compiler checks: " + english.Count(r.Signatures, "signature"))
		}
	}
	b.WriteString("\n")
	if len(r.Lines)+len(r.Unknown)+len(r.OlderLines) > 0 {
		b.WriteString("\n")
	}
	writeRows(&b, r.Lines, quote)
	if r.More > 0 {
		fmt.Fprintf(&b, "and %s (--all)\n", english.Count(r.More, "more line"))
	}
	if len(r.Unknown) > 0 {
		parts := make([]string, len(r.Unknown))
		for i, u := range r.Unknown {
			parts[i] = u.Text(quote)
		}
		b.WriteString("unknown  " + strings.Join(parts, "; ") + "\n")
	}
	switch {
	case len(r.OlderLines) > 0:
		b.WriteString("\nolder than this change\n")
		writeRows(&b, r.OlderLines, quote)
	case r.Older > 0:
		fmt.Fprintf(&b, "%s (--all)\n", english.Count(r.Older, "older problem"))
	}
	return b.String()
}

// Headline returns the range and the number of files.
func (r *Review) Headline() string { return r.headline(plain) }

func (r *Review) headline(quote func(string) string) string {
	files := english.Count(r.Files, "file") + " changed"
	if r.Files == 0 {
		files = "no file changed"
	}
	switch {
	case r.From == "":
		return "this change could not be reviewed"
	case r.To != Worktree:
		return fmt.Sprintf("%s from %s (%s) to %s", files, quote(r.Base), short(r.From), short(r.To))
	default:
		return fmt.Sprintf("%s since %s (%s)", files, quote(r.Base), short(r.From))
	}
}

// Worktree is the end of a change that is not committed.
const Worktree = "worktree"

func short(id string) string { return id[:min(len(id), 7)] }

// writeRows writes a line for each, in columns.
func writeRows(b *strings.Builder, lines []Line, quote func(string) string) {
	const widest = 44
	width := 0
	for _, l := range lines {
		if n := len([]rune(l.subject(quote))); n <= widest {
			width = max(width, n)
		}
	}
	for _, l := range lines {
		parts := fmt.Sprintf("%-7s  %-*s  %s", l.Kind, width, l.subject(quote), l.textWith(quote))
		if l.Kind == Also {
			parts = fmt.Sprintf("%-7s  %s", l.Kind, l.textWith(quote))
		}
		if l.Kind == Tests && l.Command != "" {
			parts = fmt.Sprintf("%-7s  %-*s  %s", l.Kind, width, l.subject(quote), quote(l.Command))
		} else if l.Command != "" {
			parts += "  run: " + quote(l.Command)
		}
		b.WriteString(strings.TrimRight(parts, " ") + "\n")
		if !l.listAll {
			continue
		}
		for _, f := range l.Files() {
			fmt.Fprintf(b, "%-7s  %s\n", "", quote(f.String()))
		}
	}
}

// textWith returns the text with its data as quote returns it.
func (l *Line) textWith(quote func(string) string) string {
	var b strings.Builder
	for _, w := range l.words {
		if w.data {
			b.WriteString(quote(w.text))
		} else {
			b.WriteString(plain(w.text))
		}
	}
	return b.String()
}

// subject returns the subject as quote returns it, unless it is a count.
func (l *Line) subject(quote func(string) string) string {
	if l.Path == "" {
		return l.Subject
	}
	return quote(l.Subject)
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
