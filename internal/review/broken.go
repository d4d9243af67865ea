package review

import (
	"cmp"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/usage"
	"ken/internal/uses"
)

// broken lists the remaining exact uses of symbols and files that the change removed.
func (j *judge) broken() error {
	list, limits, err := usage.Remaining(j.ctx, j.Index, j.Tree, j.Change)
	if err != nil {
		return err
	}
	for _, limit := range limits {
		j.unknown(Broken, limit, "")
	}
	slices.SortStableFunc(list, func(a, b usage.Leftover) int {
		return cmp.Or(strings.Compare(string(a.From), string(b.From)), cmp.Compare(a.Lines[0], b.Lines[0]),
			strings.Compare(string(a.To), string(b.To)), strings.Compare(a.Symbol, b.Symbol))
	})
	list = withoutImports(list)
	gone := make(map[repo.Path]bool)
	for i := range j.Change.Files {
		if f := &j.Change.Files[i]; f.LeftPath() {
			gone[f.OldPath()] = true
		}
	}
	removed := j.removedNames()
	for len(list) > 0 {
		first := list[0]
		id := causeOf(&first, gone, removed)
		c := &cause{kind: Broken, verb: "still imports ", tests: make(map[string]bool)}
		var names []string
		for i := range list {
			u := &list[i]
			if causeOf(u, gone, removed) != id {
				continue
			}
			c.add(u.From, u.Lines...).More += u.More
			j.listed[listedUse{u.From, u.To, u.Symbol}] = true
			j.listed[listedUse{u.From, u.To, ""}] = true
			c.tests[u.From.JSON().Path] = u.Test
			if name := removedOwner(u, removed); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		list = slices.DeleteFunc(list, func(u usage.Leftover) bool { return causeOf(&u, gone, removed) == id })
		switch {
		case !first.Exact:
			c.kind, c.verb = MayUse, "may still use "
		case len(names) == 1 && names[0] == "default" && uses.Family(first.To) == outline.TypeScript:
			c.what = []textPart{prose("the default export of ")}
			names = nil
		case len(names) > 0:
			c.verb = "still uses "
		}
		c.what = append(c.what, j.removedText(first.To, names)...)
		j.addCause(c)
	}
	return nil
}

// causeOf returns what leftovers of one cause have in common. A file that left its path is the cause for all of its
// names, and a removed type for its members. Calls on unknown values have only the name of the member.
func causeOf(u *usage.Leftover, gone map[repo.Path]bool, removed map[string]bool) string {
	switch {
	case !u.Exact:
		return "." + u.Symbol[strings.LastIndexAny(u.Symbol, ".:#")+1:]
	case gone[u.To]:
		return string(u.To)
	default:
		return string(u.To) + "#" + removedOwner(u, removed)
	}
}

// removedOwner returns the symbol of a leftover, or its type if the change removes that.
func removedOwner(u *usage.Leftover, removed map[string]bool) string {
	if owner, _, isMember := strings.Cut(u.Symbol, "."); isMember && removed[string(u.To)+"#"+owner] {
		return owner
	}
	return u.Symbol
}

// removedNames has PATH#NAME of each removed symbol.
func (j *judge) removedNames() map[string]bool {
	removed := make(map[string]bool)
	for _, s := range j.Change.Removed {
		removed[string(s.Path)+"#"+s.Symbol.FullName()] = true
	}
	return removed
}

// removedText says what the change did to some symbols of a file, or to the file if there are none.
func (j *judge) removedText(p repo.Path, names []string) []textPart {
	words := namesOf(p, names)
	if now := j.Change.Renamed[p]; now != "" {
		return append(words, prose(", which this change moves to "), data(now.String()))
	}
	return append(words, prose(", which this change removes"))
}

// namesOf names the first of some symbols of a file, or the file if there are none.
func namesOf(p repo.Path, names []string) []textPart {
	file := data(p.String())
	switch more := len(names) - 1; {
	case more < 0:
		return []textPart{file}
	case more == 0:
		return []textPart{data(names[0]), prose(" of "), file}
	default:
		return []textPart{data(names[0]), prose(" and " + english.Count(more, "more name") + " of "), file}
	}
}

// withoutImports drops the import of a removed file if the same user also uses one of its symbols.
func withoutImports(list []usage.Leftover) []usage.Leftover {
	seen := make(map[listedUse]bool)
	for _, u := range list {
		if u.Symbol != "" {
			seen[listedUse{u.From, u.To, ""}] = true
		}
	}
	return slices.DeleteFunc(list, func(u usage.Leftover) bool { return seen[listedUse{u.From, u.To, u.Symbol}] })
}
