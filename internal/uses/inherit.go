package uses

import (
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// maxHeritage is how many steps from a type to its bases are followed.
const maxHeritage = 12

// A heritage is the result of looking for a member in a type and its bases.
type heritage struct {
	found []decl
	// doubtful is set if a base that ken does not know may hide what was found.
	doubtful bool
}

// add adds an edge to an inherited member. It reports false if several declarations are possible, or none.
func (h heritage) add(e *collector, m mention) bool {
	if len(h.found) != 1 {
		return false
	}
	certainty := Exact
	if h.doubtful {
		certainty = Likely
	}
	e.add(h.found[0].target(), "", certainty, m)
	return true
}

// inherited looks for a member in a class and in the classes that it extends.
func (s *moduleScope) inherited(owner target, name string) heritage {
	var h heritage
	visited := make(map[target]bool)
	var visit func(owner target, depth int)
	visit = func(owner target, depth int) {
		if visited[owner] {
			return
		}
		visited[owner] = true
		index := s.e.declared(owner.path)
		if found := index.full(owner.symbol + "." + name); len(found) > 0 {
			h.found = append(h.found, found[0])
			return
		}
		types := slices.DeleteFunc(index.full(owner.symbol), func(d decl) bool { return !isTypeKind(d.kind) })
		if len(types) == 0 || depth == maxHeritage {
			h.doubt()
			return
		}
		for _, base := range strings.Fields(types[0].bases) {
			if isPlainBase(base) {
				continue
			}
			if to := s.typeIn(owner.path, base); to.state == inside && to.module == nil && !to.isOpen() {
				visit(to.symbol, depth+1)
			} else {
				h.doubt()
			}
		}
	}
	visit(owner, 0)
	return h
}

// doubt records a base that ken does not know. It hides only what is found later.
func (h *heritage) doubt() { h.doubtful = h.doubtful || len(h.found) == 0 }

// isPlainBase reports whether a base of Python adds no members.
func isPlainBase(base string) bool {
	switch lastPart(base, ".") {
	case "object", "Generic", "Protocol", "ABC":
		return true
	}
	return false
}

// typeIn returns the meaning of a dotted name in another file.
func (s *moduleScope) typeIn(p repo.Path, name string) meaning {
	f := s.e.file(p)
	if f == nil {
		return meaning{}
	}
	parts := strings.Split(name, ".")
	if own := f.decls.top(parts[0]); len(own) > 0 {
		return s.walkAll(meaning{state: inside, symbol: own[0].target()}, parts[1:])
	}
	best := meaning{}
	for i := range f.imports {
		im := &f.imports[i]
		if im.Module == "" || im.Reexport {
			continue
		}
		for _, b := range im.Names {
			got := s.bindingIn(f, im, b, parts)
			switch {
			case got.state == inside && best.state == inside && got.symbol != best.symbol:
				return meaning{state: several}
			case got.state == inside || best.state == unknown:
				best = got
			}
		}
	}
	return best
}

// bindingIn returns the meaning of a dotted name if a binding of an import is its beginning.
func (s *moduleScope) bindingIn(f *fileFacts, im *outline.Import, b outline.Binding, parts []string) meaning {
	isStar := b.Name == "*" && b.As == ""
	local := strings.Split(b.Local(), ".") // import a.b of Python binds a.b
	if !isStar && (len(local) > len(parts) || !slices.Equal(local, parts[:len(local)])) {
		return meaning{}
	}
	mod, st := s.resolve(f.path, im.Module)
	switch {
	case st != inside:
		return meaning{state: st}
	case isStar:
		if other := s.e.file(mod.file); other == nil || !s.rules.inStar(other, parts[0]) {
			return meaning{}
		}
		return s.walkAll(s.find(mod, parts[0]), parts[1:])
	case b.Name == "" || b.Name == "*":
		return s.walkAll(moduleMeaning(mod, inside), parts[len(local):])
	}
	return s.walkAll(s.find(mod, b.Name), parts[1:])
}

// walkAll follows names from a meaning. If one of them is not declared, the result is unknown.
func (s *moduleScope) walkAll(from meaning, names []string) meaning {
	reached, _, n := s.walk(boundName{meaning: from}, names)
	if n < len(names) {
		return meaning{}
	}
	return reached
}

// A goType is a type of a package.
type goType struct {
	pkg  *goPackage // nil if the type is not known
	name string
}

// promoted looks for a field or method of a type, and of the types that it embeds, level by level.
func (s *goScope) promoted(owner goType, name string) heritage {
	var h heritage
	seen := make(map[goType]bool)
	unknownAbove := false // a type that ken does not know is one level above
	for level, depth := []goType{owner}, 0; len(level) > 0 && depth < maxHeritage; depth++ {
		unknownBelow := false
		var next []goType
		for _, t := range level {
			if seen[t] {
				continue
			}
			seen[t] = true
			h.found = append(h.found, s.seen(t.pkg, t.pkg.decls.full(t.name+"."+name))...)
			for _, d := range t.pkg.embedded[t.name] {
				base := s.goNamed(t.pkg, d.path, d.bases)
				if base.pkg == nil {
					unknownBelow = true
				} else {
					next = append(next, base)
				}
			}
		}
		if len(h.found) > 0 {
			return h
		}
		// A member of an unknown type hides those of the levels below it.
		h.doubtful = h.doubtful || unknownAbove
		unknownAbove = unknownBelow
		level = next
	}
	return h
}

// seen returns the declarations of a package that the file sees.
func (s *goScope) seen(pkg *goPackage, decls []decl) []decl {
	if pkg == s.own {
		return s.visible(decls)
	}
	return slices.DeleteFunc(decls, func(d decl) bool { return !d.exported || isGoTest(d.path) || !sameSystem(s.e.from.Path, d.path) })
}

// goNamed returns the type that a name in a file of a package means.
func (s *goScope) goNamed(pkg *goPackage, p repo.Path, typ string) goType {
	qualifier, name, ok := strings.Cut(typ, ".")
	if !ok {
		name = qualifier
		if len(pkg.decls.top(name)) == 0 {
			return goType{} // predeclared
		}
		return goType{pkg, name}
	}
	f := s.e.file(p)
	if f == nil {
		return goType{}
	}
	for i := range f.imports {
		im := &f.imports[i]
		dir := s.e.r.goDirOf(p, im.Module)
		if !dir.found || dir.certainty != Exact {
			continue
		}
		imported := s.e.goDirectory(dir.dir).importable
		if imported == nil {
			continue
		}
		isBound := func(b outline.Binding) bool { return b.As == qualifier || imported.name == qualifier }
		if slices.ContainsFunc(im.Names, isBound) && len(imported.decls.top(name)) > 0 {
			return goType{imported, name}
		}
	}
	return goType{}
}
