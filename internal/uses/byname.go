package uses

import (
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// maxDeclarations is how many declarations of one name are compared. A name with more of
// them is ambiguous.
const maxDeclarations = 500

// namedScope resolves the names of a file in a language without module paths: Ruby, PHP, C# and
// shell.
type namedScope struct {
	e        *collector
	required []repo.Path         // files that it requires or sources
	bound    map[string][]string // local name to full name, from the root namespace
	spaces   []string            // namespaces whose names are all visible
}

// namedEdges adds edges to the only declaration of each name in the tree.
func (r *Resolver) namedEdges(e *collector) {
	if hasSegment(e.from.Path, "vendor") {
		return
	}
	s := &namedScope{e: e, bound: make(map[string][]string)}
	for i := range e.refs.Imports {
		s.bind(&e.refs.Imports[i])
	}
	for i := range e.uses {
		s.use(&e.uses[i])
	}
}

// bind adds the edges of files that are required, and the names that an import binds.
func (s *namedScope) bind(im *outline.Import) {
	if paths := s.e.r.required(s.e.from, im.Module); len(paths) > 0 {
		if len(paths) > 1 {
			s.e.ambiguous++
			return
		}
		c := Likely
		if p, ok := join(s.e.from.Path.Dir(), im.Module); ok && strings.HasPrefix(string(paths[0]), string(p)) {
			c = Exact
		}
		s.e.add(target{path: paths[0]}, "", c, importMention(im))
		s.e.settleImport(im)
		s.required = append(s.required, paths[0])
		return
	}
	module := nameParts(im.Module)
	for _, b := range im.Names {
		switch {
		case b.Name == "*" && b.As == "":
			s.spaces = append(s.spaces, strings.Join(module, "."))
		case b.Name == "":
			s.bound[b.As] = module
		default:
			s.bound[b.Local()] = append(slices.Clone(module), b.Name)
		}
	}
}

// required returns the files that require, include or source may mean: relative to the file,
// from the root or lib, else the only ones whose path ends like it.
func (r *Resolver) required(from *ParsedFile, name string) []repo.Path {
	exts := []string{"", ".rb"}
	switch from.Language {
	case outline.PHP:
		exts = []string{"", ".php"}
	case outline.Bash:
		exts = []string{"", ".sh", ".bash"}
	case outline.Ruby:
	default:
		return nil
	}
	// Of a path that begins with a variable, such as "$DIR/lib.sh", only the end is known.
	relative := true
	if i := strings.LastIndexAny(name, "$}`)"); i >= 0 {
		cut := strings.IndexByte(name[i:], '/')
		if cut < 0 {
			return nil
		}
		name, relative = name[i+cut+1:], false
	}
	if name == "" || strings.HasPrefix(name, "/") {
		return nil
	}
	if relative {
		for _, base := range []repo.Path{from.Path.Dir(), "lib", ""} {
			for _, ext := range exts {
				p, ok := join(base, name+ext)
				if ok && r.has(p) && p != from.Path {
					return []repo.Path{p}
				}
			}
		}
	}
	for strings.HasPrefix(name, "../") || strings.HasPrefix(name, "./") {
		_, name, _ = strings.Cut(name, "/")
	}
	if !strings.Contains(name, "/") && from.Language == outline.Ruby {
		return nil // a library
	}
	var found []repo.Path
	for _, ext := range exts {
		for _, p := range r.byBase()[lastPart(name+ext, "/")] {
			if p != from.Path && (p == repo.Path(name+ext) || strings.HasSuffix(string(p), "/"+name+ext)) {
				found = append(found, p)
			}
		}
	}
	return found
}

// nameParts splits A::B, A\B and A.B.
func nameParts(name string) []string {
	return strings.FieldsFunc(name, func(c rune) bool { return c == ':' || c == '\\' || c == '.' })
}

// use adds a likely edge when one declaration of the tree fits.
func (s *namedScope) use(u *use) {
	if len(u.Name) < 3 || u.Member && u.Qualifier == "" && (u.Kind != "call" || isCommonMember(u.Name)) {
		return
	}
	owner := nameParts(u.Qualifier)
	name := u.Name
	local := name
	if len(owner) > 0 {
		local = owner[0]
	}
	path := append(slices.Clone(owner), name)
	full := s.bound[local]
	isBound := len(full) > 0
	if isBound {
		path = append(slices.Clone(full), path[1:]...)
		owner, name = path[:len(path)-1], path[len(path)-1]
	}
	all := s.e.declarations(name)
	if len(all) > maxDeclarations {
		s.e.ambiguous++
		return
	}
	var found []target
	for i := range all {
		d := &all[i]
		if s.fits(d, u.Use, owner, isBound) && !slices.Contains(found, d.target()) {
			found = append(found, d.target())
		}
	}
	if own := func(t target) bool { return t.path == s.e.from.Path }; slices.ContainsFunc(found, own) {
		u.settled = true
		return
	}
	if len(found) > 1 {
		// A file that is required comes before others.
		near := slices.DeleteFunc(slices.Clone(found), func(t target) bool { return !slices.Contains(s.required, t.path) })
		if len(near) == 1 {
			found = near
		}
	}
	switch len(found) {
	case 0:
	case 1:
		s.e.add(found[0], "", Likely, mentionOf(u))
	default:
		s.e.ambiguous++
	}
}

func isTypeKind(k outline.Kind) bool {
	switch k {
	case outline.Class, outline.Module, outline.Interface, outline.Struct, outline.Enum, outline.Trait, outline.Type, outline.Union:
		return true
	default:
		return false
	}
}

// fits reports whether a use may mean a declaration.
func (s *namedScope) fits(d *decl, u *outline.Use, owner []string, isBound bool) bool {
	if isForeign(d.path) || hasSegment(d.path, "vendor") {
		return false
	}
	f := s.e.file(d.path)
	if f == nil || f.language != s.e.from.Language {
		return false
	}
	where := strings.Join(slices.Concat(nameParts(f.pkg), nameParts(strings.TrimSuffix(d.fullName(), d.name))), ".")
	isMember := !isTypeKind(d.kind) && strings.Contains(d.fullName(), ".")
	switch {
	case isBound:
		return where == strings.Join(owner, ".")
	case len(owner) > 0:
		return endsWith(where, strings.Join(owner, "."))
	case u.Member:
		return isMember
	}
	if isMember {
		// Ruby calls methods of the own class and its ancestors without a qualifier.
		return s.e.from.Language == outline.Ruby && u.Kind == "call" && !isCommonMember(u.Name)
	}
	return s.visible(f)
}

// endsWith reports whether a dotted name ends with another one.
func endsWith(name, end string) bool {
	return name == end || strings.HasSuffix(name, "."+end)
}

// visible reports whether a name of another file can be used without a qualifier. In PHP
// that takes the same namespace, in C# one that is imported or above.
func (s *namedScope) visible(f *fileFacts) bool {
	own := strings.Join(nameParts(s.e.from.Package), ".")
	other := strings.Join(nameParts(f.pkg), ".")
	switch s.e.from.Language {
	case outline.PHP:
		return other == own || other == ""
	case outline.CSharp:
		return other == "" || other == own || strings.HasPrefix(own, other+".") || slices.Contains(s.spaces, other)
	default:
		return true
	}
}
