// Package arch tests the structure of ken: which packages may import which, that features do not use processes, files,
// sockets or clocks, that every package has a package comment, and that the packages do not grow.
//
// The tests read source files, also those for other systems. The table of imports is in table_test.go, the numbers of
// lines are in budget_test.go and density_test.go.
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
	"sync"
	"testing"
)

const module = "ken/"

// A file is one parsed source file of ken.
type file struct {
	path    string // from the module's root, with slashes
	pkg     string // its package: the path below internal/, or else from the root
	test    bool
	imports []string
	lines   []string
	ast     *ast.File
	fset    *token.FileSet
}

// Every package imports only packages that the table allows.
func TestImports(t *testing.T) {
	for _, f := range parse(t) {
		may, known := imports[f.pkg]
		if !strings.HasPrefix(f.path, "internal/") {
			may, known = outside[f.pkg]
		}
		if !known {
			t.Errorf("%s: package %s is not in internal/arch/table_test.go; add it to a layer, and give the reason in the commit message", f.path, f.pkg)
			continue
		}
		for _, imp := range f.imports {
			if problem := checkImport(f, may, imp); problem != "" {
				t.Errorf("%s imports %s: %s", f.path, imp, problem)
			}
		}
	}
}

// checkImport returns the problem with an import of f, "" if it is allowed.
func checkImport(f file, may []string, imp string) string {
	if own, ok := strings.CutPrefix(imp, module); ok {
		own = strings.TrimPrefix(own, "internal/")
		switch {
		case own == f.pkg, slices.Contains(may, own):
			return ""
		case f.test && (slices.Contains(inTests, own) || slices.Contains(realParts[f.pkg], own)):
			return ""
		case slices.Contains(helpers, own):
			return "only test files may import that package"
		}
		return fmt.Sprintf("of ken's packages, %s may import only %s", f.pkg, list(may))
	}
	if f.test {
		return ""
	}
	if within(imp, pure) && (slices.Contains(types, f.pkg) || slices.Contains(features, f.pkg)) {
		return "types and features do no I/O; pass the data as an argument"
	}
	for library, users := range restricted {
		if within(imp, []string{library}) && !slices.Contains(users, f.pkg) {
			return "only " + list(users) + " may import that library"
		}
	}
	return ""
}

// Types and features do not call the clock. They may use time.Now as the default value of an option.
func TestNoClockInFeatures(t *testing.T) {
	for _, f := range parse(t) {
		if f.test || !slices.Contains(types, f.pkg) && !slices.Contains(features, f.pkg) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if name, ok := timeFunc(call.Fun); ok && slices.Contains(clocks, name) {
					t.Errorf("%s calls time.%s: take the time from the options", f.path, name)
				}
			}
			return true
		})
	}
}

// timeFunc returns the name of a function of package time, if e is one.
func timeFunc(e ast.Expr) (string, bool) {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	x, ok := s.X.(*ast.Ident)
	return s.Sel.Name, ok && x.Name == "time"
}

// Every package of the table is in exactly one layer, and every package of a layer is in the table.
func TestEveryPackageHasOneLayer(t *testing.T) {
	layers := join(types, features, facts, assembled, screen, faces, assembly, helpers)
	seen := make(map[string]bool)
	for _, p := range layers {
		if seen[p] {
			t.Errorf("%s is in two layers", p)
		}
		seen[p] = true
		if _, ok := imports[p]; !ok {
			t.Errorf("%s is in a layer and has no row in imports", p)
		}
	}
	for p := range imports {
		if !seen[p] {
			t.Errorf("%s has a row in imports and is in no layer", p)
		}
	}
}

// Every package has a package comment.
func TestPackageComments(t *testing.T) {
	documented := make(map[string]bool)
	for _, f := range parse(t) {
		dir := path.Dir(f.path)
		if strings.HasSuffix(f.ast.Name.Name, "_test") {
			continue
		}
		documented[dir] = documented[dir] || f.ast.Doc != nil && len(strings.Fields(f.ast.Doc.Text())) > 5
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment: describe what it does and what it leaves to other packages", dir)
		}
	}
}

// No file contains a path of the machine on which it was written.
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
				t.Errorf("%s:%d contains a path of one machine: %s", name, i+1, strings.TrimSpace(line))
			}
		}
	})
}

const (
	root  = "../.."
	study = "study/" // a module of its own
)

// walk calls visit with every file of the repository, sorted.
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

var (
	parseOnce sync.Once
	parsed    []file
)

// parse returns every Go file of the module, also those for other systems. It reads them once for all tests.
func parse(t *testing.T) []file {
	t.Helper()
	parseOnce.Do(func() { parsed = parseAll(t) })
	if len(parsed) == 0 {
		t.Fatal("no source files found")
	}
	return parsed
}

func parseAll(t *testing.T) []file {
	t.Helper()
	var files []file
	walk(t, func(name string) {
		if path.Ext(name) != ".go" || strings.Contains(name, "/testdata/") || strings.HasPrefix(name, study) {
			return
		}
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, name, content, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		f := file{
			path:  name,
			pkg:   packageOf(name),
			test:  strings.HasSuffix(name, "_test.go"),
			lines: linesOf(content),
			ast:   tree,
			fset:  fset,
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
	return files
}

// packageOf returns the package of a file: its directory, without internal/.
func packageOf(name string) string { return strings.TrimPrefix(path.Dir(name), "internal/") }

// linesOf returns the lines of a file that ends in a newline.
func linesOf(content []byte) []string {
	text := strings.TrimSuffix(string(content), "\n")
	return strings.Split(text, "\n")
}

// within reports whether a package is one of names, or below one of them.
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
