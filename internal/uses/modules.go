package uses

import (
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// A module is something that a TypeScript or Python file can import: a file, or in Python a
// directory without __init__.py.
type module struct {
	file      repo.Path // "" for a directory
	dir       repo.Path // of a Python package
	certainty Certainty
}

// A state is the result of resolving a name.
type state int

const (
	unknown    state = iota // nothing in the repository declares it
	unresolved              // its module is not found, and may be in the repository
	outside                 // it comes from outside of the repository
	several                 // there are several candidates
	inside
)

// A meaning is the module or the symbol that a name means.
type meaning struct {
	state     state
	module    *module // nil for a symbol
	symbol    target
	certainty Certainty
}

// isSame reports whether two names mean the same module or symbol.
func (m meaning) isSame(other meaning) bool {
	if m.module == nil || other.module == nil {
		return m.module == other.module && m.symbol == other.symbol
	}
	return m.module.file == other.module.file && m.module.dir == other.module.dir
}

// isOpen reports whether the file of a name is known, but not its declaration.
func (m meaning) isOpen() bool { return m.state == inside && m.module == nil && m.symbol.symbol == "" }

// moduleRules is how a language finds modules and names in them.
type moduleRules interface {
	// resolve returns the module that an import in a file means.
	resolve(e *collector, from repo.Path, spec string) (module, state)
	// submodule returns the module of that name in a package.
	submodule(mod module, name string) (module, bool)
	// reexports reports whether others can import the names that an import binds.
	reexports(im *outline.Import) bool
	// sharesGlobals reports whether a file may use names of other files without an import.
	sharesGlobals() bool
	// exported reports whether another module can import a symbol.
	exported(d *decl) bool
	// inStar reports whether an import of all names of a file may bind a name of it.
	inStar(f *fileFacts, name string) bool
}

// moduleScope resolves the names of one file.
type moduleScope struct {
	e     *collector
	rules moduleRules

	bound        map[string][]boundName
	names        []boundName // in order, each once; also those that are only passed on
	stars        []boundName // modules whose names are all imported
	outsideStars bool
}

// A boundName is a name that an import binds.
type boundName struct {
	meaning
	im   *outline.Import
	via  repo.Path // the imported file, when it re-exports the name
	used *bool

	notFound bool // the module does not declare the name, and stands for it
}

func (r *Resolver) moduleEdges(e *collector, rules moduleRules) {
	s := &moduleScope{e: e, rules: rules, bound: make(map[string][]boundName)}
	for i := range e.refs.Imports {
		s.bind(&e.refs.Imports[i])
	}
	var members []openMember
	for i := range e.uses {
		if m, open := s.use(&e.uses[i]); open {
			members = append(members, m)
		}
	}
	for _, b := range s.names {
		if !*b.used {
			s.add(b.im, b.meaning, b.via, importMention(b.im))
		}
	}
	reach := s.reach()
	for _, m := range members {
		s.member(m, reach)
	}
}

// resolve returns the module that an import in a file means: the target of a link, not the link.
func (s *moduleScope) resolve(from repo.Path, spec string) (module, state) {
	mod, st := s.rules.resolve(s.e, from, spec)
	if st == inside && mod.file != "" {
		mod.file = s.e.r.behindLinks(mod.file)
		if !s.e.r.has(mod.file) {
			return module{}, unresolved
		}
	}
	return mod, st
}

// bind resolves an import and the names that it binds.
func (s *moduleScope) bind(im *outline.Import) {
	if im.Module == "" {
		s.e.settleImport(im) // an export of this file's own names
		return
	}
	mod, st := s.resolve(s.e.from.Path, im.Module)
	if st == several {
		s.e.ambiguous++
	}
	whole := boundName{meaning: moduleMeaning(mod, st), im: im, used: new(bool)}
	var open []outline.Binding
	if len(im.Names) == 0 {
		s.names = append(s.names, whole)
	}
	for _, b := range im.Names {
		bound := whole
		bound.used = new(bool)
		local := b.Local()
		switch {
		case b.Name == "*" && b.As == "":
			if !im.Reexport && st == inside {
				s.stars = append(s.stars, bound)
			}
			s.outsideStars = s.outsideStars || st != inside
		case b.Name == "" || b.Name == "*":
			s.bindParents(im, b.As)
		default:
			if st == inside {
				bound.via = mod.file
				bound.meaning = s.find(mod, b.Name)
				switch bound.state {
				case several:
					s.e.ambiguous++
				case unknown:
					bound.meaning = whole.meaning
					bound.notFound = true
				default:
				}
				if bound.notFound || bound.isOpen() || bound.state == several || bound.state == unresolved {
					open = append(open, b)
				}
				if bound.certainty == "" {
					bound.certainty = mod.certainty
				}
			}
		}
		s.names = append(s.names, bound)
		if !im.Reexport && local != "" {
			s.bound[local] = append(s.bound[local], bound)
		}
	}
	if st == inside || st == outside {
		s.e.settleImport(im, open...)
	}
}

// bindParents binds the parent packages that import a.b.c of Python also binds: a and a.b.
func (s *moduleScope) bindParents(im *outline.Import, local string) {
	if local != im.Module {
		return
	}
	for {
		i := strings.LastIndexByte(local, '.')
		if i <= 0 {
			return
		}
		local = local[:i]
		if _, known := s.bound[local]; known {
			return
		}
		mod, st := s.resolve(s.e.from.Path, local)
		used := true // a parent needs no edge of its own
		s.bound[local] = []boundName{{meaning: moduleMeaning(mod, st), im: im, used: &used}}
	}
}

func moduleMeaning(mod module, st state) meaning {
	return meaning{state: st, module: &mod, certainty: mod.certainty}
}

// use adds the edges of a use that is resolved by names, or reports an open member.
func (s *moduleScope) use(u *use) (m openMember, open bool) {
	m.use = u
	if u.Qualifier == "" {
		if !u.Member {
			s.addUnqualified(u.Name, mentionOf(u))
		}
		return m, u.Member
	}
	if hasCall(u.Qualifier) {
		if owner, ok := s.returned(u.Qualifier); ok {
			m.setOwner(s.e, owner)
		}
		return m, true
	}
	parts := strings.Split(u.Qualifier, ".")
	for n := len(parts); n > 0; n-- {
		candidates := s.bound[strings.Join(parts[:n], ".")]
		if len(candidates) == 0 {
			continue
		}
		for _, b := range candidates {
			if owner, found := s.follow(b, append(slices.Clone(parts[n:]), u.Name), mentionOf(u)); found {
				m.setOwner(s.e, s.typeOf(owner))
				open = true
			}
		}
		return m, open
	}
	if own := s.e.declared(s.e.from.Path).top(parts[0]); len(own) > 0 {
		m.setOwner(s.e, target{s.e.from.Path, u.Qualifier})
		m.owner = ""
		return m, true
	}
	if b, ok := s.fromStar(parts[0]); ok {
		owner, found := s.follow(b, append(slices.Clone(parts[1:]), u.Name), mentionOf(u))
		if found {
			m.setOwner(s.e, s.typeOf(owner))
		}
		return m, found
	}
	return m, false // a global
}

// follow adds the edge of a bound name and the names behind it. If the last of them is a
// member that the symbol before it does not declare, it returns that symbol.
func (s *moduleScope) follow(b boundName, rest []string, m mention) (owner target, open bool) {
	*b.used = true
	if b.state == outside {
		m.settle()
	}
	if b.state != inside || b.notFound {
		m = m.open()
	}
	if b.state != inside {
		return target{}, false
	}
	reached, via, n := s.walk(b, rest)
	switch reached.state {
	case several:
		s.e.ambiguous++
	case outside:
		m.settle()
	default:
	}
	if n < len(rest) {
		m = m.plain()
	}
	s.add(b.im, reached, via, m)
	isSymbol := reached.state == inside && reached.module == nil
	return reached.symbol, isSymbol && n == len(rest)-1
}

// walk follows names from a bound name as far as they are declared. The name may lead
// through a file that re-exports it.
func (s *moduleScope) walk(b boundName, names []string) (reached meaning, via repo.Path, n int) {
	at := b.meaning
	via = b.via
	for n < len(names) && at.state == inside {
		next := meaning{}
		if at.module != nil {
			next = s.find(*at.module, names[n])
			if next.state == unknown {
				next = s.ofDefault(*at.module, names[n])
			}
		} else {
			full := at.symbol.symbol + "." + names[n]
			if found := s.e.declared(at.symbol.path).full(full); len(found) > 0 {
				next = meaning{state: inside, symbol: target{at.symbol.path, full}, certainty: at.certainty}
			}
		}
		if next.state == unknown {
			return at, via, n
		}
		if at.module != nil && (via == "" || s.isSubmodule(via, *at.module)) {
			via = at.module.file
		}
		at = next
		n++
	}
	return at, via, n
}

// ofDefault returns the meaning of a member of the default export of a module.
func (s *moduleScope) ofDefault(mod module, name string) meaning {
	whole := s.find(mod, "default")
	if whole.state != inside || whole.module != nil {
		return meaning{}
	}
	full := target{whole.symbol.path, whole.symbol.symbol + "." + name}
	if len(s.e.declared(full.path).full(full.symbol)) == 0 {
		return meaning{}
	}
	return meaning{state: inside, symbol: full, certainty: whole.certainty}
}

// add adds the edge to a meaning that an import led to. When the imported file only
// re-exports it, there is a second edge to that file.
func (s *moduleScope) add(im *outline.Import, to meaning, via repo.Path, m mention) {
	if to.certainty == "" {
		to.certainty = Exact
	}
	passes := via != ""
	switch {
	case to.state == outside:
		m.settle()
	case to.state != inside:
		// The file is imported, although the name comes from elsewhere.
	case to.module != nil:
		whole := s.whole(*to.module)
		if whole.path == "" { // a directory
			m.settle()
			return
		}
		s.e.add(whole, "", to.certainty, m)
		passes = passes && whole.path != via && !s.isSubmodule(via, *to.module)
	default:
		if to.isOpen() {
			m = m.open()
		}
		s.e.add(to.symbol, via, to.certainty, m)
		passes = passes && to.symbol.path != via
	}
	if passes {
		s.e.add(target{path: via}, "", to.certainty, importMention(im))
	}
}

// isSubmodule reports whether a module is a direct part of the package of an imported file:
// from pkg import sub does not go through pkg/__init__.py.
func (s *moduleScope) isSubmodule(imported repo.Path, mod module) bool {
	if imported.Base() != "__init__.py" && imported.Base() != "__init__.pyi" {
		return false
	}
	parent := mod.file.Dir()
	if mod.dir != "" {
		parent = mod.dir.Dir()
	}
	return parent == imported.Dir()
}

// whole returns the target of a module as a whole.
func (s *moduleScope) whole(mod module) target {
	if mod.file != "" && len(s.e.declared(mod.file).top("module.exports")) > 0 {
		return target{mod.file, "module.exports"}
	}
	return target{path: mod.file}
}

// addUnqualified adds the edges of a name without a qualifier.
func (s *moduleScope) addUnqualified(name string, m mention) {
	if candidates := s.bound[name]; len(candidates) > 0 {
		for _, b := range candidates {
			*b.used = true
			if b.notFound {
				m = m.open()
			}
			s.add(b.im, b.meaning, b.via, m)
		}
		return
	}
	if b, ok := s.fromStar(name); ok {
		s.add(b.im, b.meaning, b.via, m)
		return
	}
	if len(s.stars) == 0 && !s.outsideStars && !s.rules.sharesGlobals() {
		m.settle()
	}
}

// fromStar looks for a name that an import of all names may have bound.
func (s *moduleScope) fromStar(name string) (boundName, bool) {
	var found []boundName
	for _, star := range s.stars {
		mod := *star.module
		if f := s.e.file(mod.file); f == nil || !s.rules.inStar(f, name) {
			continue
		}
		got := s.find(mod, name)
		if got.state != inside || got.module != nil {
			continue
		}
		if s.outsideStars {
			got.certainty = Likely // the other import may bind it as well
		}
		same := func(b boundName) bool { return b.symbol == got.symbol }
		if !slices.ContainsFunc(found, same) {
			found = append(found, boundName{meaning: got, via: mod.file, im: star.im, used: star.used})
		}
	}
	if len(found) > 1 {
		s.e.ambiguous++
	}
	if len(found) != 1 {
		return boundName{}, false
	}
	return found[0], true
}

// find returns the meaning of a name that another file imports from a module.
func (s *moduleScope) find(mod module, name string) meaning {
	return remember(s.e, &s.e.r.exports, exportKey{mod, name}, func() (meaning, error) {
		return s.lookup(mod, name, make(map[target]bool)), s.e.err
	})
}

// An exportKey is a name that a module may export.
type exportKey struct {
	module
	name string
}

// lookup is find without the memo. A cycle of re-exports ends as unknown, or at the submodule of that name: Python
// imports it while the package is still being loaded.
func (s *moduleScope) lookup(mod module, name string, visited map[target]bool) meaning {
	at := target{mod.file, name}
	if mod.file != "" && !visited[at] {
		visited[at] = true
		if found, ok := s.lookupOwn(mod, name); ok {
			return found
		}
		if found := s.lookupReexported(mod, name, visited); found.state != unknown {
			return found
		}
		if found := s.lookupInStars(mod, name, visited); found.state != unknown {
			return found
		}
		if name == "default" && outline.IsComponent(mod.file) {
			return moduleMeaning(mod, inside)
		}
	}
	if sub, ok := s.rules.submodule(mod, name); ok {
		sub.file = s.e.r.behindLinks(sub.file)
		if sub.file != "" && !s.e.r.has(sub.file) {
			return meaning{}
		}
		sub.certainty = mod.certainty
		return moduleMeaning(sub, inside)
	}
	return meaning{}
}

// lookupOwn returns the symbol that a module itself declares under a name.
func (s *moduleScope) lookupOwn(mod module, name string) (meaning, bool) {
	index := s.e.declared(mod.file)
	found := index.top(name)
	if name == "default" && len(found) == 0 {
		found = index.top("module.exports")
	}
	if len(found) == 0 {
		return meaning{}, false
	}
	if !s.rules.exported(&found[0]) {
		return meaning{}, false
	}
	return meaning{state: inside, symbol: found[0].target(), certainty: mod.certainty}, true
}

// lookupReexported follows the imports of a module that bind a name for others.
func (s *moduleScope) lookupReexported(mod module, name string, visited map[target]bool) meaning {
	f := s.e.file(mod.file)
	if f == nil {
		return meaning{}
	}
	best := meaning{}
	for i := range f.imports {
		im := &f.imports[i]
		if !s.rules.reexports(im) {
			continue
		}
		for _, b := range im.Names {
			if b.Local() != name {
				continue
			}
			got := s.followReexport(mod, im, b, visited)
			if got.state == inside {
				return got
			}
			if got.state > best.state {
				best = got
			}
		}
	}
	return best
}

// followReexport follows one binding of a module's import.
func (s *moduleScope) followReexport(mod module, im *outline.Import, b outline.Binding, visited map[target]bool) meaning {
	if im.Module == "" { // an export of a name that the module declares
		found := s.e.declared(mod.file).top(b.Name)
		if len(found) == 0 {
			return meaning{}
		}
		return meaning{state: inside, symbol: found[0].target(), certainty: mod.certainty}
	}
	next, st := s.resolve(mod.file, im.Module)
	if st != inside {
		return meaning{state: st}
	}
	if mod.certainty == Likely {
		next.certainty = Likely
	}
	if b.Name == "" || b.Name == "*" {
		return moduleMeaning(next, inside)
	}
	got := s.lookup(next, b.Name, visited)
	if got.state == unknown && next.file != "" && next.file != mod.file {
		// The file is certain, although it is not known how it declares the name.
		return meaning{state: inside, symbol: target{path: next.file}, certainty: next.certainty}
	}
	return got
}

// lookupInStars looks for a name in the modules whose names a module passes on as a whole.
func (s *moduleScope) lookupInStars(mod module, name string, visited map[target]bool) meaning {
	f := s.e.file(mod.file)
	if f == nil || name == "default" {
		return meaning{}
	}
	best := meaning{}
	for _, next := range s.starModules(f) {
		if file := s.e.file(next.file); file == nil || !s.rules.inStar(file, name) {
			continue
		}
		if mod.certainty == Likely {
			next.certainty = Likely
		}
		got := s.lookup(next, name, visited)
		// A star passes on the names that the module binds, not its submodules.
		isBound := got.state == inside && (got.module == nil || !s.isSubmodule(next.file, *got.module))
		isOther := best.state == inside && !best.isSame(got)
		switch {
		case got.state == several, isBound && isOther:
			return meaning{state: several}
		case isBound:
			best = got
		}
	}
	return best
}

// starModules returns the modules whose names a file passes on as a whole.
func (s *moduleScope) starModules(f *fileFacts) []module {
	return remember(s.e, &s.e.r.stars, f.path, func() ([]module, error) {
		var list []module
		for i := range f.imports {
			im := &f.imports[i]
			if !reexportsAll(s.rules, im) {
				continue
			}
			if next, st := s.resolve(f.path, im.Module); st == inside {
				list = append(list, next)
			}
		}
		return list, s.e.err
	})
}

// reach returns the files that the imports of a file led to, and the file itself.
func (s *moduleScope) reach() []repo.Path {
	list := []repo.Path{s.e.from.Path}
	for _, edge := range s.e.edges {
		list = append(list, edge.To)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// member adds a likely edge to the only declaration of a member. An owner that does not
// declare it may inherit it: then it is in the owner's file, or in one that this imports.
// Without an owner all files in reach are searched.
func (s *moduleScope) member(m openMember, reach []repo.Path) {
	name := m.use.Name
	if m.typed && s.inherited(m.of, name).add(s.e, mentionOf(m.use)) {
		return
	}
	if m.owner != "" {
		found := s.e.declared(m.owner).members(name)
		if len(found) == 0 {
			found = s.membersIn(s.importedBy(m.owner), name)
		}
		s.e.addMember(m, found)
		return
	}
	found := s.membersIn(reach, name)
	if !m.typed && m.use.Kind != "call" && len(found) > 0 {
		s.e.ambiguous++ // values of any type have such fields
		return
	}
	s.e.addMember(m, found)
}

func (s *moduleScope) membersIn(files []repo.Path, name string) []decl {
	var found []decl
	for _, p := range files {
		found = append(found, s.e.declared(p).members(name)...)
	}
	return found
}

// importedBy returns the files that another file imports.
func (s *moduleScope) importedBy(p repo.Path) []repo.Path {
	return remember(s.e, &s.e.r.importedFiles, p, func() ([]repo.Path, error) { return s.imports(p), s.e.err })
}

func (s *moduleScope) imports(p repo.Path) []repo.Path {
	f := s.e.file(p)
	if f == nil {
		return nil
	}
	var list []repo.Path
	for i := range f.imports {
		im := &f.imports[i]
		if im.Module == "" {
			continue
		}
		mod, st := s.resolve(p, im.Module)
		if st != inside || mod.file == "" {
			continue
		}
		list = append(list, mod.file)
		for _, b := range im.Names {
			if got := s.find(mod, b.Name); got.state == inside && got.module == nil {
				list = append(list, got.symbol.path)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// canImport reports whether others can import a name from a module that a file other than not declares.
// If the module may take the name from outside of the repository, it reports true.
func (s *moduleScope) canImport(mod module, name string, not repo.Path) bool {
	got := s.find(mod, name)
	switch {
	case got.state == inside && got.module == nil:
		return got.symbol.path != not
	case got.state != unknown:
		return true
	}
	f := s.e.file(mod.file)
	if f == nil {
		return false
	}
	if len(f.decls.top("__getattr__")) > 0 {
		return true // a function that Python calls for any name
	}
	return slices.ContainsFunc(f.imports, func(im outline.Import) bool {
		if !reexportsAll(s.rules, &im) || strings.HasPrefix(im.Module, ".") {
			return false
		}
		_, st := s.resolve(f.path, im.Module)
		return st != inside // any name may come from there
	})
}

// reexportsAll reports whether others can import all names of the module that an import names.
func reexportsAll(rules moduleRules, im *outline.Import) bool {
	isStar := func(b outline.Binding) bool { return b.Name == "*" && b.As == "" }
	return rules.reexports(im) && im.Module != "" && slices.ContainsFunc(im.Names, isStar)
}
