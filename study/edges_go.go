package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// goTruth asks Go's type checker which objects each file uses, tests included.
func (st *study) goTruth(ctx context.Context, t tree, _ []string) (edgeTruth, error) {
	root, err := filepath.EvalSymlinks(t.dir)
	if err != nil {
		return edgeTruth{}, err
	}
	g := goLoad{ctx: ctx, root: root, truth: newTruth(nil), tracked: make(map[string]bool)}
	for _, f := range t.files {
		g.tracked[f] = true
	}
	var modules []string
	for _, f := range t.files {
		if path.Base(f) == "go.mod" && !strings.Contains("/"+f, "/testdata/") && !strings.Contains("/"+f, "/vendor/") {
			modules = append(modules, path.Dir(f))
		}
	}
	var roots []*packages.Package
	for _, m := range modules {
		loaded, err := g.load(m)
		if err != nil {
			return edgeTruth{}, fmt.Errorf("load module %s: %w", m, err)
		}
		roots = append(roots, loaded...)
	}
	for _, p := range roots {
		g.edges(p)
	}
	g.truth.note = fmt.Sprintf("%d packages in %d modules, %d with errors", len(g.packages), len(modules), len(g.failed))
	return g.truth, nil
}

// goLoad collects the edges of all modules of a repository.
type goLoad struct {
	ctx              context.Context
	root             string
	truth            edgeTruth
	tracked          map[string]bool
	packages, failed map[string]bool // by import path
}

// load type-checks the packages of a module and notes their files.
func (g *goLoad) load(module string) ([]*packages.Package, error) {
	config := &packages.Config{
		Context: g.ctx,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Dir:       filepath.Join(g.root, module),
		Env:       append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0"),
		Tests:     true,
		ParseFile: g.parse,
	}
	roots, err := packages.Load(config, "./...")
	if err != nil {
		return nil, err
	}
	if g.packages == nil {
		g.packages, g.failed = make(map[string]bool), make(map[string]bool)
	}
	for _, p := range roots {
		if strings.HasSuffix(p.ID, ".test") {
			continue // the main package that go test makes
		}
		g.packages[p.PkgPath] = true
		if len(p.Errors) > 0 {
			g.failed[p.PkgPath] = true
		}
		for _, name := range p.CompiledGoFiles {
			if f := g.relative(name); f != "" {
				g.truth.known[f] = true
				g.truth.read[f] = len(p.Errors) == 0
			}
		}
	}
	return roots, nil
}

// parse leaves out the bodies of functions of other repositories, which take most of the
// time and the memory and hold no use of a file here.
func (g *goLoad) parse(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if file != nil && g.relative(name) == "" {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				f.Body = nil
			}
		}
	}
	return file, err
}

// edges notes which files the files of a package use.
func (g *goLoad) edges(p *packages.Package) {
	file := func(pos token.Pos) string { return g.relative(p.Fset.PositionFor(pos, false).Filename) }
	for id, object := range p.TypesInfo.Uses {
		if _, imported := object.(*types.PkgName); imported || !object.Pos().IsValid() || object.Pkg() == nil {
			continue
		}
		from, to := file(id.Pos()), file(object.Pos())
		if g.truth.read[from] {
			g.truth.add(from, to, object.Parent() == object.Pkg().Scope())
		}
	}
}

// relative returns the path of a tracked file in the repository, or "".
func (g *goLoad) relative(name string) string {
	f, err := filepath.Rel(g.root, name)
	if err != nil || !g.tracked[filepath.ToSlash(f)] {
		return ""
	}
	return filepath.ToSlash(f)
}
