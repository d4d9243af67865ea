package review

import (
	"cmp"
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
	list = withoutImports(list)
	gone := make(map[repo.Path]bool)
	removed := make(map[string]bool)
	for i := range j.Change.Files {
		if f := &j.Change.Files[i]; f.LeftPath() {
			gone[f.OldPath()] = true
		}
	}
	for _, s := range j.Change.Removed {
		removed[string(s.Path)+"#"+s.Symbol.FullName()] = true
	}
	// A file that left its path is the cause for all of its names, and a removed type for its members.
	causeOf := func(u usage.Leftover) string {
		if gone[u.To] {
			return string(u.To)
		}
		owner, _, _ := strings.Cut(u.Symbol, ".")
		if name := string(u.To) + "#" + owner; removed[name] {
			return name
		}
		return string(u.To) + "#" + u.Symbol
	}
	for len(list) > 0 {
		first := causeOf(list[0])
		same := func(u usage.Leftover) bool { return causeOf(u) == first }
		c := &cause{kind: Broken, verb: "still imports "}
		var names []string
		for _, u := range list {
			if !same(u) {
				continue
			}
			c.add(u.From, u.Lines...)
			_, name, isSymbol := strings.Cut(first, "#")
			if name = cmp.Or(name, u.Symbol); (isSymbol || name != "") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		to := list[0].To
		list = slices.DeleteFunc(list, same)
		if len(names) > 0 {
			c.verb = "still uses "
			c.what = append(c.what, data(names[0]))
			if more := len(names) - 1; more > 0 {
				c.what = append(c.what, prose(" and "+english.Count(more, "more name")))
			}
			c.what = append(c.what, prose(" of "))
		}
		c.what = append(c.what, data(to.String()))
		if now := j.Change.Renamed[to]; now != "" {
			c.what = append(c.what, prose(", which this change moves to "), data(now.String()))
		} else {
			c.what = append(c.what, prose(", which this change removes"))
		}
		j.addCause(c)
	}
	return nil
}

// withoutImports drops the import of a removed file if the same user also uses one of its symbols.
func withoutImports(list []usage.Leftover) []usage.Leftover {
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
		return u.Symbol == "" && seen[k]
	})
}
