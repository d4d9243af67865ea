package find

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

// A Source provides the facts of an indexed tree to a resolver.
type Source struct {
	ctx   context.Context
	index *searchindex.Index
	tree  Tree
	paths []repo.Path
}

// NewSource returns the source for a tree with these paths, from an index that is up to date with it.
func NewSource(ctx context.Context, x *searchindex.Index, t Tree, paths []repo.Path) *Source {
	return &Source{ctx: ctx, index: x, tree: t, paths: paths}
}

// Paths lists the files of the tree.
func (s *Source) Paths() []repo.Path { return s.paths }

// Read returns the content of a file.
func (s *Source) Read(p repo.Path) ([]byte, error) { return s.tree.Read(s.ctx, p), nil }

// File returns the facts of a file, nil if there are none.
func (s *Source) File(p repo.Path) (*uses.ParsedFile, error) {
	o, imports, ok, err := s.index.Facts(s.ctx, p)
	if err != nil || !ok {
		return nil, err
	}
	return &uses.ParsedFile{Path: p, Outline: &o, Imports: imports}, nil
}

// Declarations lists the declarations of a name.
func (s *Source) Declarations(name string) ([]uses.Declaration, error) {
	found, err := s.index.Declarations(s.ctx, name)
	list := make([]uses.Declaration, len(found))
	for i, d := range found {
		list[i] = uses.Declaration{Path: d.Path, Symbol: d.Symbol}
	}
	return list, err
}

// A change is a file that the update added to the index or removed from it.
type change struct {
	path    repo.Path
	appears bool            // the file is new or deleted, or of another package
	names   map[string]bool // the names that only one of both versions declares
	rules   bool            // for a manifest: the rules for resolving changed
}

// compare records how the declarations of a file changed.
func (c *change) compare(before outline.Outline, after *outline.Outline) {
	if after == nil {
		after = new(outline.Outline)
	}
	if before.Package != after.Package {
		c.appears = true
		return
	}
	was := declared(before.Symbols)
	is := declared(after.Symbols)
	c.names = make(map[string]bool)
	for d, n := range was {
		if is[d] != n {
			c.names[d.base()] = true
		}
	}
	for d, n := range is {
		if was[d] != n {
			c.names[d.base()] = true
		}
	}
}

// declares reports whether the declared names changed.
func (c *change) declares() bool { return c.appears || len(c.names) > 0 }

// A declaredName is the part of a symbol that other files may see.
type declaredName struct {
	kind     outline.Kind
	name     string
	exported bool
}

// base returns the last part of the name.
func (d declaredName) base() string { return d.name[strings.LastIndexByte(d.name, '.')+1:] }

// declared counts the declarations of a file.
func declared(symbols []outline.Symbol) map[declaredName]int {
	counts := make(map[declaredName]int)
	for i := range symbols {
		if s := &symbols[i]; s.Kind != outline.Heading {
			counts[declaredName{s.Kind, s.FullName(), s.Exported}]++
		}
	}
	return counts
}

// updateEdges computes the edges again of files whose uses may now resolve differently.
func updateEdges(ctx context.Context, w *searchindex.Writer, t Tree, files []repo.File, changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	paths := make([]repo.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	src := NewSource(ctx, w.Index, t, paths)
	r, err := uses.NewResolver(src)
	if err != nil {
		return err
	}
	again, names, err := affectedFiles(ctx, w, r, files, changes)
	if err != nil {
		return err
	}
	err = t.References(ctx, again, func(f repo.File, refs *outline.References) error {
		if refs == nil || f.Kind == repo.KindVendored {
			return nil
		}
		if only := names[f.Path]; only != nil && !mentions(refs, only) {
			return nil
		}
		file, err := src.File(f.Path)
		if err != nil || file == nil {
			return err
		}
		found, err := r.Edges(file, refs)
		if err != nil {
			return fmt.Errorf("find what %s uses: %w", f.Path, err)
		}
		list := make([]searchindex.Edge, len(found.Edges))
		for i, e := range found.Edges {
			list[i] = searchindex.Edge{
				From: e.From, To: e.To, Symbol: e.Symbol, Kind: e.Kind, Lines: e.Lines, More: e.More,
				Exact: e.Certainty == uses.Exact, Via: e.Via,
			}
		}
		return w.PutEdges(f.Path, list, found.Ambiguous)
	})
	if err != nil {
		return err
	}
	return w.CountUsers()
}

// affectedFiles lists the files whose edges may differ after some changes. A manifest that
// resolving depends on affects all files. A changed file affects itself. If it declares other names, it affects
//   - the files of its directory, and the files that use something of its directory or import
//     a package of Go with its name;
//   - the files that use those, as long as they may export names of others again;
//   - in a language that is resolved by names, all files of such languages;
//   - if it is new or gone, the files with an import that ends in its name.
//
// A file that has names is affected only if it mentions one of them.
func affectedFiles(ctx context.Context, w *searchindex.Writer, r *uses.Resolver, files []repo.File, changes []change) (again []repo.File, names map[repo.Path]map[string]bool, err error) {
	wanted := make(map[repo.Path]bool)
	dirs := make(map[repo.Path]map[string]bool) // the names to mention, nil for any
	byName := false
	for _, c := range changes {
		if uses.IsManifest(c.path) && (c.appears || c.rules) {
			return files, nil, nil
		}
		wanted[c.path] = true
		if c.declares() {
			addNames(dirs, c)
			byName = byName || resolvesByName(c.path)
		}
		if !c.appears {
			continue
		}
		base := c.path.Base()
		list, err := w.Importers(ctx, []string{strings.TrimSuffix(base, path.Ext(base)), c.path.Dir().Base()})
		if err != nil {
			return nil, nil, err
		}
		for _, p := range list {
			wanted[p] = true
		}
	}
	if 2*len(wanted) > len(files) {
		return files, nil, nil
	}
	names = make(map[repo.Path]map[string]bool)
	for dir, only := range dirs {
		users := make(map[repo.Path]bool)
		if err := addUsers(ctx, w, dir, users); err != nil {
			return nil, nil, err
		}
		if importPath := r.GoImportPath(dir); importPath != "" {
			importers, err := w.ImportersOfModule(ctx, importPath)
			if err != nil {
				return nil, nil, err
			}
			for _, p := range importers {
				users[p] = true
			}
		}
		for p := range users {
			switch {
			case only == nil:
				wanted[p] = true
			case names[p] == nil:
				names[p] = maps.Clone(only)
			default:
				maps.Copy(names[p], only)
			}
		}
	}
	for p := range names {
		_, inside := dirs[p.Dir()]
		if wanted[p] || inside || byName && resolvesByName(p) {
			delete(names, p)
		}
	}
	again = slices.DeleteFunc(slices.Clone(files), func(f repo.File) bool {
		_, inside := dirs[f.Path.Dir()]
		return !wanted[f.Path] && names[f.Path] == nil && !inside && (!byName || !resolvesByName(f.Path))
	})
	return again, names, nil
}

// addNames adds the directory of a changed file with the names that a user must mention to be affected. Only in Go
// do the names matter: a file of another package sees what it names, and the init functions of a package that it
// imports for its side effects.
func addNames(dirs map[repo.Path]map[string]bool, c change) {
	dir := c.path.Dir()
	only, known := dirs[dir]
	tell := !c.appears && !c.names["init"] && outline.LanguageOf(c.path, nil) == outline.Go
	switch {
	case !tell:
		dirs[dir] = nil
	case !known:
		dirs[dir] = maps.Clone(c.names)
	case only != nil:
		maps.Copy(only, c.names)
	}
}

// mentions reports whether a file uses one of some names, or a member of one.
func mentions(refs *outline.References, names map[string]bool) bool {
	return slices.ContainsFunc(refs.Uses, func(u outline.Use) bool {
		if names[u.Name] {
			return true
		}
		for part := range strings.SplitSeq(u.Qualifier, ".") {
			if names[part] {
				return true
			}
		}
		return false
	})
}

// resolvesByName reports whether a file is in a language whose names are resolved over the whole tree.
func resolvesByName(p repo.Path) bool {
	switch outline.LanguageOf(p, nil) {
	case outline.C, outline.CPP, outline.CSharp, outline.Ruby, outline.PHP, outline.Bash, outline.Unknown:
		return true
	default:
		return false
	}
}

// addUsers adds the files that use something of a directory, and the users of those among them that may re-export
// it. Only in Go does no file re-export the names of another.
func addUsers(ctx context.Context, w *searchindex.Writer, dir repo.Path, wanted map[repo.Path]bool) error {
	edges, err := w.UsersOfDir(ctx, dir)
	if err != nil {
		return err
	}
	seen := make(map[repo.Path]bool)
	for len(edges) > 0 {
		e := edges[0]
		edges = edges[1:]
		if seen[e.From] {
			continue
		}
		seen[e.From], wanted[e.From] = true, true
		if outline.LanguageOf(e.From, nil) == outline.Go {
			continue
		}
		more, err := w.Users(ctx, e.From)
		if err != nil {
			return err
		}
		edges = append(edges, more...)
	}
	return nil
}
