package review

import (
	"cmp"
	"slices"
	"strings"

	"ken/internal/find"
	"ken/internal/repo"
	"ken/internal/uses"
)

// broken lists the exact uses that remain of symbols and files that the change removed.
func (j *judge) broken() error {
	old, added := j.oldFiles()
	list, cut, err := find.RemainingUses(j.ctx, j.Index, j.Tree, old, added)
	if err != nil {
		return err
	}
	if cut {
		j.unknown(Broken, "the change removes many symbols; ken did not look for all of their users", "")
	}
	slices.SortStableFunc(list, func(a, b find.Remaining) int {
		return cmp.Or(strings.Compare(string(a.From), string(b.From)), cmp.Compare(a.Lines[0], b.Lines[0]))
	})
	for _, u := range j.withoutImports(list) {
		l := Line{Kind: Broken}
		l.place(u.From, u.Lines[0])
		if u.Symbol == "" {
			l.setText(said("still imports "), data(u.To.String()), said(", which this change removes"))
		} else {
			l.setText(said("still uses "), data(u.Symbol), said(" of "), data(u.To.String()), said(", which this change removes"))
		}
		j.add(l)
	}
	return nil
}

// withoutImports leaves out the line that imports a removed file if a line for one of its symbols
// is there for the same user, and further lines about one symbol.
func (j *judge) withoutImports(list []find.Remaining) []find.Remaining {
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
	return slices.DeleteFunc(list, func(u find.Remaining) bool {
		k := key{u.From, u.To, u.Symbol}
		known := seen[k]
		seen[k] = true
		return known
	})
}

// oldFiles returns the changed files as they were, and the paths that the old tree did not have.
func (j *judge) oldFiles() (old []find.OldFile, added []repo.Path) {
	removed := make(map[repo.Path]map[string]string)
	for _, s := range j.removed {
		if removed[s.path] == nil {
			removed[s.path] = make(map[string]string)
		}
		removed[s.path][s.symbol.FullName()] = s.symbol.Name
	}
	for i := range j.Changes {
		c := &j.Changes[i]
		if c.Kind == repo.Added || c.From != "" {
			added = append(added, c.Path)
		}
		if c.OldMode == 0 {
			continue
		}
		f := find.OldFile{Path: c.OldPath(), Outline: c.Before, Imports: c.Imports, Read: func() []byte { return j.ReadOld(c.Old) }}
		if c.Unread == "" && c.Before != nil {
			f.Removed = removed[f.Path]
			f.Gone = (c.Kind == repo.Deleted || c.From != "") && uses.Resolves(c.Before.Language)
		}
		old = append(old, f)
	}
	return old, added
}
