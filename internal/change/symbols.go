package change

import (
	"cmp"
	"context"
	"slices"
	"strings"

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
			case len(now) == 0, isHidden(f.After.Language, s, now[0]):
				c.Removed = append(c.Removed, Symbol{Path: f.OldPath(), Package: f.Before.Package, Symbol: *s})
			case now[0].Shape != s.Shape:
				c.Signatures = append(c.Signatures, Signature{f, s, now[0]})
			}
		}
	}
}

// isHidden reports whether a script no longer exports a symbol that it exported before.
func isHidden(lang outline.Language, before, after *outline.Symbol) bool {
	isScript := lang == outline.TypeScript || lang == outline.TSX || lang == outline.JavaScript
	return isScript && before.Exported && !after.Exported && before.Depth == 0
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

// markInherited marks the removed members that their type may have from another type.
func (c *Change) markInherited(ctx context.Context, x *searchindex.Index) error {
	for i := range c.Removed {
		var err error
		if c.Removed[i].MayInherit, err = c.mayInherit(ctx, x, &c.Removed[i]); err != nil {
			return err
		}
	}
	return nil
}

// mayInherit reports whether the type of a removed member is still there and may have the member from another type. The
// signature of a class lists its bases. Other types embed types or implement traits: then another type must have a
// member of that name. A type that is gone inherits nothing.
func (c *Change) mayInherit(ctx context.Context, x *searchindex.Index, r *Symbol) (bool, error) {
	owner, isMember := r.Owner()
	if !isMember {
		return false, nil
	}
	name := owner[strings.LastIndexAny(owner, ".:#")+1:]
	if class := c.class(r.Path, owner); class != nil {
		_, bases, _ := strings.Cut(class.Signature, name)
		return strings.ContainsAny(bases, "(:") || strings.Contains(bases, "extends") || strings.Contains(bases, "implements"), nil
	}
	owners, err := x.Declarations(ctx, name)
	if err != nil {
		return false, err
	}
	at := cmp.Or(c.Renamed[r.Path], r.Path).Dir()
	isThere := slices.ContainsFunc(owners, func(d searchindex.Declaration) bool {
		return d.Path.Dir() == at && d.Symbol.FullName() == owner && d.Symbol.Kind != outline.Impl
	})
	if !isThere {
		return false, nil
	}
	members, err := x.Declarations(ctx, r.Symbol.Name)
	return slices.ContainsFunc(members, func(d searchindex.Declaration) bool { return d.Symbol.FullName() != r.Symbol.Name }), err
}

// class returns the class that a file, named by its old path, declares after the change; nil if there is none.
func (c *Change) class(p repo.Path, name string) *outline.Symbol {
	i := slices.IndexFunc(c.Files, func(f File) bool { return f.OldMode != 0 && f.OldPath() == p })
	if i < 0 || c.Files[i].After == nil {
		return nil
	}
	symbols := c.Files[i].After.Symbols
	k := slices.IndexFunc(symbols, func(s outline.Symbol) bool { return s.FullName() == name && s.Kind == outline.Class })
	if k < 0 {
		return nil
	}
	return &symbols[k]
}
