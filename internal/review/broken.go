package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/repo"
	"ken/internal/usage"
)

// broken lists the remaining exact uses of symbols and files that the change removed.
func (j *judge) broken() error {
	list, cut, err := usage.Remaining(j.ctx, j.Index, j.Tree, j.Change)
	if err != nil {
		return err
	}
	if cut {
		j.unknown(Broken, "the change removes many symbols; ken did not look for all of their users", "")
	}
	slices.SortStableFunc(list, func(a, b usage.Leftover) int {
		return cmp.Or(strings.Compare(string(a.From), string(b.From)), cmp.Compare(a.Lines[0], b.Lines[0]))
	})
	list = j.withoutImports(list)
	gone := make(map[repo.Path]bool)
	for i := range j.Change.Files {
		if f := &j.Change.Files[i]; f.LeftPath() {
			gone[f.OldPath()] = true
		}
	}
	for len(list) > 0 {
		first := list[0]
		same := func(u usage.Leftover) bool {
			whole := gone[u.To] && !j.All // one line is enough for a deleted file
			return u.To == first.To && (u.Symbol == first.Symbol || whole)
		}
		var places []fileLine
		names := make(map[string]bool)
		for _, u := range list {
			if same(u) {
				places = append(places, fileLine{u.From, u.Lines[0]})
				names[u.Symbol] = true
			}
		}
		list = slices.DeleteFunc(list, same)
		what := []textPart{prose("still imports ")}
		if first.Symbol != "" {
			what = []textPart{prose("still uses "), data(first.Symbol)}
			if more := len(names) - 1; more > 0 {
				what = append(what, prose(" and "+english.Count(more, "more name")))
			}
			what = append(what, prose(" of "))
		}
		what = append(what, data(first.To.String()))
		if to := j.Change.Renamed[first.To]; to != "" {
			what = append(what, prose(", which this change moves to "), data(to.String()))
		} else {
			what = append(what, prose(", which this change removes"))
		}
		j.addPlaces(places, "", what)
	}
	return nil
}

// A fileLine is a line of a file.
type fileLine struct {
	path repo.Path
	line int
}

// addPlaces adds a line for each place, or one line for all of them unless All is set.
func (j *judge) addPlaces(places []fileLine, command string, what []textPart) {
	seen := make(map[repo.Path]bool)
	places = slices.DeleteFunc(places, func(p fileLine) bool {
		known := seen[p.path]
		seen[p.path] = true
		return known
	})
	for i, p := range places {
		l := Line{Kind: Broken, Command: command}
		l.place(p.path, p.line)
		if i == 0 && len(places) > 1 && !j.All {
			l.setText(slices.Concat(what, []textPart{prose(fmt.Sprintf("; %s too", doSo(len(places)-1)))})...)
			j.add(l)
			return
		}
		l.setText(what...)
		j.add(l)
	}
}

// doSo returns "1 more file does" or "2 more files do".
func doSo(n int) string {
	if n == 1 {
		return "1 more file does"
	}
	return fmt.Sprintf("%d more files do", n)
}

// withoutImports drops the import of a removed file if the same user also uses one of its symbols, and drops
// repeated lines about one symbol.
func (j *judge) withoutImports(list []usage.Leftover) []usage.Leftover {
	type key struct {
		from, to repo.Path
		symbol   string
	}
	seen := make(map[key]bool)
	for _, u := range list {
		if u.Symbol != "" {
			seen[key{u.From, u.To, ""}] = true
		}
	}
	return slices.DeleteFunc(list, func(u usage.Leftover) bool {
		k := key{u.From, u.To, u.Symbol}
		known := seen[k]
		seen[k] = true
		return known
	})
}
