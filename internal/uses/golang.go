package uses

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"ken/internal/outline"
	"ken/internal/repo"
)

// maxVariants is how many files of a Go package may declare the same name for different
// systems. If there are more, they are separate programs in one directory.
const maxVariants = 12

// A goDirectory has the packages of a directory. Beside the one that others can import there
// may be its external test, and programs that no build includes.
type goDirectory struct {
	packages   map[string]*goPackage
	importable *goPackage // nil when there is none
}

// A goPackage has the declarations of one package.
type goPackage struct {
	name  string
	files []repo.Path
	decls declIndex
	// embedded has the embedded fields of each type, and the type that an alias stands for.
	embedded map[string][]decl
}

// goScope resolves the names of one Go file.
type goScope struct {
	e    *collector
	own  *goPackage
	test bool // the file is a test: it sees declarations of tests

	imports []goImport
	bound   map[string][]goImport // by local name
	clauses map[string][]goImport // by the name of the package
	dots    []goImport
}

// A goImport is an import of a file.
type goImport struct {
	dir   goDir
	pkg   *goPackage // nil when it is not in the repository
	tests bool       // the importing package is the external test of this one
	im    *outline.Import
}

// unknown reports whether the imported package may be one of the repository that ken did not find.
func (i goImport) unknown() bool { return i.pkg == nil && !i.dir.outside }

func (r *Resolver) goEdges(e *collector) {
	if hasSegment(e.from.Path, "vendor") {
		return
	}
	s := r.goScopeOf(e)
	for i := range e.uses {
		u := &e.uses[i]
		owner, open := s.use(u)
		isType := owner.pkg != nil
		if open && (!isType || !s.promoted(owner, u.Name).add(e, mentionOf(u))) {
			s.member(openMember{use: u, typed: isType})
		}
	}
	s.blankImports()
}

func (r *Resolver) goScopeOf(e *collector) *goScope {
	f := e.from
	s := &goScope{
		e:       e,
		test:    isGoTest(f.Path),
		bound:   make(map[string][]goImport),
		clauses: make(map[string][]goImport),
	}
	s.own = e.goDirectory(f.Path.Dir()).packages[f.Package]
	if s.own == nil {
		s.own = new(goPackage)
	}
	for i := range e.refs.Imports {
		im := &e.refs.Imports[i]
		imported := r.goImport(e, im)
		s.imports = append(s.imports, imported)
		for _, b := range im.Names {
			if b.Name == "*" {
				s.dots = append(s.dots, imported)
				continue
			}
			name := cmp.Or(b.As, goPathName(im.Module))
			s.bound[name] = append(s.bound[name], imported)
			isGuess := b.As == "" || strings.Contains(im.Module, b.As)
			if imported.pkg != nil && isGuess {
				s.clauses[imported.pkg.name] = append(s.clauses[imported.pkg.name], imported)
			}
		}
	}
	return s
}

// boundTo returns the imports that a name may mean: those bound to it, else those whose
// package clause has that name. An import without an alias is bound to a guess from its path.
func (s *goScope) boundTo(name string) []goImport {
	if imports := s.bound[name]; len(imports) > 0 {
		return imports
	}
	return s.clauses[name]
}

// goPathName guesses a package's name from its import path.
func goPathName(importPath string) string {
	parts := strings.Split(importPath, "/")
	last := parts[len(parts)-1]
	if len(parts) > 1 && isGoVersion(last) {
		last = parts[len(parts)-2]
	}
	if i := strings.Index(last, ".v"); i > 0 {
		last = last[:i]
	}
	return last
}

func isGoVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}

func isGoTest(p repo.Path) bool { return strings.HasSuffix(string(p), "_test.go") }

// goImport resolves one import.
func (r *Resolver) goImport(e *collector, im *outline.Import) goImport {
	imported := goImport{im: im, dir: r.goDirOf(e.from.Path, im.Module)}
	if imported.dir.found || imported.dir.outside {
		e.settleImport(im)
	}
	if !imported.dir.found {
		return imported
	}
	dir := imported.dir.dir
	imported.tests = dir == e.from.Path.Dir() && strings.HasSuffix(e.from.Package, "_test")
	imported.pkg = e.goDirectory(dir).importable
	return imported
}

// goDirectory returns the packages of a directory.
func (e *collector) goDirectory(dir repo.Path) *goDirectory {
	found := remember(e, &e.r.goDirs, dir, func() (*goDirectory, error) { return e.r.readGo(dir) })
	if found == nil {
		return new(goDirectory)
	}
	return found
}

func (r *Resolver) readGo(dir repo.Path) (*goDirectory, error) {
	d := &goDirectory{packages: make(map[string]*goPackage)}
	count := make(map[string]int) // files that others can import
	for _, p := range r.dirs[dir] {
		if !strings.HasSuffix(string(p), ".go") {
			continue
		}
		f, err := r.src.File(p)
		if err != nil {
			return nil, err
		}
		if f == nil || f.Package == "" {
			continue
		}
		pkg := d.packages[f.Package]
		if pkg == nil {
			pkg = &goPackage{name: f.Package}
			d.packages[f.Package] = pkg
		}
		pkg.files = append(pkg.files, p)
		pkg.decls.add(f)
		if !isGoTest(p) {
			count[f.Package]++
		}
	}
	for _, pkg := range d.packages {
		pkg.decls.sort()
		pkg.embedded = make(map[string][]decl)
		for _, d := range pkg.decls {
			if owner := strings.TrimSuffix(d.fullName(), "."+d.name); d.bases != "" {
				pkg.embedded[owner] = append(pkg.embedded[owner], d)
			}
		}
	}
	// A program beside a library is a generator that no build includes.
	if len(count) > 1 {
		delete(count, "main")
	}
	for name, n := range count {
		if d.importable == nil || n > count[d.importable.name] || n == count[d.importable.name] && name < d.importable.name {
			d.importable = d.packages[name]
		}
	}
	return d, nil
}

// use adds the edges of a use that is resolved by names. It reports a member whose owner
// is not known or does not declare it, and the owner if it is a type.
func (s *goScope) use(u *use) (owner goType, open bool) {
	m := mentionOf(u)
	if u.Qualifier == "" {
		if u.Member {
			return goType{}, true
		}
		s.addUnqualified(u.Name, m)
		return goType{}, false
	}
	if hasCall(u.Qualifier) {
		return s.returned(u.Qualifier), true
	}
	first, rest, _ := strings.Cut(u.Qualifier, ".")
	full := u.Name
	if rest != "" {
		full = rest + "." + u.Name
	}
	if imports := s.boundTo(first); len(imports) > 0 {
		return s.selected(imports, rest, full, m)
	}
	// The name before the dot is one of the own package: a type, or a variable.
	if s.addDecls(s.visible(s.own.decls.full(first+"."+full)), Exact, m) {
		return goType{}, false
	}
	owners := s.visible(s.own.decls.top(first))
	s.addDecls(owners, Exact, m.plain())
	owners = s.own.decls.top(first)
	if len(owners) == 0 && !slices.ContainsFunc(s.imports, goImport.unknown) && len(s.dots) == 0 {
		m.settle() // a package from outside whose name its path does not tell
	}
	if rest == "" && areTypes(owners) {
		owner = goType{s.own, first}
	}
	if rest == "" && areVariables(owners) {
		owner = s.valueType(s.own, owners)
	}
	return owner, len(owners) > 0
}

func areTypes(decls []decl) bool {
	return len(decls) > 0 && !slices.ContainsFunc(decls, func(d decl) bool { return !isTypeKind(d.kind) })
}

// addUnqualified adds the edges of a name without a qualifier.
func (s *goScope) addUnqualified(name string, m mention) {
	own := s.own.decls.top(name)
	if s.addDecls(s.visible(own), Exact, m) {
		return
	}
	if len(own) > 0 || !slices.ContainsFunc(s.dots, goImport.unknown) {
		m.settle() // Go has no other names without a qualifier
	}
	if len(own) > 0 {
		return
	}
	for _, dot := range s.dots {
		if dot.pkg != nil {
			s.addDecls(s.importable(dot, dot.pkg.decls.top(name)), dot.dir.certainty, m)
		}
	}
}

// selected adds the edges of pkg.Name, or of a member of a type of a package.
func (s *goScope) selected(imports []goImport, owner, full string, m mention) (found goType, open bool) {
	known := true
	for _, im := range imports {
		if im.pkg == nil {
			if im.dir.several {
				s.e.ambiguous++
			}
			known = known && !im.unknown()
			continue
		}
		if s.addDecls(s.importable(im, im.pkg.decls.full(full)), im.dir.certainty, m) {
			return goType{}, false
		}
		first, rest, _ := strings.Cut(owner, ".")
		owners := s.importable(im, im.pkg.decls.top(first))
		if s.addDecls(owners, im.dir.certainty, m.plain()) {
			open = true
			if rest == "" && areTypes(owners) {
				found = goType{im.pkg, first}
			}
			if rest == "" && areVariables(owners) {
				found = s.valueType(im.pkg, owners)
			}
		}
		known = known && owner == ""
	}
	if known && !open {
		m.settle() // it comes from outside, or its package does not declare it
	}
	return found, open
}

// visible returns the declarations of the own package that a file sees. Only tests see
// declarations of tests, and a file for one system does not see files for another.
func (s *goScope) visible(decls []decl) []decl {
	return slices.DeleteFunc(decls, func(d decl) bool {
		if d.path == s.e.from.Path {
			return false
		}
		return isGoTest(d.path) && !s.test || !sameSystem(s.e.from.Path, d.path)
	})
}

// importable returns the declarations that an importing file sees.
func (s *goScope) importable(im goImport, decls []decl) []decl {
	return slices.DeleteFunc(decls, func(d decl) bool {
		if !d.exported {
			return true
		}
		return isGoTest(d.path) && !im.tests || !sameSystem(s.e.from.Path, d.path)
	})
}

// addDecls adds an edge to each declaration. In Go, several declarations of a package-level
// name are for different systems, and a file uses all of them.
func (s *goScope) addDecls(decls []decl, c Certainty, m mention) bool {
	if len(decls) > maxVariants {
		s.e.ambiguous++
		return true
	}
	for _, d := range decls {
		s.e.add(d.target(), "", c, m)
	}
	return len(decls) > 0
}

// member adds a likely edge to the only declaration of a member in the own package and
// those that the file imports.
func (s *goScope) member(m openMember) {
	name := m.use.Name
	found := s.visible(s.own.decls.members(name))
	seen := map[*goPackage]bool{s.own: true}
	for _, im := range s.imports {
		if im.pkg == nil || seen[im.pkg] {
			continue
		}
		seen[im.pkg] = true
		found = append(found, s.importable(im, im.pkg.decls.members(name))...)
	}
	s.e.addMember(m, found)
}

// blankImports adds edges for packages that are imported for their side effects: to the
// files with an init function, or to all files when there is none.
func (s *goScope) blankImports() {
	for _, imported := range s.imports {
		im := imported.im
		blank := len(im.Names) == 0 || im.Names[0].As == "_"
		if !blank || imported.pkg == nil {
			continue
		}
		found := slices.DeleteFunc(imported.pkg.decls.top("init"), func(d decl) bool {
			return isGoTest(d.path) || !sameSystem(s.e.from.Path, d.path)
		})
		for _, d := range found {
			s.e.add(d.target(), "", imported.dir.certainty, importMention(im))
		}
		for _, p := range imported.pkg.files {
			if len(found) == 0 && !isGoTest(p) && sameSystem(s.e.from.Path, p) {
				s.e.add(target{path: p}, "", imported.dir.certainty, importMention(im))
			}
		}
	}
}

// sameSystem reports whether a build can include both files, as far as their names say.
func sameSystem(a, b repo.Path) bool {
	osA, archA := goSystem(a)
	osB, archB := goSystem(b)
	return (osA == "" || osB == "" || osA == osB) && (archA == "" || archB == "" || archA == archB)
}

// goSystem returns the system and processor that a file's name restricts it to.
func goSystem(p repo.Path) (system, arch string) {
	name := strings.TrimSuffix(strings.TrimSuffix(p.Base(), ".go"), "_test")
	parts := strings.Split(name, "_")
	if len(parts) < 2 {
		return "", ""
	}
	last := parts[len(parts)-1]
	if goArchs()[last] {
		if len(parts) > 2 && goSystems()[parts[len(parts)-2]] {
			return parts[len(parts)-2], last
		}
		return "", last
	}
	if goSystems()[last] {
		return last, ""
	}
	return "", ""
}

var (
	goSystems = set("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos")
	goArchs   = set("386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")
)

// set returns a set of words that is made when it is first asked for.
func set(words string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		m := make(map[string]bool)
		for w := range strings.FieldsSeq(words) {
			m[w] = true
		}
		return m
	})
}
