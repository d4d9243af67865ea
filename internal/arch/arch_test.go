// Package arch holds the shape of the house as tests: who may import whom, what
// the deciding packages keep out, and that every package says what it knows.
//
// It reads source files only, whatever system they are meant for. The table is
// in table_test.go.
package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "ken/"

// A file is one parsed source file of ken.
type file struct {
	path    string // from the module's root, with slashes
	pkg     string // its package: below internal/ as in the table, else from the root
	test    bool
	imports []string
	ast     *ast.File
}

// Every package imports only what the table gives it.
func TestImports(t *testing.T) {
	for _, f := range parse(t) {
		may, known := imports[f.pkg]
		if !strings.HasPrefix(f.path, "internal/") {
			may, known = outside[f.pkg]
		}
		if !known {
			t.Errorf("%s: package %s has no place in internal/arch/table_test.go; give it a layer, and the commit a sentence that says why", f.path, f.pkg)
			continue
		}
		for _, imp := range f.imports {
			if problem := judge(f, may, imp); problem != "" {
				t.Errorf("%s imports %s: %s", f.path, imp, problem)
			}
		}
	}
}

// judge returns what is wrong with an import of f's, "" if nothing is.
func judge(f file, may []string, imp string) string {
	if own, ok := strings.CutPrefix(imp, module); ok {
		own = strings.TrimPrefix(own, "internal/")
		switch {
		case own == f.pkg, slices.Contains(may, own):
			return ""
		case f.test && (slices.Contains(inTests, own) || slices.Contains(realParts[f.pkg], own)):
			return ""
		case slices.Contains(helpers, own):
			return "that package is for test files"
		}
		return fmt.Sprintf("%s may import of ken only %s", f.pkg, list(may))
	}
	if f.test {
		return ""
	}
	if within(imp, pure) && (slices.Contains(words, f.pkg) || slices.Contains(decisions, f.pkg)) {
		return "words and decisions are pure; let whoever calls bring the fact in"
	}
	for door, keys := range doors {
		if within(imp, []string{door}) && !slices.Contains(keys, f.pkg) {
			return "that door is opened by " + list(keys) + " alone"
		}
	}
	return ""
}

// The words and decisions never look at a clock themselves. Naming time.Now as
// the default of an option is fine; calling it is not.
func TestNoClockInDecisions(t *testing.T) {
	for _, f := range parse(t) {
		if f.test || !slices.Contains(words, f.pkg) && !slices.Contains(decisions, f.pkg) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if name, ok := timeFunc(call.Fun); ok && slices.Contains(clocks, name) {
					t.Errorf("%s calls time.%s: a decision is told the time; take it from the options", f.path, name)
				}
			}
			return true
		})
	}
}

// timeFunc returns the name of the function of package time that e is.
func timeFunc(e ast.Expr) (string, bool) {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	x, ok := s.X.(*ast.Ident)
	return s.Sel.Name, ok && x.Name == "time"
}

// No two layers claim one package, and none is left out of the table.
func TestTableIsWhole(t *testing.T) {
	layers := join(words, facts, decisions, assembled, screen, faces, assembly, helpers)
	seen := make(map[string]bool)
	for _, p := range layers {
		if seen[p] {
			t.Errorf("%s stands in two layers", p)
		}
		seen[p] = true
		if _, ok := imports[p]; !ok {
			t.Errorf("%s has a layer and no row", p)
		}
	}
	for p := range imports {
		if !seen[p] {
			t.Errorf("%s has a row and no layer", p)
		}
	}
}

// Every package opens with what it knows and what it leaves to others.
func TestPackageComments(t *testing.T) {
	said := make(map[string]bool)
	for _, f := range parse(t) {
		dir := path.Dir(f.path)
		if strings.HasSuffix(f.ast.Name.Name, "_test") {
			continue
		}
		said[dir] = said[dir] || f.ast.Doc != nil && len(strings.Fields(f.ast.Doc.Text())) > 5
	}
	for dir, ok := range said {
		if !ok {
			t.Errorf("%s has no package comment: say what it knows and what it leaves to others", dir)
		}
	}
}

// Nothing in the tree speaks of the machine it was written on.
func TestNoMachinePaths(t *testing.T) {
	machine := regexp.MustCompile(`(^|[^\w./$}-])/(work|root)/\w`)
	walk(t, func(name string) {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(b, 0) >= 0 {
			return // not text
		}
		for i, line := range strings.Split(string(b), "\n") {
			if machine.MatchString(line) {
				t.Errorf("%s:%d names a place on one machine: %s", name, i+1, strings.TrimSpace(line))
			}
		}
	})
}

const root = "../.."

// walk calls visit with every file of the tree that git would track, in order.
func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "bin"):
			return fs.SkipDir
		case d.Type().IsRegular() && name != ".git": // a file in a linked worktree
			visit(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// parse reads every Go file of the tree, those for other systems too.
func parse(t *testing.T) []file {
	t.Helper()
	var files []file
	walk(t, func(name string) {
		if path.Ext(name) != ".go" || strings.Contains(name, "/testdata/") {
			return
		}
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(name)), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		f := file{
			path: name,
			pkg:  strings.TrimPrefix(path.Dir(name), "internal/"),
			test: strings.HasSuffix(name, "_test.go"),
			ast:  tree,
		}
		for _, spec := range tree.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			f.imports = append(f.imports, imp)
		}
		files = append(files, f)
	})
	if len(files) == 0 {
		t.Fatal("no source files found")
	}
	return files
}

// within reports whether a package is one of those named, or below one.
func within(pkg string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return pkg == n || strings.HasPrefix(pkg, n+"/")
	})
}

func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
