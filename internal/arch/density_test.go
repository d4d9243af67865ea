package arch

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// How often the Go code without tests is dense, today. The numbers only fall: lower them when you made code plainer.
const (
	mostParallel   = 843  // assignments of several values at once
	mostConditions = 242  // conditions of four or more terms
	mostLong       = 1447 // lines of more than 120 characters
)

const (
	manyTerms    = 4
	longLine     = 120
	placesToShow = 15
)

// A place is a line of code that is dense.
type place struct {
	path   string
	line   int
	size   int // values, terms or characters
	edited time.Time
}

// Two things are assigned in two lines. An assignment of several values to several variables counts, and a declaration
// that does so; the results of one call do not count, and neither does a swap.
func TestParallelAssignments(t *testing.T) {
	places := findNodes(t, func(n ast.Node) int {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Rhs) > 1 && !isSwap(n) {
				return len(n.Rhs)
			}
		case *ast.ValueSpec:
			if len(n.Values) > 1 {
				return len(n.Values)
			}
		}
		return 0
	})
	checkDensity(t, places, mostParallel, "mostParallel", "parallel assignments", "write one line for each variable")
}

// isSwap reports whether an assignment is `a, b = b, a`.
func isSwap(n *ast.AssignStmt) bool {
	if len(n.Lhs) != 2 || len(n.Rhs) != 2 {
		return false
	}
	return source(n.Lhs[0]) == source(n.Rhs[1]) && source(n.Lhs[1]) == source(n.Rhs[0])
}

// source returns an expression as code.
func source(e ast.Expr) string {
	var b bytes.Buffer
	printer.Fprint(&b, token.NewFileSet(), e)
	return b.String()
}

// A condition that has many terms has parts that deserve names. The conditions of if and for count.
func TestLongConditions(t *testing.T) {
	places := findNodes(t, func(n ast.Node) int {
		var condition ast.Expr
		switch n := n.(type) {
		case *ast.IfStmt:
			condition = n.Cond
		case *ast.ForStmt:
			condition = n.Cond
		}
		count := terms(condition)
		if count < manyTerms {
			return 0
		}
		return count
	})
	checkDensity(t, places, mostConditions, "mostConditions", "conditions of four or more terms",
		"give the parts of the condition names")
}

// terms counts what && and || join.
func terms(e ast.Expr) int {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return terms(e.X) + terms(e.Y)
		}
	case *ast.ParenExpr:
		return terms(e.X)
	}
	return 1
}

// A line is readable without scrolling. A tab counts as one character.
func TestLongLines(t *testing.T) {
	var places []place
	for _, f := range parse(t) {
		if f.test {
			continue
		}
		for i, line := range f.lines {
			size := utf8.RuneCountInString(line)
			if size > longLine {
				places = append(places, place{path: f.path, line: i + 1, size: size})
			}
		}
	}
	checkDensity(t, places, mostLong, "mostLong", "lines of more than 120 characters", "break the lines")
}

// findNodes returns the places in Go code without tests where size is not 0.
func findNodes(t *testing.T, size func(ast.Node) int) []place {
	t.Helper()
	var places []place
	for _, f := range parse(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if found := size(n); found > 0 {
				places = append(places, place{path: f.path, line: f.fset.Position(n.Pos()).Line, size: found})
			}
			return true
		})
	}
	return places
}

// checkDensity fails if there are more places than the constant with that name allows. It lists the places in the files
// edited last, the worst first.
func checkDensity(t *testing.T, places []place, most int, constant, what, advice string) {
	t.Helper()
	t.Logf("%d %s, at most %d", len(places), what, most)
	if len(places) <= most {
		return
	}
	for i, p := range places {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(p.path)))
		if err != nil {
			t.Fatal(err)
		}
		places[i].edited = info.ModTime()
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(b.edited.Compare(a.edited), cmp.Compare(b.size, a.size), cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
	})
	var shown strings.Builder
	for _, p := range places[:min(placesToShow, len(places))] {
		fmt.Fprintf(&shown, "\n\t%s:%d: %d", p.path, p.line, p.size)
	}
	t.Errorf("%d %s, %d more than %s in internal/arch/density_test.go; %s. In the files edited last:%s",
		len(places), what, len(places)-most, constant, advice, shown.String())
}
