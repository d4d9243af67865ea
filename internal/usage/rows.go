package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ken/internal/repo"
	"ken/internal/uses"
)

// A userRow is one line about a file: the symbols that it uses, exact or likely.
type userRow struct {
	path          repo.PathJSON
	test          bool
	generated     bool
	lines         []int
	more          int
	exact, likely []Place
}

// userRows combines the entries of each file into one row.
func userRows(list []User) []*userRow {
	var rows []*userRow
	at := make(map[repo.PathJSON]int)
	for _, u := range list {
		i, known := at[u.PathJSON]
		if !known {
			i = len(rows)
			at[u.PathJSON] = i
			rows = append(rows, &userRow{path: u.PathJSON, test: u.Test, generated: u.Generated})
		}
		r := rows[i]
		r.lines = append(r.lines, u.Lines...)
		slices.Sort(r.lines)
		r.lines = slices.Compact(r.lines)
		r.more += u.More
		if u.Certainty == uses.Exact {
			r.exact = append(r.exact, u.Places...)
		} else {
			r.likely = append(r.likely, u.Places...)
		}
	}
	return rows
}

func (r *userRow) onlyLikely() bool { return len(r.exact) == 0 }

func (r *userRow) marks() string {
	if r.generated {
		return "generated"
	}
	return ""
}

// how returns which symbols a file uses, or how it uses the one in the query.
func (t *textWriter) how(r *userRow) string {
	say := t.symbolsOf
	if t.answer.Symbol != "" {
		say = t.places
	}
	text := say(r.likely)
	if !r.onlyLikely() {
		text = say(r.exact)
		if len(r.likely) > 0 {
			text += "; likely " + say(r.likely)
		}
	}
	text = strings.TrimPrefix(text, "; ")
	if t.answer.Symbol == "" {
		text += t.within(append(slices.Clone(r.exact), r.likely...))
	}
	return strings.TrimSpace(text)
}

// within returns the functions around all lines of a file, if there are only a few.
func (t *textWriter) within(places []Place) string {
	few := t.few(2)
	var names []string
	for _, p := range places {
		if len(p.In) == 0 || p.More > 0 {
			return ""
		}
		for _, in := range p.In {
			if !slices.Contains(names, in) {
				names = append(names, in)
			}
		}
	}
	if len(names) == 0 || len(names) > few {
		return ""
	}
	return " in " + strings.Join(names, ", ")
}

// symbolsOf lists the names of used symbols: first those that are used directly, then those of each file that
// re-exports them.
func (t *textWriter) symbolsOf(places []Place) string {
	few := t.few(5)
	places = slices.Clone(places)
	slices.SortStableFunc(places, func(a, b Place) int { return strings.Compare(string(a.Via), string(b.Via)) })
	var parts []string
	seen := make(map[string]bool)
	for len(places) > 0 {
		via := places[0].Via
		var names []string
		for len(places) > 0 && places[0].Via == via {
			if name := places[0].Symbol; name != "" && !seen[name] {
				seen[name] = true
				if len(seen) <= few {
					names = append(names, name)
				}
			}
			places = places[1:]
		}
		if len(names) > 0 {
			parts = append(parts, strings.Join(names, ", ")+through(via))
		} else if len(places) == 0 && len(parts) == 0 && via != "" {
			parts = append(parts, strings.TrimSpace(through(via)))
		}
	}
	text := strings.Join(parts, "; ")
	if len(seen) > few {
		text += fmt.Sprintf(" and %d more", len(seen)-few)
	}
	return text
}

// through returns the file that re-exports a symbol.
func through(via repo.Path) string {
	if via == "" {
		return ""
	}
	return " via " + via.String()
}

// places returns how a symbol is used, and in which declarations. Members of a type that are used in the same way
// are listed together.
func (t *textWriter) places(places []Place) string {
	few := t.few(3)
	type kind struct {
		how string
		via repo.Path
	}
	var order []kind
	members := make(map[kind][]string)
	around := make(map[kind][]string)
	for _, p := range places {
		k := kind{strings.TrimSpace(cmp.Or(p.How, "mention") + " " + p.Match), p.Via}
		if !slices.Contains(order, k) {
			order = append(order, k)
		}
		if p.Symbol != "" && !t.isAsked(p.Symbol) {
			_, member := splitName(p.Symbol)
			if !slices.Contains(members[k], member) {
				members[k] = append(members[k], member)
			}
		}
		for _, in := range p.In {
			if !slices.Contains(around[k], in) {
				around[k] = append(around[k], in)
			}
		}
	}
	var parts []string
	for _, k := range order {
		part := k.how
		if m := members[k]; len(m) > 0 {
			part += " of " + listed(m[:min(few, len(m))], len(m))
		}
		if in := around[k]; len(in) > 0 {
			part += " in " + listed(in[:min(few, len(in))], len(in))
		}
		parts = append(parts, part+through(k.via))
	}
	return strings.Join(parts, "; ")
}

// isAsked reports whether a symbol is one of the declarations in the query.
func (t *textWriter) isAsked(symbol string) bool {
	return slices.ContainsFunc(t.answer.Declarations, func(d Declaration) bool { return d.Name == symbol })
}

// fewLines is how many lines of a file a text lists.
const fewLines = 5

// lineList returns PATH:LINES with the first few lines.
func lineList(p string, lines []int, more, few int) string {
	var list []string
	for _, n := range lines[:min(few, len(lines))] {
		list = append(list, strconv.Itoa(n))
	}
	more += max(0, len(lines)-few)
	if more > 0 {
		list = append(list, "+"+strconv.Itoa(more))
	}
	if len(list) == 0 {
		return p
	}
	return p + ":" + strings.Join(list, ",")
}
