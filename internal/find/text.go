package find

import (
	"fmt"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/repo"
)

// detailed is the number of places that have their best line in a text; the first one has all its lines.
const detailed = 5

// String returns the answer for people: a line for each place with its symbol and the reasons. Below
// the first place are its best lines, below some others the best one.
func (a *Answer) String() string { return a.text(func(s string) string { return s }) }

// Quoted returns the answer for agents, with the texts of the repository in quotes.
func (a *Answer) Quoted() string { return repo.NoteQuotations(a.text(repo.QuotedName)) }

// text returns the answer with each text of the repository as quote returns it.
func (a *Answer) text(quote func(string) string) string {
	var b strings.Builder
	width := 0
	for _, p := range a.Places {
		width = max(width, len(quote(p.where())))
	}
	width = min(width, 44)
	for i, p := range a.Places {
		symbol := ""
		if len(p.Symbols) > 0 {
			symbol = quote(p.Symbols[0].Name) + "  "
		}
		fmt.Fprintf(&b, "%-*s  %s%s\n", width, quote(p.where()), symbol, strings.Join(p.reasons(quote), "; "))
		if i == 0 {
			for _, l := range p.Lines {
				fmt.Fprintf(&b, "    %d: %s\n", l.Line, quote(english.Clip(l.Text, 120)))
			}
		} else if p.Text != "" && i < detailed {
			fmt.Fprintf(&b, "    %s\n", quote(english.Clip(p.Text, 120)))
		}
		if p.Command != "" {
			fmt.Fprintf(&b, "    run %s\n", quote(p.Command))
		}
	}
	if len(a.Places) == 0 {
		b.WriteString("no file, symbol or commit has these words\n")
	}
	if len(a.Unmatched) > 0 && len(a.Places) > 0 {
		fmt.Fprintf(&b, "nothing has: %s\n", quote(strings.Join(a.Unmatched, ", ")))
	}
	for _, r := range a.Removed {
		fmt.Fprintf(&b, "note: %s\n", quote(r))
	}
	for _, u := range a.Unknown {
		fmt.Fprintf(&b, "note: %s\n", u.Text(quote))
	}
	return b.String()
}

// reasons returns the reasons, and how many files are not listed because of this one.
func (p *Place) reasons(quote func(string) string) []string {
	list := slices.Clone(p.Why)
	for i, reason := range list {
		if path, ok := strings.CutPrefix(reason, changesWith); ok {
			list[i] = changesWith + quote(path)
		}
	}
	if p.Copies > 0 {
		list = append(list, "+"+english.Count(p.Copies, "copy"))
	}
	return list
}

// where returns the path with the line, in the format of editors.
func (p *Place) where() string {
	if p.Line == 0 {
		return p.Path.String()
	}
	return fmt.Sprintf("%s:%d", p.Path, p.Line)
}
