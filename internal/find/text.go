package find

import (
	"fmt"
	"slices"
	"strings"

	"ken/internal/english"
)

// detailed is the number of places that have their best line and further symbols in a text.
const detailed = 5

// String returns the answer for people and agents: a line for each place with its symbol and the reasons. Below
// the first places are the best line and further symbols.
func (a *Answer) String() string {
	var b strings.Builder
	width := 0
	for _, p := range a.Places {
		width = max(width, len(p.where()))
	}
	width = min(width, 44)
	for i, p := range a.Places {
		symbol := ""
		if len(p.Symbols) > 0 {
			symbol = p.Symbols[0].Name + "  "
		}
		fmt.Fprintf(&b, "%-*s  %s%s\n", width, p.where(), symbol, strings.Join(p.notableReasons(), "; "))
		if p.Text != "" && i < detailed {
			fmt.Fprintf(&b, "    %s\n", english.Clip(p.Text, 120))
		}
		if p.Command != "" {
			fmt.Fprintf(&b, "    run %s\n", p.Command)
		}
		if len(p.Symbols) > 1 && i < detailed {
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

// notableReasons returns the reasons that are not obvious from the path and the names.
func (p *Place) notableReasons() []string {
	list := slices.DeleteFunc(slices.Clone(p.Why), func(reason string) bool { return reason == "path" || reason == "name" || reason == "text" })
	if len(list) == 0 {
		return p.Why
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
