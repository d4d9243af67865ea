package main

import (
	"context"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// goSymbols asks Go's type checker which files use the functions, types, variables, constants and methods of others.
func (st *study) goSymbols(ctx context.Context, t tree, _ []string) (symbolTruth, error) {
	root, err := filepath.EvalSymlinks(t.dir)
	if err != nil {
		return symbolTruth{}, err
	}
	g := goLoad{ctx: ctx, root: root, truth: newTruth(nil), tracked: make(map[string]bool)}
	for _, f := range t.files {
		g.tracked[f] = true
	}
	type key struct{ path, name string }
	users := make(map[key]map[string]bool)
	member := make(map[key]bool)
	for _, f := range t.files {
		if path.Base(f) != "go.mod" || strings.Contains("/"+f, "/testdata/") || strings.Contains("/"+f, "/vendor/") {
			continue
		}
		roots, err := g.load(path.Dir(f))
		if err != nil {
			progress("module %s is left out: %v", path.Dir(f), err)
			continue
		}
		for _, p := range roots {
			file := func(pos token.Pos) string { return g.relative(p.Fset.PositionFor(pos, false).Filename) }
			for id, object := range p.TypesInfo.Uses {
				name, isMember := goName(object)
				if name == "" {
					continue
				}
				from, to := file(id.Pos()), file(object.Pos())
				if from == "" || to == "" || from == to {
					continue
				}
				k := key{to, name}
				if users[k] == nil {
					users[k] = make(map[string]bool)
				}
				users[k][from] = true
				member[k] = isMember
			}
		}
	}
	var list []usedSymbol
	for k, files := range users {
		list = append(list, usedSymbol{k.path, k.name, member[k], slices.Sorted(maps.Keys(files))})
	}
	return symbolTruth{st.sample(list), g.truth.read}, nil
}

// goName returns the name of a package-level object or of a method, as Type.Method; "" for others.
func goName(object types.Object) (name string, isMember bool) {
	if object.Pkg() == nil || !object.Pos().IsValid() {
		return "", false
	}
	if f, ok := object.(*types.Func); ok {
		signature := f.Origin().Type().(*types.Signature)
		if recv := signature.Recv(); recv != nil {
			t := recv.Type()
			if p, ok := t.(*types.Pointer); ok {
				t = p.Elem()
			}
			named, ok := t.(*types.Named)
			if !ok {
				return "", false
			}
			return named.Obj().Name() + "." + f.Name(), true
		}
	}
	if object.Parent() != object.Pkg().Scope() {
		return "", false
	}
	return object.Name(), false
}
