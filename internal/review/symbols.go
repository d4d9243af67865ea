package review

import (
	"slices"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// A removedSymbol is a symbol that a file no longer declares.
type removedSymbol struct {
	path   repo.Path // before the change
	pkg    string
	symbol outline.Symbol
}

// A changedSignature is a symbol with a changed signature.
type changedSignature struct {
	path          repo.Path // after the change
	language      outline.Language
	before, after outline.Symbol
}

// compareSymbols finds the symbols that changed files no longer declare, and those with another signature.
func (j *judge) compareSymbols() error {
	for i := range j.Changes {
		c := &j.Changes[i]
		gone := c.Kind == repo.Deleted
		if c.Before == nil || c.Unread != "" || !gone && (c.After == nil || c.After.Partial != "") {
			continue
		}
		now := make(map[string]*outline.Symbol)
		if c.After != nil {
			for k := range c.After.Symbols {
				s := &c.After.Symbols[k]
				if now[s.FullName()] == nil {
					now[s.FullName()] = s
				}
			}
		}
		seen := make(map[string]bool)
		for _, s := range c.Before.Symbols {
			name := s.FullName()
			if s.Kind == outline.Heading || s.Kind == outline.Impl || seen[name] {
				continue
			}
			seen[name] = true
			after := now[name]
			switch {
			case after == nil:
				j.removed = append(j.removed, removedSymbol{c.OldPath(), c.Before.Package, s})
			case after.Shape != s.Shape && incompatible(c.After.Language, &s, after):
				j.changed = append(j.changed, changedSignature{c.Path, c.After.Language, s, *after})
			}
		}
	}
	return j.dropInherited()
}

// dropInherited drops removed members if another type has a member of the same name: the type may inherit it.
func (j *judge) dropInherited() error {
	inherited := make(map[string]bool)
	var err error
	j.removed = slices.DeleteFunc(j.removed, func(r removedSymbol) bool {
		name := r.symbol.Name
		if err != nil || r.symbol.FullName() == name {
			return false
		}
		known, asked := inherited[name]
		if !asked {
			var found []searchindex.Declaration
			found, err = j.Index.Declarations(j.ctx, name)
			known = slices.ContainsFunc(found, func(d searchindex.Declaration) bool { return d.Symbol.FullName() != name })
			inherited[name] = known
		}
		return known
	})
	return err
}

// isCode reports whether a file is hand-written code.
func isCode(kind repo.Kind) bool { return kind == repo.KindSource || kind == repo.KindTest }
