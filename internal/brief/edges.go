package brief

import (
	"fmt"
	"strings"

	"ken/internal/english"
	"ken/internal/searchindex"
)

const (
	linkLines   = 4 // line numbers of a link
	linkSymbols = 4 // symbols of a link
)

// linkItem returns a link as a line: the file with the lines in it, and the symbols.
func linkItem(l searchindex.Link, withLines bool) Item {
	it := Item{Names: l.Symbols, Lines: l.Lines, Certainty: "exact"}.at(l.Other)
	show := name(l.Other)
	if withLines && len(l.Lines) > 0 {
		shown := make([]string, 0, linkLines)
		for _, n := range l.Lines[:min(len(l.Lines), linkLines)] {
			shown = append(shown, fmt.Sprint(n))
		}
		show += ":" + strings.Join(shown, ",")
		if l.Places > len(shown) {
			show += fmt.Sprintf(",+%d", l.Places-len(shown))
		}
	}
	if len(l.Symbols) > 0 {
		show += "  " + english.FirstOrAll(l.Symbols, linkSymbols)
	}
	if !l.Exact {
		it.Certainty = "likely"
		show += " (likely)"
	}
	if l.Via != "" {
		it.Via = string(l.Via)
		show += " (through " + name(l.Via) + ")"
	}
	it.show = show
	return it
}
