package usage

import (
	"context"
	"maps"
	"slices"

	"ken/internal/change"
	"ken/internal/find"
	"ken/internal/manifest"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

// addLostExports adds the names that changed files no longer pass on from other files: the re-exports of an
// index file, the imports of an __init__.py, and names that were exported by a list. x is of the tree after the change.
func addLostExports(ctx context.Context, x *searchindex.Index, c *change.Change, wanted map[repo.Path]*removedThings) error {
	for i := range c.Files {
		f := &c.Files[i]
		lost, err := notPassedOn(ctx, x, f)
		if err != nil {
			return err
		}
		for _, passed := range lost {
			if wanted[f.Path] == nil {
				wanted[f.Path] = &removedThings{names: make(map[string]removedName)}
			}
			if wanted[f.Path].lost == nil {
				wanted[f.Path].lost = make(map[string]bool)
			}
			wanted[f.Path].lost[passed.Local()] = true
			if passed.Local() == "" {
				wanted[f.Path].lost["*"] = true
			}
		}
	}
	return nil
}

// notPassedOn returns the bindings that a changed file no longer passes on.
func notPassedOn(ctx context.Context, x *searchindex.Index, f *change.File) (map[string]*outline.Binding, error) {
	if f.Before == nil || f.After == nil || f.LeftPath() {
		return nil, nil
	}
	imports := f.NewImports
	if !f.Untracked {
		var err error
		if _, imports, _, err = x.Facts(ctx, f.Path); err != nil {
			return nil, err
		}
	}
	lost := passedOn(f.Before.Language, f.Imports)
	for name := range passedOn(f.After.Language, imports) {
		delete(lost, name)
	}
	return lost, nil
}

// NotPassedOn returns the names that a changed file no longer passes on to those that import it, sorted. In Python, only
// an __init__.py passes on what it imports.
func NotPassedOn(ctx context.Context, x *searchindex.Index, f *change.File) ([]string, error) {
	lost, err := notPassedOn(ctx, x, f)
	isModule := f.Before != nil && f.Before.Language == outline.Python && f.Path.Base() != "__init__.py"
	if err != nil || isModule {
		return nil, err
	}
	maps.DeleteFunc(lost, func(_ string, b *outline.Binding) bool { return b.Local() == "" })
	return slices.Sorted(maps.Keys(lost)), nil
}

// passedOn returns the bindings of imports that other files can import again, by their names. A star has the name of its
// module, too.
func passedOn(lang outline.Language, imports []outline.Import) map[string]*outline.Binding {
	passed := make(map[string]*outline.Binding)
	for _, im := range imports {
		if !im.Reexport && lang != outline.Python {
			continue
		}
		for _, b := range im.Names {
			name := b.Local()
			if name == "" {
				name = "* " + im.Module
			}
			passed[name] = &b
		}
	}
	return passed
}

// goModuleOf returns the path of the Go module in a directory; "" if none is there.
func goModuleOf(ctx context.Context, t find.Tree, dir repo.Path) string {
	name := repo.Path("go.mod")
	if dir != "" {
		name = dir + "/go.mod"
	}
	mod, err := manifest.ParseGoModule(t.Read(ctx, name))
	if err != nil {
		return "" // it is broken, or not there
	}
	return mod.Path
}

// lostImports returns the names that a file imports from a changed file, and that this no longer has for others. known
// are the uses of removed symbols.
func (s *remainingSearch) lostImports(file *uses.ParsedFile, refs *outline.References, known []oldUse) (list []Leftover, err error) {
	for _, im := range refs.Imports {
		to := s.before.Imported(file, im.Module)
		f := s.wanted[to]
		if f == nil || f.lost == nil {
			continue
		}
		l := Leftover{From: file.Path, To: to, Exact: true}
		add := func(name string, lines []int) error {
			isKnown := slices.ContainsFunc(known, func(o oldUse) bool {
				isSame := func(line int) bool { return slices.Contains(o.Lines, line) }
				return lastName(o.Symbol) == name && slices.ContainsFunc(lines, isSame)
			})
			if isKnown || !f.lost[name] && !f.lost["*"] {
				return nil
			}
			is, err := s.isLost(file, to, name)
			if is && err == nil {
				l.Symbol, l.Lines = name, lines
				list = append(list, l)
			}
			return err
		}
		for _, b := range im.Names {
			isNamed := b.Name != "" && b.Name != "*"
			if isNamed {
				err = add(b.Name, []int{im.Line})
			}
			for _, u := range refs.Uses {
				isMember := u.Qualifier == "" && u.Member
				isPart := !isNamed && u.Qualifier == b.Local() && !isMember
				if isPart && err == nil {
					l.Exact = u.Qualifier != "" // another star may bind a plain name
					err = add(u.Name, u.Lines)
				}
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// isLost reports whether a file could import a name from another one before the change, and cannot after it. In Python
// the name may then mean a module of the package.
func (s *remainingSearch) isLost(file *uses.ParsedFile, to repo.Path, name string) (bool, error) {
	had, err := s.before.CanImport(file, to, name, "")
	if err != nil || !had {
		return false, err
	}
	after, err := s.after()
	if err != nil {
		return false, err
	}
	has, err := after.CanImport(file, to, name, "")
	becameModule := after.IsModule(file, to, name) && !s.before.IsModule(file, to, name)
	return !has || becameModule, err
}
