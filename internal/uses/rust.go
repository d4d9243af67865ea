package uses

import (
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// A rustPlace is a module or an item: a file, and in it an inline module or a symbol.
type rustPlace struct {
	file      repo.Path
	symbol    string // "" for the file's own module
	isModule  bool
	certainty Certainty
	via       repo.Path // the file that re-exports it
	outside   bool      // it comes from another crate
}

func (p rustPlace) known() bool { return p.file != "" }

// rustScope resolves the paths of one Rust file. Names that only a glob, a macro or
// the type of an expression explains have no edge.
type rustScope struct {
	e     *collector
	crate *crate
	roots []repo.Path // of the module tree that the file belongs to; two when a program shares it with the library
	bound map[string]rustPlace
}

func (r *Resolver) rustEdges(e *collector) {
	s := r.rustScopeOf(e)
	for i := range e.refs.Imports {
		s.bind(&e.refs.Imports[i])
	}
	used := make(map[string]bool)
	for i := range e.uses {
		s.use(&e.uses[i], used)
	}
	for i := range e.refs.Imports {
		s.importEdges(&e.refs.Imports[i], used)
	}
}

func (r *Resolver) rustScopeOf(e *collector) *rustScope {
	k := r.crates.crateOf(e.from.Path.Dir())
	s := &rustScope{e: e, crate: k, bound: make(map[string]rustPlace)}
	if k != nil {
		s.roots = r.rustRoots(k, e.from.Path)
	}
	return s
}

// rustRoots returns the files at the root of a file's module tree.
func (r *Resolver) rustRoots(k *crate, p repo.Path) []repo.Path {
	if k.roots[p] {
		return []repo.Path{p}
	}
	// A program or test in a directory of its own.
	for d := range p.Dir().Upward() {
		if d == k.dir || d == under(k.dir, "src") {
			break
		}
		if main := under(d, "main.rs"); r.has(main) {
			return []repo.Path{main}
		}
	}
	var roots []repo.Path
	for _, root := range []repo.Path{k.lib, under(k.dir, "src/main.rs")} {
		if root != "" && r.has(root) && p.Under(root.Dir()) {
			roots = append(roots, root)
		}
	}
	return roots
}

// bind resolves the names that an import binds.
func (s *rustScope) bind(im *outline.Import) {
	for _, b := range im.Names {
		local := b.Local()
		if local == "" || local == "_" {
			continue
		}
		if _, known := s.bound[local]; known {
			continue // in another module of the file
		}
		s.bound[local] = s.resolve(s.e.from.Path, rustImportPath(im.Module, b), nil)
	}
}

// rustImportPath returns the whole path that a binding names.
func rustImportPath(module string, b outline.Binding) []string {
	path := rustPath(module)
	if b.Name != "" && b.Name != "*" && (len(path) == 0 || path[len(path)-1] != b.Name) {
		path = append(path, b.Name)
	}
	return path
}

func rustPath(path string) []string {
	path = strings.TrimPrefix(path, "::")
	return strings.FieldsFunc(path, func(c rune) bool { return c == ':' || c == '.' })
}

func (s *rustScope) use(u *use, used map[string]bool) {
	if u.Qualifier == "" {
		if place, ok := s.bound[u.Name]; ok && !u.Member {
			used[u.Name] = true
			s.add(place, mentionOf(u))
		} else if !u.Member {
			s.add(s.fromGlobs([]string{u.Name}), mentionOf(u))
		}
		return
	}
	path := append(rustPath(u.Qualifier), u.Name)
	used[path[0]] = true
	if place := s.path(path); place.known() || place.outside {
		s.add(place, mentionOf(u))
		return
	}
	// A member that its type's file does not declare still uses the type.
	if place := s.path(path[:len(path)-1]); place.known() {
		s.add(place, mentionOf(u).plain())
	}
}

// path resolves a path of an expression: its first name may be imported.
func (s *rustScope) path(path []string) rustPlace {
	if len(path) == 0 {
		return rustPlace{}
	}
	if first, ok := s.bound[path[0]]; ok {
		if first.outside {
			return first
		}
		return s.walk(first, path[1:], nil)
	}
	if place := s.resolve(s.e.from.Path, path, nil); place.known() || place.outside {
		return place
	}
	return s.fromGlobs(path)
}

// fromGlobs resolves a path through use module::*. It is likely, because the name may be another one of the prelude.
func (s *rustScope) fromGlobs(path []string) (found rustPlace) {
	for i := range s.e.refs.Imports {
		im := &s.e.refs.Imports[i]
		isGlob := slices.ContainsFunc(im.Names, func(b outline.Binding) bool { return b.Name == "*" })
		if !isGlob {
			continue
		}
		place := s.resolve(s.e.from.Path, append(rustPath(im.Module), path...), nil)
		if place.isModule {
			return rustPlace{} // or a function of the same name
		}
		isOther := found.known() && (place.file != found.file || place.symbol != found.symbol)
		if place.known() && isOther {
			return rustPlace{}
		}
		if place.known() {
			found = place
		}
	}
	found.certainty = Likely
	return found
}

func (s *rustScope) add(place rustPlace, m mention) {
	if place.outside {
		m.settle()
	}
	if !place.known() {
		return
	}
	s.e.add(target{place.file, place.symbol}, place.via, place.certainty, m)
	if place.via != "" && place.via != place.file {
		s.e.add(target{path: place.via}, "", place.certainty, m.plain())
	}
}

// importEdges adds the edges of an import whose names no use showed: modules that are
// declared, names that are passed on, and globs.
func (s *rustScope) importEdges(im *outline.Import, used map[string]bool) {
	path := rustPath(im.Module)
	if len(im.Names) == 0 {
		place := s.resolve(s.e.from.Path, path, nil)
		s.add(place, importMention(im))
		if place.known() || place.outside {
			s.e.settleImport(im)
		}
		return
	}
	s.settleNames(im)
	for _, b := range im.Names {
		if b.Name == "*" {
			// In an inline module, super is the file itself.
			if len(path) > 0 && path[0] != "super" {
				s.add(s.resolve(s.e.from.Path, path, nil), importMention(im))
			}
			continue
		}
		if im.Reexport || !used[b.Local()] {
			s.add(s.resolve(s.e.from.Path, rustImportPath(im.Module, b), nil), importMention(im))
		}
	}
}

// settleNames settles an import except for the names that are not found.
func (s *rustScope) settleNames(im *outline.Import) {
	var open []outline.Binding
	for _, b := range im.Names {
		place := s.resolve(s.e.from.Path, rustImportPath(im.Module, b), nil)
		if !place.known() && !place.outside {
			open = append(open, b)
		}
	}
	s.e.settleImport(im, open...)
}

// resolve resolves a path as a file writes it in use. A name that several rules explain is
// that of the nearest: a module of the file, then a crate.
func (s *rustScope) resolve(from repo.Path, path []string, trail []target) rustPlace {
	if len(path) == 0 {
		return rustPlace{}
	}
	here := rustPlace{file: from, isModule: true, certainty: Exact}
	switch path[0] {
	case "crate", "$crate":
		return s.fromRoots(from, path[1:], trail)
	case "self":
		return s.walk(here, path[1:], trail)
	case "super":
		return s.fromParent(from, path[1:], trail)
	case "std", "core", "alloc", "proc_macro", "test":
		return rustPlace{outside: true}
	case "Self":
		return rustPlace{}
	}
	if child, ok := s.child(here, path[0], len(path) == 1, trail); ok && child.isModule {
		return s.walk(child, path[1:], trail)
	}
	k := s.e.r.crates.crateOf(from.Dir())
	if k == nil {
		return rustPlace{}
	}
	other, certainty := s.e.r.crates.dependency(k, path[0])
	if other != nil && other.lib != "" {
		return s.walk(rustPlace{file: other.lib, isModule: true, certainty: certainty}, path[1:], trail)
	}
	if dep, declared := k.deps[path[0]]; declared {
		return rustPlace{outside: other == nil && !dep.local}
	}
	if path[0] == k.name && k.lib != "" && from != k.lib {
		return s.walk(rustPlace{file: k.lib, isModule: true, certainty: Exact}, path[1:], trail)
	}
	if k.old {
		return s.fromRoots(from, path, trail)
	}
	return rustPlace{}
}

// fromRoots resolves a path from the root of a file's crate.
func (s *rustScope) fromRoots(from repo.Path, path []string, trail []target) rustPlace {
	roots := s.roots
	if from != s.e.from.Path {
		k := s.e.r.crates.crateOf(from.Dir())
		if k == nil {
			return rustPlace{}
		}
		roots = s.e.r.rustRoots(k, from)
	}
	for _, root := range roots {
		if place := s.walk(rustPlace{file: root, isModule: true, certainty: Exact}, path, trail); place.known() {
			return place
		}
	}
	return rustPlace{}
}

// fromParent resolves the path after super. In an inline module that is the file itself, which
// the facts do not say, so a name that the file declares is its own.
func (s *rustScope) fromParent(from repo.Path, path []string, trail []target) rustPlace {
	here := rustPlace{file: from, isModule: true, certainty: Exact}
	if len(path) == 0 {
		return rustPlace{}
	}
	if own := s.walk(here, path, trail); own.known() {
		return own
	}
	parent, ok := s.parent(from)
	if !ok {
		return rustPlace{}
	}
	if path[0] == "super" {
		return s.fromParent(parent, path[1:], trail)
	}
	return s.walk(rustPlace{file: parent, isModule: true, certainty: Exact}, path, trail)
}

// parent returns the file of the module above a file's module.
func (s *rustScope) parent(p repo.Path) (repo.Path, bool) {
	k := s.e.r.crates.crateOf(p.Dir())
	if k == nil || k.roots[p] {
		return "", false
	}
	dir := p.Dir()
	if p.Base() == "mod.rs" {
		dir = dir.Dir()
	}
	for _, root := range s.e.r.rustRoots(k, p) {
		if root.Dir() == dir {
			return root, true
		}
	}
	for _, q := range []repo.Path{dir + ".rs", under(dir, "mod.rs")} {
		if s.e.r.has(q) {
			return q, true
		}
	}
	return "", false
}

// isBelow reports whether the module of a file is inside that of another one.
func (s *rustScope) isBelow(p, above repo.Path) bool {
	for range maxHeritage {
		parent, ok := s.parent(p)
		if !ok || parent == above {
			return ok
		}
		p = parent
	}
	return false
}

// walk follows the names of a path from a place. It returns no place when a name is not
// found.
func (s *rustScope) walk(at rustPlace, path []string, trail []target) rustPlace {
	for i, name := range path {
		if !at.known() {
			return rustPlace{}
		}
		next, ok := s.child(at, name, i == len(path)-1, trail)
		if !ok {
			return rustPlace{}
		}
		at = next
	}
	return at
}

// child returns the member of a module or a type with a name, which may be the last of a path.
// A cycle of re-exports has no result.
func (s *rustScope) child(at rustPlace, name string, last bool, trail []target) (rustPlace, bool) {
	full := name
	if at.symbol != "" {
		full = at.symbol + "." + name
	}
	isModule := func(d decl) bool { return d.kind == outline.Module }
	found := s.e.declared(at.file).full(full)
	hasModule := slices.ContainsFunc(found, isModule)
	// A module and a function may have the same name. The rest of the path decides.
	if hasModule && (!last || len(found) == 1) {
		if at.symbol == "" {
			if file, ok := s.moduleFile(at.file, name); ok {
				return rustPlace{file: file, isModule: true, certainty: at.certainty, via: at.via}, true
			}
		}
		return rustPlace{file: at.file, symbol: full, isModule: true, certainty: at.certainty, via: at.via}, true
	}
	if len(found) > 0 {
		return rustPlace{file: at.file, symbol: full, certainty: at.certainty, via: at.via}, true
	}
	if !at.isModule || at.symbol != "" {
		return rustPlace{}, false
	}
	key := target{at.file, name}
	f := s.e.file(at.file)
	if f == nil || slices.Contains(trail, key) {
		return rustPlace{}, false
	}
	trail = append(slices.Clone(trail), key)
	// A module sees the private names of those above it.
	above := s.e.from.Path != at.file && s.isBelow(s.e.from.Path, at.file)
	for i := range f.imports {
		im := &f.imports[i]
		if !im.Reexport && !above {
			continue
		}
		for _, b := range im.Names {
			isGlob := b.Name == "*"
			if b.Local() != name && !isGlob {
				continue
			}
			path := rustImportPath(im.Module, b)
			if isGlob {
				path = append(path, name)
			}
			place := s.resolve(at.file, path, trail)
			if isGlob && !place.known() {
				continue
			}
			if at.certainty == Likely {
				place.certainty = Likely
			}
			place.via = at.file
			return place, place.known()
		}
	}
	return rustPlace{}, false
}

// moduleFile returns the file of a module that another file declares with mod name;
func (s *rustScope) moduleFile(p repo.Path, name string) (repo.Path, bool) {
	dir := p.Dir()
	k := s.e.r.crates.crateOf(dir)
	isRoot := k != nil && k.roots[p] || p.Base() == "mod.rs" || p.Base() == "lib.rs" || p.Base() == "main.rs"
	if !isRoot {
		dir = repo.Path(strings.TrimSuffix(string(p), ".rs"))
	}
	for _, q := range []repo.Path{under(dir, name+".rs"), under(dir, name+"/mod.rs")} {
		if s.e.r.has(q) {
			return q, true
		}
	}
	return "", false
}
