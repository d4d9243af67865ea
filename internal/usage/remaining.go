package usage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"ken/internal/change"
	"ken/internal/find"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

// A Leftover is a use in the new tree of something that a change removed.
type Leftover struct {
	From   repo.Path
	Lines  []int
	More   int       // further lines
	To     repo.Path // the old path of the file that declared it
	Symbol string    // full name; "" if the file as a whole was imported
	Exact  bool      // if not, the place may use something else: the type of a value is unknown, or inherits the member
	Test   bool
}

// Limits of the search for remaining uses.
const (
	maxRemovedNames   = 300 // names to search for
	maxNamedFiles     = 150 // files with one name that no import leads to
	maxRemainingFiles = 2000
)

// Remaining finds the uses, in the indexed tree, of symbols and files that a change removed, and the members of unknown
// values that may be such uses. It resolves the names in the new tree against the declarations of the old tree, and
// omits the uses that now resolve to another declaration. limits says what was not searched.
func Remaining(ctx context.Context, x *searchindex.Index, t find.Tree, c *change.Change) (list []Leftover, limits []string, err error) {
	wanted := removedByFile(c)
	if err := addLostExports(ctx, x, c, wanted); err != nil {
		return nil, nil, err
	}
	if len(wanted) == 0 {
		return nil, nil, nil
	}
	names := make(map[string]bool)
	for p, f := range wanted {
		for _, r := range f.names {
			names[r.last] = true
		}
		for name := range f.lost {
			names[name] = true
		}
		if outline.LanguageOf(p, nil) == outline.Go {
			f.goModule = goModuleOf(ctx, t, p.Dir())
		}
	}
	files, err := x.Files(ctx)
	if err != nil {
		return nil, nil, err
	}
	candidates, limits, err := candidateUsers(ctx, x, files, wanted, names)
	if err != nil || len(candidates) == 0 {
		return nil, limits, err
	}
	indexed := find.NewSource(ctx, x, t, nil)
	r, err := uses.NewResolver(newOldSource(indexed, files, c))
	if err != nil {
		return nil, limits, err
	}
	search := &remainingSearch{ctx: ctx, index: x, wanted: wanted, renamed: c.Renamed, before: r}
	search.after = sync.OnceValues(func() (*uses.Resolver, error) {
		return uses.NewResolver(newNewSource(indexed, files, c))
	})
	err = t.References(ctx, candidates, func(f repo.File, refs *outline.References) error {
		refs = referencesToRemoved(f.Path, refs, names, wanted)
		if refs == nil {
			return nil
		}
		file, err := indexed.File(f.Path)
		if err != nil || file == nil {
			return err
		}
		found, err := r.Edges(file, refs)
		if err != nil {
			return fmt.Errorf("find what %s uses: %w", f.Path, err)
		}
		left, err := search.remainingOf(file, refs, found)
		for i := range left {
			left[i].Test = f.Kind == repo.KindTest
		}
		list = append(list, left...)
		return err
	})
	return list, limits, err
}

// removedThings are what a change removed from one file.
type removedThings struct {
	names    map[string]removedName // by full names
	gone     bool                   // the new tree has no file at this path
	lost     map[string]bool        // names that the file passed on from other files, or "*" for all names of another file
	goModule string                 // the path of the Go module in the directory of the file; "" if none is there
}

// A removedName is a symbol that a change removed, or whose file left its path.
type removedName struct {
	last       string // last part of the name
	mayInherit bool   // its type may have it from another type
	moved      bool   // with its file
	isField    bool
	owner      string // the name of its type; "" if it is no member
}

// lostOwner reports whether the change removed the type of a member, too.
func (f *removedThings) lostOwner(r removedName) bool {
	owner, isRemoved := f.names[r.owner]
	return isRemoved && !owner.moved
}

// removedByFile returns what a change removed, by the old path of the file.
func removedByFile(c *change.Change) map[repo.Path]*removedThings {
	byFile := make(map[repo.Path]*removedThings)
	from := func(p repo.Path) *removedThings {
		if byFile[p] == nil {
			byFile[p] = &removedThings{names: make(map[string]removedName)}
		}
		return byFile[p]
	}
	for _, s := range c.Removed {
		owner, _ := s.Owner()
		isField := s.Symbol.Kind == outline.Field || s.Symbol.Kind == outline.Property
		r := removedName{last: s.Symbol.Name, owner: owner, mayInherit: s.MayInherit, isField: isField}
		from(s.Path).names[s.Symbol.FullName()] = r
	}
	for i := range c.Files {
		f := &c.Files[i]
		if !f.LeftPath() {
			continue
		}
		if uses.Supports(f.Before.Language) {
			from(f.OldPath()).gone = true
		}
		if f.Kind == repo.Deleted {
			continue // its symbols are among the removed ones
		}
		for _, s := range f.Before.Symbols {
			if _, removed := from(f.OldPath()).names[s.FullName()]; !removed {
				from(f.OldPath()).names[s.FullName()] = removedName{last: s.Name, moved: true}
			}
		}
	}
	return byFile
}

// candidateUsers lists the files that may use one of the removed things: those with an import that ends in the
// name of the file or of its directory, those beside it, and those whose text contains a name.
func candidateUsers(ctx context.Context, x *searchindex.Index, files map[repo.Path]searchindex.Entry, wanted map[repo.Path]*removedThings, names map[string]bool) (list []repo.File, limits []string, err error) {
	chosen := make(map[repo.Path]bool)
	dirs := make(map[repo.Path]bool)
	stems := make(map[string]bool)
	for p, f := range wanted {
		dirs[p.Dir()] = true
		base := p.Base()
		stems[strings.TrimSuffix(base, path.Ext(base))] = true
		stems[p.Dir().Base()] = true
		for _, part := range strings.Split(path.Base(f.goModule), ".") { // as in yaml.v3
			stems[part] = true
		}
	}
	importing, err := x.Importers(ctx, slices.Sorted(maps.Keys(stems)))
	if err != nil {
		return nil, nil, err
	}
	for _, p := range importing {
		chosen[p] = true
	}
	for p := range files {
		if dirs[p.Dir()] {
			chosen[p] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(names))
	if len(sorted) > maxRemovedNames {
		why := fmt.Sprintf("the change removes %d names; ken searched for users of %d", len(sorted), maxRemovedNames)
		sorted, limits = sorted[:maxRemovedNames], append(limits, why)
	}
	families := make(map[outline.Language]bool)
	for p := range wanted {
		families[uses.Family(p)] = true
	}
	delete(families, outline.Go) // no Go file re-exports the names of another one
	var common []string
	for _, name := range sorted {
		terms := searchindex.Terms(name)
		if len(terms) == 0 || len(families) == 0 {
			continue
		}
		found, err := x.FilesWith(ctx, terms, maxNamedAtAll)
		if err != nil {
			return nil, nil, err
		}
		found = slices.DeleteFunc(found, func(f searchindex.Entry) bool {
			return chosen[f.Path] || !families[uses.Family(f.Path)] || !mayRemain(&f)
		})
		if len(found) > maxNamedFiles {
			common = append(common, name)
		}
		for _, f := range found[:min(len(found), maxNamedFiles)] {
			chosen[f.Path] = true
		}
	}
	if len(common) > 0 {
		few := listed(common[:min(len(common), fewMentions)], len(common))
		limits = append(limits, fmt.Sprintf("more than %d files may use %s; ken read %[1]d for each name", maxNamedFiles, few))
	}
	for _, p := range slices.Sorted(maps.Keys(chosen)) {
		if f, ok := files[p]; ok && mayRemain(&f) {
			list = append(list, f.File)
		}
	}
	if len(list) > maxRemainingFiles {
		why := fmt.Sprintf("%d files may use what the change removes; ken read the first %d", len(list), maxRemainingFiles)
		list, limits = list[:maxRemainingFiles], append(limits, why)
	}
	return list, limits, nil
}

// mayRemain reports whether a file may have uses that somebody must edit by hand.
func mayRemain(f *searchindex.Entry) bool {
	return f.Kind != repo.KindVendored && f.Kind != repo.KindGenerated && uses.Supports(outline.LanguageOf(f.Path, nil))
}

// referencesToRemoved returns the references of a file that may lead to something removed; nil if there are none.
func referencesToRemoved(p repo.Path, refs *outline.References, names map[string]bool, wanted map[repo.Path]*removedThings) *outline.References {
	if refs == nil {
		return nil
	}
	part := &outline.References{Imports: refs.Imports, Partial: refs.Partial}
	for _, u := range refs.Uses {
		if names[u.Name] {
			part.Uses = append(part.Uses, u)
		}
	}
	gone, beside := false, false
	for old, f := range wanted {
		gone = gone || f.gone || f.lost["*"]
		beside = beside || old.Dir() == p.Dir()
	}
	if outline.LanguageOf(p, nil) == outline.Go {
		part.Imports = slices.DeleteFunc(slices.Clone(refs.Imports), func(im outline.Import) bool { return !mayImport(im.Module, wanted) })
		if len(part.Uses) == 0 || len(part.Imports) == 0 && !beside {
			return nil
		}
		return part
	}
	named := slices.ContainsFunc(refs.Imports, func(im outline.Import) bool {
		return slices.ContainsFunc(im.Names, func(b outline.Binding) bool { return names[b.Name] })
	})
	if len(part.Uses) == 0 && !named && !gone {
		return nil
	}
	return part
}

// mayImport reports whether an import path ends in the directory of a removed thing. The last
// element of a module's path may be its version.
func mayImport(module string, wanted map[repo.Path]*removedThings) bool {
	for p, f := range wanted {
		if f.mayBeImportedAs(module, p) {
			return true
		}
	}
	return false
}

func (f *removedThings) mayBeImportedAs(module string, p repo.Path) bool {
	dir := p.Dir().Base()
	return dir == "" || module == f.goModule || strings.HasSuffix("/"+module, "/"+dir) || strings.Contains("/"+module, "/"+dir+"/v") || !strings.Contains(module, "/")
}

// A remainingSearch examines the old edges of files that lead to something removed.
type remainingSearch struct {
	ctx     context.Context
	index   *searchindex.Index
	wanted  map[repo.Path]*removedThings
	renamed map[repo.Path]repo.Path        // new paths by old ones
	before  *uses.Resolver                 // of the old tree
	after   func() (*uses.Resolver, error) // of the new tree
}

// remainingOf returns the uses of removed things in one file, unless the name now leads to another declaration: its old
// edges, the uses in the file that declared them, and the members that the old tree left open.
func (s *remainingSearch) remainingOf(file *uses.ParsedFile, refs *outline.References, old uses.Resolution) ([]Leftover, error) {
	list, err := s.oldEdges(file, refs, old.Edges)
	if err != nil {
		return nil, err
	}
	list = append(list, s.ownUses(file, refs)...)
	list = append(list, s.openMembers(file, refs, old)...)
	left, err := s.lostImports(file, refs, list)
	if err != nil || len(list) == 0 {
		return left, err
	}
	now, err := s.newEdgesOf(file, refs, old.Edges)
	if err != nil {
		return nil, err
	}
	for _, l := range list {
		offered, renamed := false, false
		if l.edge != nil {
			if offered, renamed, err = now.offers(*l.edge); err != nil {
				return nil, err
			}
		}
		if offered {
			continue
		}
		l.Lines = slices.DeleteFunc(slices.Clone(l.Lines), func(line int) bool {
			through := renamed && now.leadsThrough(l.edge.Via, line)
			return through || now.isAlias(l.Symbol, line) || now.leadsElsewhere(l.Symbol, line, l.isMember)
		})
		if len(l.Lines) > 0 {
			left = append(left, l.Leftover)
		}
	}
	return left, nil
}

// An oldUse is a use in the old tree of something that the change removed.
type oldUse struct {
	Leftover
	edge     *uses.Edge // nil without one
	isMember bool
}

// oldEdges returns the old edges of one file that lead to something removed. A likely edge may have been wrong.
func (s *remainingSearch) oldEdges(
	file *uses.ParsedFile, refs *outline.References, edges []uses.Edge,
) (list []oldUse, err error) {
	for i := range edges {
		e := &edges[i]
		if via := s.wanted[e.Via]; via != nil && via.lost[lastName(e.Symbol)] && file.Language == outline.Rust {
			l := Leftover{From: file.Path, Lines: e.Lines, More: e.More, To: e.Via, Symbol: lastName(e.Symbol)}
			list = append(list, oldUse{Leftover: l})
		}
		f := s.wanted[e.To]
		if f == nil || e.From == e.To {
			continue
		}
		r, removed := f.names[e.Symbol]
		importsGone := f.gone && e.Symbol == ""
		if !removed && !importsGone || r.moved && e.Certainty != uses.Exact {
			continue
		}
		if f.lostOwner(r) {
			if !namesOwner(refs, e, &r) {
				continue // the value may be of another type
			}
			ofOwner := *e
			ofOwner.Symbol = r.owner
			e = &ofOwner
			r = f.names[r.owner]
		}
		l := Leftover{From: file.Path, Lines: e.Lines, More: e.More, To: e.To, Symbol: e.Symbol}
		l.Exact = e.Certainty == uses.Exact && !r.mayInherit
		if r.moved {
			if l.Lines, err = s.linesOfMoved(file, refs, e); err != nil {
				return nil, err
			}
		}
		list = append(list, oldUse{l, e, removed && r.last != e.Symbol})
	}
	return list, nil
}

// namesOwner reports whether a file names the type of a removed member before it.
func namesOwner(refs *outline.References, e *uses.Edge, r *removedName) bool {
	names := map[string]bool{lastName(r.owner): true}
	for _, im := range refs.Imports {
		for _, b := range im.Names {
			isOwner := b.Name == r.owner || lastName(im.Module) == r.owner // as in Rust
			names[b.Local()] = names[b.Local()] || isOwner
		}
	}
	return slices.ContainsFunc(refs.Uses, func(u outline.Use) bool {
		isOnLine := func(line int) bool { return slices.Contains(e.Lines, line) }
		return u.Name == r.last && names[lastName(u.Qualifier)] && slices.ContainsFunc(u.Lines, isOnLine)
	})
}

// importedAs returns the names by which an import may bind a symbol: a file may export it under other names.
func importedAs(im outline.Import, name string) (list []string) {
	for _, b := range im.Names {
		if b.Name == name {
			return []string{name}
		}
		if b.Name != "" && b.Name != "*" {
			list = append(list, b.Name)
		}
	}
	if len(list) == 0 {
		list = []string{name}
	}
	return list
}

// importsOf returns the imports of a file that lead to another one.
func (s *remainingSearch) importsOf(file *uses.ParsedFile, refs *outline.References, to repo.Path) []outline.Import {
	return slices.DeleteFunc(slices.Clone(refs.Imports), func(im outline.Import) bool {
		return s.before.Imported(file, im.Module) != to
	})
}

// linesOfMoved returns the lines that the move of a file breaks in one of its users: the imports that no longer lead to
// the name. Without imports, these are the lines of the uses.
func (s *remainingSearch) linesOfMoved(file *uses.ParsedFile, refs *outline.References, e *uses.Edge) ([]int, error) {
	after, err := s.after()
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(e.Symbol, ".")
	imports := s.importsOf(file, refs, e.To)
	if len(imports) == 0 {
		return e.Lines, nil
	}
	var lines []int
	for _, im := range imports {
		now := after.Imported(file, im.Module)
		isThere := now != "" && now == s.renamed[e.To]
		if !isThere {
			isThere = !slices.ContainsFunc(importedAs(im, name), func(as string) bool {
				has, errOf := after.CanImport(file, now, as, "")
				err = cmp.Or(err, errOf)
				return !has
			})
		}
		if err != nil {
			return nil, err
		}
		if !isThere {
			lines = append(lines, im.Line)
		}
	}
	return lines, nil
}

// ownUses returns the uses of removed symbols in the file that declared them. References leave out what their file
// declares, so a removed name among them has lost its declaration, unless an import binds it or its language finds it
// elsewhere.
func (s *remainingSearch) ownUses(file *uses.ParsedFile, refs *outline.References) (list []oldUse) {
	own := s.wanted[file.Path]
	if own == nil || own.gone {
		return nil
	}
	binds := func(name string) bool {
		return slices.ContainsFunc(refs.Imports, func(im outline.Import) bool {
			return slices.ContainsFunc(im.Names, func(b outline.Binding) bool { return b.Local() == name })
		})
	}
	openImport := slices.ContainsFunc(refs.Imports, func(im outline.Import) bool {
		return slices.ContainsFunc(im.Names, func(b outline.Binding) bool { return b.Name == "*" })
	})
	for _, u := range refs.Uses {
		full := u.Name
		if u.Qualifier != "" {
			full = u.Qualifier + "." + u.Name
		}
		r, removed := own.names[full]
		isMember := u.Qualifier != ""
		if !removed || own.lostOwner(r) || u.Member != isMember || !isMember && (binds(u.Name) || isPredeclared(file.Language, u.Name)) {
			continue
		}
		exact := !r.mayInherit && (isMember || !openImport && declaresAllNames(file.Language))
		l := Leftover{From: file.Path, Lines: u.Lines, More: u.More, To: file.Path, Symbol: full, Exact: exact}
		list = append(list, oldUse{Leftover: l, isMember: isMember})
	}
	return list
}

// declaresAllNames reports whether a plain name in a language has a declaration in the file, in an import of it, or in a
// file of the same directory. Other languages also find it in a base type, in an included file, or by loading it.
func declaresAllNames(lang outline.Language) bool {
	switch lang {
	case outline.Go, outline.Python, outline.TypeScript, outline.TSX, outline.JavaScript, outline.Rust:
		return true
	default:
		return false
	}
}

// isPredeclared reports whether a name of the repository may mean a newer function of the language.
func isPredeclared(lang outline.Language, name string) bool {
	return lang == outline.Go && (name == "min" || name == "max" || name == "clear")
}

// openMembers returns the members of unknown values that may be removed ones.
func (s *remainingSearch) openMembers(file *uses.ParsedFile, refs *outline.References, old uses.Resolution) (list []oldUse) {
	own := s.wanted[file.Path]
	for _, u := range old.Open {
		isOwn := own != nil && own.names[u.Qualifier+"."+u.Name].last != ""
		if !u.Member || isOwn {
			continue
		}
		for to, f := range s.wanted {
			isSameFamily := extensionFamily(to) == extensionFamily(file.Path)
			for full, r := range f.names {
				isNamed := r.last == u.Name && full != r.last && !r.moved
				isAsked := isSameFamily && isNamed && !f.lostOwner(r)
				if isAsked && s.isReached(file, refs, old.Edges, to, r.isField) {
					l := Leftover{From: file.Path, Lines: u.Lines, More: u.More, To: to, Symbol: full}
					list = append(list, oldUse{Leftover: l, isMember: true})
				}
			}
		}
	}
	return list
}

// isReached reports whether a file is likely to have values of the types of another one. A Go file has them from its
// own package and from those that it imports. A field in TypeScript has a common name: its users also use something
// else of its file, directly or through a re-export.
func (s *remainingSearch) isReached(
	file *uses.ParsedFile, refs *outline.References, old []uses.Edge, to repo.Path, isField bool,
) bool {
	isOld := func(e uses.Edge) bool { return e.To == to }
	isNew := func(e searchindex.Edge) bool { return e.To == to }
	imports := func(im outline.Import) bool { return s.wanted[to].mayBeImportedAs(im.Module, to) }
	switch family := uses.Family(file.Path); {
	case family == outline.Go:
		return file.Path.Dir() == to.Dir() || slices.ContainsFunc(refs.Imports, imports)
	case family == outline.TypeScript && isField:
		now, err := s.index.Uses(s.ctx, file.Path)
		isUser := slices.ContainsFunc(old, isOld) || slices.ContainsFunc(now, isNew) || len(s.importsOf(file, refs, to)) > 0
		return err != nil || file.Path == to || isUser
	default:
		return true
	}
}

// newEdges are the edges of one file in the tree after a change.
type newEdges struct {
	before, after *uses.Resolver
	file          *uses.ParsedFile
	refs          *outline.References
	old           []uses.Edge
	edges         []uses.Edge        // of the same references as the old ones
	indexed       []searchindex.Edge // of all references, without untracked files
}

func (s *remainingSearch) newEdgesOf(file *uses.ParsedFile, refs *outline.References, old []uses.Edge) (*newEdges, error) {
	after, err := s.after()
	if err != nil {
		return nil, err
	}
	n := &newEdges{before: s.before, after: after, file: file, refs: refs, old: old}
	found, err := after.Edges(file, refs)
	if err != nil {
		return nil, fmt.Errorf("find what %s uses: %w", file.Path, err)
	}
	n.edges = found.Edges
	n.indexed, err = s.index.Uses(s.ctx, file.Path)
	return n, err
}

// offers reports whether the file that an old edge led to or through still offers the name of its symbol, from
// another declaration. If that file offered the symbol under another name, it reports renamed.
func (n *newEdges) offers(e uses.Edge) (offered, renamed bool, err error) {
	if e.Symbol == "" {
		return false, false, nil
	}
	name, _, _ := strings.Cut(e.Symbol, ".")
	not := e.To
	if e.Symbol == name {
		not = "" // the file may give the name to another declaration
	}
	if e.Via == "" {
		offered, err = n.after.CanImport(n.file, e.To, name, not)
		return offered, false, err
	}
	if known, err := n.before.CanImport(n.file, e.Via, name, ""); err != nil || !known {
		return false, true, err
	}
	offered, err = n.after.CanImport(n.file, e.Via, name, not)
	return offered, false, err
}

// leadsElsewhere reports whether a line uses a declaration of the same name in the new tree. For an import of a
// whole file, any other file on its line counts.
func (n *newEdges) leadsElsewhere(symbol string, line int, isMember bool) bool {
	isUse := func(u outline.Use) bool { return u.Name == lastName(symbol) && slices.Contains(u.Lines, line) }
	if isMember && slices.ContainsFunc(n.refs.Uses, isUse) {
		return n.membersLeadElsewhere(lastName(symbol), isUse)
	}
	same := func(now string, lines []int) bool {
		return slices.Contains(lines, line) && (symbol == "" || lastName(now) == lastName(symbol))
	}
	return slices.ContainsFunc(n.indexed, func(e searchindex.Edge) bool { return same(e.Symbol, e.Lines) }) ||
		slices.ContainsFunc(n.edges, func(e uses.Edge) bool { return same(e.Symbol, e.Lines) })
}

// isAlias reports whether a name of a Rust module on a line now leads to a declaration of another name. Each name is
// resolved alone.
func (n *newEdges) isAlias(symbol string, line int) bool {
	if n.file.Language != outline.Rust || symbol == "" || lastName(symbol) != symbol {
		return false
	}
	isUse := func(u outline.Use) bool { return u.Name == symbol && slices.Contains(u.Lines, line) }
	alone := &outline.References{Imports: n.refs.Imports}
	if i := slices.IndexFunc(n.refs.Uses, isUse); i >= 0 {
		alone.Uses = n.refs.Uses[i : i+1]
	} else {
		alone.Imports = slices.DeleteFunc(slices.Clone(alone.Imports), func(im outline.Import) bool {
			return im.Line != line || lastName(im.Module) != symbol
		})
	}
	found, err := n.after.Edges(n.file, alone)
	return err == nil && slices.ContainsFunc(found.Edges, func(e uses.Edge) bool {
		return e.Symbol != "" && e.Certainty == uses.Exact && slices.Contains(e.Lines, line)
	})
}

// membersLeadElsewhere reports whether all of some members exactly use a declaration of a name in the new tree. A
// likely one does not count: without the removed member, another one may be the only one in reach. Each member is
// resolved alone, since an edge has the lines of all that lead to one declaration.
func (n *newEdges) membersLeadElsewhere(name string, isUse func(outline.Use) bool) bool {
	for _, u := range n.refs.Uses {
		if !isUse(u) {
			continue
		}
		alone := &outline.References{Imports: n.refs.Imports, Uses: []outline.Use{u}}
		found, err := n.after.Edges(n.file, alone)
		isExact := func(e uses.Edge) bool { return e.Certainty == uses.Exact && lastName(e.Symbol) == name }
		if err != nil || !slices.ContainsFunc(found.Edges, isExact) {
			return false
		}
	}
	return true
}

// leadsThrough reports whether a line uses a declaration that a file re-exports, and that it did not use before.
func (n *newEdges) leadsThrough(via repo.Path, line int) bool {
	return slices.ContainsFunc(n.edges, func(e uses.Edge) bool {
		known := func(o uses.Edge) bool { return o.To == e.To && o.Symbol == e.Symbol && o.Via == e.Via }
		return (e.Via == via || e.To == via && e.Symbol != "") && slices.Contains(e.Lines, line) && !slices.ContainsFunc(n.old, known)
	})
}

// lastName returns the last part of the name of a symbol.
func lastName(full string) string {
	return full[strings.LastIndexAny(full, ".:#")+1:]
}

// An overlay is the source of a resolver for another tree than the indexed one.
type overlay struct {
	*find.Source
	paths  []repo.Path
	files  map[repo.Path]*uses.ParsedFile // files that differ; nil for one without an outline
	hidden map[repo.Path]bool             // indexed files that the other tree does not have
	read   func(repo.Path) []byte
}

// newOldSource returns the source for the tree before a change: the indexed tree with the old versions of the files.
func newOldSource(indexed *find.Source, paths map[repo.Path]searchindex.Entry, c *change.Change) *overlay {
	s := &overlay{Source: indexed, files: make(map[repo.Path]*uses.ParsedFile), hidden: make(map[repo.Path]bool)}
	s.read = func(p repo.Path) []byte { return c.Read(p, true) }
	for i := range c.Files {
		f := &c.Files[i]
		if f.IsNew() {
			s.hidden[f.Path] = true
		}
		if f.OldMode != 0 {
			s.files[f.OldPath()] = fileOf(f.OldPath(), f.Before, f.Imports)
		}
	}
	s.setPaths(paths)
	return s
}

// newNewSource returns the source for the tree after a change: the indexed tree with the untracked files.
func newNewSource(indexed *find.Source, paths map[repo.Path]searchindex.Entry, c *change.Change) *overlay {
	s := &overlay{Source: indexed, files: make(map[repo.Path]*uses.ParsedFile)}
	s.read = func(p repo.Path) []byte { return c.Read(p, false) }
	for i := range c.Files {
		f := &c.Files[i]
		if _, there := paths[f.Path]; !there && f.Untracked && f.After != nil {
			s.files[f.Path] = fileOf(f.Path, f.After, f.NewImports)
		}
	}
	s.setPaths(paths)
	return s
}

// fileOf returns the facts of a file, nil without an outline.
func fileOf(p repo.Path, o *outline.Outline, imports []outline.Import) *uses.ParsedFile {
	if o == nil {
		return nil
	}
	return &uses.ParsedFile{Path: p, Outline: o, Imports: imports}
}

func (s *overlay) setPaths(indexed map[repo.Path]searchindex.Entry) {
	s.paths = slices.Collect(maps.Keys(s.files))
	for p := range indexed {
		if _, other := s.files[p]; !other && !s.hidden[p] {
			s.paths = append(s.paths, p)
		}
	}
	slices.Sort(s.paths)
}

func (s *overlay) Paths() []repo.Path { return s.paths }

func (s *overlay) Read(p repo.Path) ([]byte, error) { return s.read(p), nil }

func (s *overlay) File(p repo.Path) (*uses.ParsedFile, error) {
	if f, other := s.files[p]; other {
		return f, nil
	}
	return s.Source.File(p)
}

func (s *overlay) Declarations(name string) ([]uses.Declaration, error) {
	list, err := s.Source.Declarations(name)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(d uses.Declaration) bool {
		_, other := s.files[d.Path]
		return other || s.hidden[d.Path]
	})
	for p, f := range s.files {
		if f == nil {
			continue
		}
		for _, symbol := range f.Symbols {
			if symbol.Name == name {
				list = append(list, uses.Declaration{Path: p, Symbol: symbol})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b uses.Declaration) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return list, nil
}
