package change

import (
	"context"
	"slices"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// compareSymbols finds the symbols that changed files no longer declare, and those with another signature.
func (c *Change) compareSymbols() {
	for i := range c.Files {
		f := &c.Files[i]
		comparable := f.Kind == repo.Deleted || f.After != nil && f.After.Partial == ""
		if f.Before == nil || !comparable {
			continue
		}
		was := ByName(f.Before)
		is := ByName(f.After)
		for k := range f.Before.Symbols {
			s := &f.Before.Symbols[k]
			name := s.FullName()
			if s.Kind == outline.Heading || s.Kind == outline.Impl || s != was[name][0] {
				continue
			}
			now := is[name]
			switch {
			case len(now) == 0:
				c.Removed = append(c.Removed, Symbol{f.OldPath(), f.Before.Package, *s})
			case now[0].Shape != s.Shape:
				c.Signatures = append(c.Signatures, Signature{f, s, now[0]})
			}
		}
	}
}

// ByName returns the symbols of an outline by their full names. Several symbols may have one name, such as the getter
// and the setter of a property.
func ByName(o *outline.Outline) map[string][]*outline.Symbol {
	m := make(map[string][]*outline.Symbol)
	if o == nil {
		return m
	}
	for i := range o.Symbols {
		s := &o.Symbols[i]
		m[s.FullName()] = append(m[s.FullName()], s)
	}
	return m
}

// dropInherited drops removed members if another type has a member of the same name: the type may inherit it.
func (c *Change) dropInherited(ctx context.Context, x *searchindex.Index) error {
	inherited := make(map[string]bool)
	var err error
	c.Removed = slices.DeleteFunc(c.Removed, func(r Symbol) bool {
		name := r.Symbol.Name
		if err != nil || r.Symbol.FullName() == name {
			return false
		}
		known, asked := inherited[name]
		if !asked {
			var found []searchindex.Declaration
			found, err = x.Declarations(ctx, name)
			known = slices.ContainsFunc(found, func(d searchindex.Declaration) bool { return d.Symbol.FullName() != name })
			inherited[name] = known
		}
		return known
	})
	return err
}
