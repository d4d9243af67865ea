package find

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// String is the answer for people and agents: a line for each place with its symbol and the
// reasons, and the best line below it.
func (a *Answer) String() string {
	var b strings.Builder
	width := 0
	for _, p := range a.Places {
		width = max(width, len(p.where()))
	}
	width = min(width, 44)
	for _, p := range a.Places {
		symbol := ""
		if len(p.Symbols) > 0 {
			symbol = p.Symbols[0].Name + "  "
		}
		fmt.Fprintf(&b, "%-*s  %s%s\n", width, p.where(), symbol, strings.Join(p.Why, "; "))
		if p.Text != "" {
			fmt.Fprintf(&b, "    %s\n", clip(p.Text, 120))
		}
		if len(p.Symbols) > 1 {
			var others []string
			for _, s := range p.Symbols[1:] {
				others = append(others, fmt.Sprintf("%s:%d", s.Name, s.Line))
			}
			fmt.Fprintf(&b, "    also %s\n", strings.Join(others, ", "))
		}
	}
	if len(a.Places) == 0 {
		b.WriteString("no file, symbol or commit has these words\n")
	}
	if len(a.Unknown) > 0 && len(a.Places) > 0 {
		fmt.Fprintf(&b, "nothing has: %s\n", strings.Join(a.Unknown, ", "))
	}
	for _, r := range a.Remarks {
		fmt.Fprintf(&b, "note: %s\n", r)
	}
	return b.String()
}

// where is the path with the line, as editors take it.
func (p *Place) where() string {
	if p.Line == 0 {
		return p.Path.String()
	}
	return fmt.Sprintf("%s:%d", p.Path, p.Line)
}

// clip cuts a text to at most n bytes, at a character.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
