package uses

import (
	"cmp"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// fileFacts are the facts about a file that a resolver remembers.
type fileFacts struct {
	path     repo.Path
	language outline.Language
	pkg      string
	imports  []outline.Import
	decls    declIndex
}

func factsOf(f *ParsedFile) *fileFacts {
	facts := &fileFacts{path: f.Path, language: f.Language, pkg: f.Package, imports: f.Imports}
	facts.decls.add(f)
	facts.decls.sort()
	return facts
}

// file returns the facts of a file, nil when there are none.
func (e *collector) file(p repo.Path) *fileFacts {
	if p == e.from.Path {
		if e.own == nil {
			e.own = factsOf(e.from)
		}
		return e.own
	}
	if !e.r.has(p) {
		return nil
	}
	return remember(e, &e.r.facts, p, func() (*fileFacts, error) {
		f, err := e.r.src.File(p)
		if err != nil || f == nil {
			return nil, err
		}
		return factsOf(f), nil
	})
}

// declared returns the declarations of a file.
func (e *collector) declared(p repo.Path) declIndex {
	if f := e.file(p); f != nil {
		return f.decls
	}
	return nil
}

// declarations returns all declarations of a name in the tree.
func (e *collector) declarations(name string) []decl {
	return remember(e, &e.r.named, name, func() ([]decl, error) {
		all, err := e.r.src.Declarations(name)
		list := make([]decl, len(all))
		for i := range all {
			list[i] = declOf(all[i].Path, Family(all[i].Path), &all[i].Symbol)
		}
		return list, err
	})
}

// A decl has the facts about a symbol that a resolver remembers.
type decl struct {
	path      repo.Path
	name      string
	qualified string // "" when it belongs to nothing else
	kind      outline.Kind
	exported  bool
	nested    bool
	bases     string // types whose members it has as well, with spaces; see outline.Symbol.Bases
	valueType string // of what it returns, or of the variable; see outline.Symbol.ValueType
}

func declOf(p repo.Path, lang outline.Language, s *outline.Symbol) decl {
	return decl{
		path: p, name: s.Name, qualified: s.Qualified, kind: s.Kind, exported: s.Exported, nested: s.Depth > 0,
		bases: strings.Join(s.Bases(lang), " "), valueType: s.ValueType(lang),
	}
}

func (d *decl) fullName() string {
	if d.qualified != "" {
		return d.qualified
	}
	return d.name
}

func (d *decl) target() target { return target{d.path, d.fullName()} }

// A declIndex has the declarations of a file or a package, sorted by name.
type declIndex []decl

func (x *declIndex) add(f *ParsedFile) {
	for i := range f.Symbols {
		*x = append(*x, declOf(f.Path, f.Language, &f.Symbols[i]))
	}
}

// sort must be called between add and find. Declarations of one name keep their order.
func (x declIndex) sort() {
	slices.SortStableFunc(x, func(a, b decl) int { return cmp.Compare(a.name, b.name) })
}

// top returns the top-level declarations of a name.
func (x declIndex) top(name string) []decl {
	return x.find(name, func(d *decl) bool { return d.qualified == "" && !d.nested })
}

// full returns the declarations of a full name, as in Type.Method.
func (x declIndex) full(name string) []decl {
	return x.find(lastPart(name, "."), func(d *decl) bool { return d.fullName() == name })
}

// members returns the declarations of a name as a method, a field or a member of something.
func (x declIndex) members(name string) []decl {
	return x.find(name, func(d *decl) bool {
		switch d.kind {
		case outline.Method, outline.Field, outline.Property, outline.Member:
			return true
		default:
			return d.qualified != "" && d.kind != outline.Impl
		}
	})
}

// find returns one declaration for each file and full name: a function with overloads is
// one, and has a type only if all of them have it.
func (x declIndex) find(name string, is func(*decl) bool) []decl {
	i, known := slices.BinarySearchFunc(x, name, func(d decl, name string) int { return cmp.Compare(d.name, name) })
	if !known {
		return nil
	}
	var found []decl
	for ; i < len(x) && x[i].name == name; i++ {
		d := &x[i]
		if !is(d) {
			continue
		}
		same := func(o decl) bool { return o.path == d.path && o.qualified == d.qualified }
		if at := slices.IndexFunc(found, same); at < 0 {
			found = append(found, *d)
		} else if found[at].valueType != d.valueType {
			found[at].valueType = ""
		}
	}
	return found
}
