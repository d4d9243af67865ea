package find

import (
	"fmt"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/repo"
)

// detailed is the number of places that have their best line and further symbols in a text.
const detailed = 5

// String returns the answer for people: a line for each place with its symbol and the reasons. Below
// the first places are the best line and further symbols.
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
		fmt.Fprintf(&b, "%-*s  %s%s\n", width, quote(p.where()), symbol, strings.Join(p.notableReasons(quote), "; "))
		if p.Text != "" && i < detailed {
			fmt.Fprintf(&b, "    %s\n", quote(english.Clip(p.Text, 120)))
		}
		if p.Command != "" {
			fmt.Fprintf(&b, "    run %s\n", quote(p.Command))
		}
		if len(p.Symbols) > 1 && i < detailed {
			var others []string
			for _, s := range p.Symbols[1:] {
				others = append(others, quote(fmt.Sprintf("%s:%d", s.Name, s.Line)))
			}
			fmt.Fprintf(&b, "    also %s\n", strings.Join(others, ", "))
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

// notableReasons returns the reasons that are not obvious from the path and the names.
func (p *Place) notableReasons(quote func(string) string) []string {
	list := slices.DeleteFunc(slices.Clone(p.Why), func(reason string) bool { return reason == "path" || reason == "name" || reason == "text" })
	if len(list) == 0 {
		return p.Why
	}
	for i, reason := range list {
		if path, ok := strings.CutPrefix(reason, changesWith); ok {
			list[i] = changesWith + quote(path)
		}
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
