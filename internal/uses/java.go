package uses

import (
	"cmp"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// javaScope resolves the names of one Java file.
type javaScope struct {
	e     *collector
	bound map[string]javaClass // by local name; an unknown one comes from outside
	stars []string             // packages
	// members of classes that are imported statically, by name, and classes all of whose
	// members are.
	static      map[string]javaClass
	staticStars []javaClass
}

// A javaClass is a class, or a member of one.
type javaClass struct {
	target
	several bool
	outside bool // the repository has no package of its name
}

func (c javaClass) known() bool { return c.path != "" }

func (r *Resolver) javaEdges(e *collector) {
	s := r.javaScopeOf(e)
	var members []*use
	used := make(map[target]bool)
	for i := range e.uses {
		u := &e.uses[i]
		if s.use(u, used) {
			members = append(members, u)
		}
	}
	for i := range e.refs.Imports {
		im := &e.refs.Imports[i]
		for _, class := range s.imported(im) {
			e.settleImport(im)
			if !used[class.target] && !e.reaches(class.path) {
				e.add(class.target, "", Exact, importMention(im))
			}
		}
	}
	for _, u := range members {
		s.member(u)
	}
}

func (r *Resolver) javaScopeOf(e *collector) *javaScope {
	s := &javaScope{e: e, bound: make(map[string]javaClass), static: make(map[string]javaClass)}
	for i := range e.refs.Imports {
		im := &e.refs.Imports[i]
		for _, b := range im.Names {
			class := s.named(strings.Split(im.Module, "."))
			switch {
			case b.Name == "*" && class.known():
				s.staticStars = append(s.staticStars, class)
			case b.Name == "*":
				s.stars = append(s.stars, im.Module)
			case b.Name == "" || b.Name == lastPart(im.Module, "."):
				s.bound[cmp.Or(b.As, lastPart(im.Module, "."))] = class
			default:
				if class.known() {
					class = s.memberOf(class, b.Name)
				}
				s.static[b.Local()] = class
				s.bound[b.Local()] = class // a nested class
			}
		}
	}
	return s
}

// imported returns the classes that an import names.
func (s *javaScope) imported(im *outline.Import) []javaClass {
	class := s.named(strings.Split(im.Module, "."))
	if class.several {
		s.e.ambiguous++
	}
	if class.outside {
		s.e.settleImport(im)
	}
	if !class.known() {
		return nil
	}
	for _, b := range im.Names {
		if b.Name != "" && b.Name != "*" && b.Name != lastPart(im.Module, ".") {
			if member := s.memberOf(class, b.Name); member.known() {
				class = member
			}
		}
	}
	return []javaClass{class}
}

// memberOf returns a member of a class, or nothing if the class does not declare it.
func (s *javaScope) memberOf(class javaClass, name string) javaClass {
	full := class.symbol + "." + name
	if len(s.e.declared(class.path).full(full)) == 0 {
		return javaClass{}
	}
	return javaClass{target: target{class.path, full}}
}

// named returns the class of a full name: a package, a class and perhaps a class in it.
func (s *javaScope) named(parts []string) javaClass {
	for i := len(parts) - 1; i > 0; i-- {
		class := s.inPackage(strings.Join(parts[:i], "."), strings.Join(parts[i:], "."))
		if class.known() || class.several {
			return class
		}
	}
	for i := range parts {
		if _, inside := s.e.packageDirs()[strings.Join(parts[:i+1], ".")]; inside {
			return javaClass{}
		}
	}
	return javaClass{outside: true}
}

// inPackage returns the class of a name in a package. A package may be in several source
// roots: the main code does not see tests, and the own module comes first.
func (s *javaScope) inPackage(pkg, class string) javaClass {
	found := s.e.javaPackage(pkg).full(class)
	if !isJavaTest(s.e.from.Path) {
		found = slices.DeleteFunc(found, func(d decl) bool { return isJavaTest(d.path) })
	}
	if len(found) > 1 {
		own := javaModule(s.e.from.Path)
		near := slices.DeleteFunc(slices.Clone(found), func(d decl) bool { return javaModule(d.path) != own })
		if len(near) > 0 {
			found = near
		}
	}
	switch len(found) {
	case 0:
		return javaClass{}
	case 1:
		return javaClass{target: found[0].target()}
	default:
		return javaClass{several: true}
	}
}

// isJavaTest reports whether a file is in a source root for tests.
func isJavaTest(p repo.Path) bool {
	return hasSegment(p, "test") || hasSegment(p, "tests") || hasSegment(p, "androidTest") || hasSegment(p, "testFixtures") || hasSegment(p, "integrationTest")
}

// javaModule returns the directory above a file's src directory.
func javaModule(p repo.Path) repo.Path {
	if i := strings.LastIndex("/"+string(p), "/src/"); i >= 0 {
		return p[:i]
	}
	return p.Dir()
}

// javaPackage returns the declarations of a package, in all its directories.
func (e *collector) javaPackage(pkg string) declIndex {
	dirs := e.packageDirs()
	return remember(e, &e.r.javaPackages, pkg, func() (declIndex, error) {
		var index declIndex
		for _, dir := range dirs[pkg] {
			for _, p := range e.r.dirs[dir] {
				if !strings.HasSuffix(string(p), ".java") {
					continue
				}
				if f := e.file(p); f != nil && f.pkg == pkg {
					index = append(index, f.decls...)
				}
			}
		}
		index.sort()
		return index, e.err
	})
}

// packageDirs returns the directories of each Java package.
func (e *collector) packageDirs() map[string][]repo.Path {
	return remember(e, &e.r.javaDirs, struct{}{}, e.readJavaDirs)
}

// readJavaDirs returns the directories of each package. It assumes that all files
// of a directory are in the package that the first of them names.
func (e *collector) readJavaDirs() (map[string][]repo.Path, error) {
	dirs := make(map[string][]repo.Path)
	for dir, files := range e.r.dirs {
		for _, p := range files {
			if !strings.HasSuffix(string(p), ".java") || p.Base() == "module-info.java" {
				continue
			}
			f := e.file(p)
			if f != nil && f.pkg != "" {
				dirs[f.pkg] = append(dirs[f.pkg], dir)
				break
			}
		}
	}
	for _, list := range dirs {
		slices.Sort(list)
	}
	return dirs, e.err
}

// class resolves a simple name: an import, then the own package, then packages whose
// classes are all imported.
func (s *javaScope) class(name string) javaClass {
	if class, ok := s.bound[name]; ok {
		return class
	}
	if class := s.inPackage(s.e.from.Package, name); class.known() || class.several {
		return class
	}
	found := javaClass{}
	for _, pkg := range s.stars {
		class := s.inPackage(pkg, name)
		if !class.known() {
			continue
		}
		if found.known() && found != class {
			return javaClass{several: true}
		}
		found = class
	}
	return found
}

// use adds the edges of a use that is resolved by names. It reports a member whose owner is
// not known or does not declare it.
func (s *javaScope) use(u *use, used map[target]bool) (unresolved bool) {
	add := func(class javaClass, m mention) {
		used[class.target] = true
		s.e.add(class.target, "", Exact, m)
	}
	if u.Qualifier == "" {
		if u.Member {
			return true
		}
		class := s.class(u.Name)
		if member, ok := s.staticMember(u.Name); ok && !class.known() {
			class = member
		}
		switch {
		case class.known():
			add(class, mentionOf(u))
		case class.several:
			s.e.ambiguous++
		case class.outside:
			u.settled = true
		default:
			_, bound := s.bound[u.Name]
			return !bound && u.Kind == "call" // inherited, perhaps
		}
		return false
	}
	parts := strings.Split(u.Qualifier, ".")
	class := s.class(parts[0])
	rest := parts[1:]
	if _, isBound := s.bound[parts[0]]; !isBound && !class.known() && !class.several {
		class, rest = s.named(parts), nil // a full name
	}
	if class.several {
		s.e.ambiguous++
	}
	if !class.known() {
		u.settled = class.outside
		return !class.outside && len(s.e.declared(s.e.from.Path).top(parts[0])) > 0
	}
	for _, name := range append(slices.Clone(rest), u.Name) {
		next := s.memberOf(class, name)
		if !next.known() {
			add(class, mentionOf(u).plain())
			return false
		}
		class = next
	}
	add(class, mentionOf(u))
	return false
}

func (s *javaScope) staticMember(name string) (javaClass, bool) {
	if class, ok := s.static[name]; ok {
		return class, class.known()
	}
	for _, class := range s.staticStars {
		if member := s.memberOf(class, name); member.known() {
			return member, true
		}
	}
	return javaClass{}, false
}

// member adds a likely edge to the only declaration of a method in the files that the file
// uses.
func (s *javaScope) member(u *use) {
	reach := []repo.Path{s.e.from.Path}
	for _, edge := range s.e.edges {
		if edge.Certainty == Exact {
			reach = append(reach, edge.To)
		}
	}
	slices.Sort(reach)
	var found []decl
	for _, p := range slices.Compact(reach) {
		found = append(found, s.e.declared(p).members(u.Name)...)
	}
	if u.Kind != "call" && u.Qualifier == "" && len(found) > 0 {
		s.e.ambiguous++
		return
	}
	s.e.addMember(openMember{use: u, typed: u.Qualifier != "" && !strings.Contains(u.Qualifier, ".")}, found)
}
