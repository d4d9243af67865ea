package brief

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ken/internal/repo"
	"ken/internal/searchindex"
)

// A link is all edges between two files, seen from one of them.
type link struct {
	other   repo.Path
	symbols []string // most used first
	lines   []int    // in the file that uses the other
	count   int      // places
	exact   bool
	via     repo.Path
}

// links groups edges by the file that end returns, exact links first, then those with more
// places.
func links(edges []searchindex.Edge, end func(searchindex.Edge) repo.Path) []link {
	byPath := make(map[repo.Path]*link)
	counts := make(map[repo.Path]map[string]int)
	for _, e := range edges {
		p := end(e)
		l := byPath[p]
		if l == nil {
			l = &link{other: p}
			byPath[p] = l
			counts[p] = make(map[string]int)
		}
		places := len(e.Lines) + e.More
		l.count += places
		l.lines = append(l.lines, e.Lines...)
		if e.Exact && !l.exact || l.via == "" {
			l.via = e.Via
		}
		l.exact = l.exact || e.Exact
		if e.Symbol != "" {
			counts[p][e.Symbol] += places
		}
	}
	list := make([]link, 0, len(byPath))
	for p, l := range byPath {
		slices.Sort(l.lines)
		l.lines = slices.Compact(l.lines)
		for s := range counts[p] {
			l.symbols = append(l.symbols, s)
		}
		slices.SortFunc(l.symbols, func(a, b string) int {
			return cmp.Or(cmp.Compare(counts[p][b], counts[p][a]), strings.Compare(a, b))
		})
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b link) int {
		return cmp.Or(compareBool(a.exact, b.exact), cmp.Compare(b.count, a.count), strings.Compare(string(a.other), string(b.other)))
	})
	return list
}

// compareBool puts true before false.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

const (
	linkLines   = 4 // line numbers of a link
	linkSymbols = 4 // symbols of a link
)

// item returns a link as a line: the file with the lines in it, and the symbols.
func (l link) item(withLines bool) Item {
	it := Item{Names: l.symbols, Lines: l.lines, Certainty: "exact"}.at(l.other)
	show := name(l.other)
	if withLines && len(l.lines) > 0 {
		shown := make([]string, 0, linkLines)
		for _, n := range l.lines[:min(len(l.lines), linkLines)] {
			shown = append(shown, fmt.Sprint(n))
		}
		show += ":" + strings.Join(shown, ",")
		if l.count > len(shown) {
			show += ",…"
		}
	}
	if len(l.symbols) > 0 {
		show += "  " + enumerate(l.symbols, linkSymbols)
	}
	if !l.exact {
		it.Certainty = "likely"
		show += " (likely)"
	}
	if l.via != "" {
		it.Via = string(l.via)
		show += " (through " + name(l.via) + ")"
	}
	it.show = show
	return it
}

// enumerate returns the first names, and how many more there are.
func enumerate(names []string, most int) string {
	if len(names) <= most+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay") {
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
