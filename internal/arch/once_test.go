package arch

import (
	"go/ast"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declaredOnce lists the types that all of ken shares, with the packages that declare them. A second type of such a
// name would be a second word for the same thing.
var declaredOnce = map[string][]string{
	"Verdict":    {"fresh"},          // of a summary, a directory, a spec's text or a mention
	"Unknown":    {"fault"},          // what an answer does not know, and why
	"Lease":      {"store"},          // of a directory, by an agent or a run of this clone
	"Permission": {"permission"},     // of the user for an address that a repository names
	"File":       {"change", "repo"}, // a tracked path with the id of its content; in a change, with its two versions
}

// answeredOnce lists questions that all of ken asks, with the packages that answer them. Package project adds what
// the settings of a project say.
var answeredOnce = map[string][]string{"IsTest": {"project", "repo"}, "ForTests": {"project", "repo"}}

// No other package declares a type that all of ken shares, or answers a question again.
func TestSharedThingsAreDeclaredOnce(t *testing.T) {
	types := make(map[string][]string)
	functions := make(map[string][]string)
	for _, f := range parse(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				types[n.Name.Name] = append(types[n.Name.Name], f.pkg)
			case *ast.FuncDecl:
				functions[n.Name.Name] = append(functions[n.Name.Name], f.pkg)
			}
			return true
		})
	}
	compare := func(found, want map[string][]string) {
		for name, packages := range want {
			got := slices.Sorted(slices.Values(found[name]))
			if !slices.Equal(got, packages) {
				t.Errorf("%s is declared in %q; want %q", name, got, packages)
			}
		}
	}
	compare(types, declaredOnce)
	compare(functions, answeredOnce)
}

// Only package change compares two trees, so that all features agree about what a change removes.
func TestTreesAreComparedInOnePackage(t *testing.T) {
	for _, f := range parse(t) {
		if f.test || f.pkg == "change" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			compare, ok := n.(*ast.SelectorExpr)
			if !ok || compare.Sel.Name != "Compare" {
				return true
			}
			if of, ok := compare.X.(*ast.SelectorExpr); ok && of.Sel.Name == "Git" {
				t.Errorf("%s compares two trees; ask package change what was removed", f.path)
			}
			return true
		})
	}
}

// An answer lists what it does not know under one key, unknown. The results of actions have remarks besides.
func TestUnknownIsOneKey(t *testing.T) {
	others := []string{"unread", "gaps", "gap", "notices"}
	for _, f := range parse(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			tag, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				t.Errorf("%s: %v", f.path, err)
			}
			key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
			if slices.Contains(others, key) {
				t.Errorf("%s: the key %q; what an answer does not know is listed as fault.Unknown under unknown", f.path, key)
			}
			return true
		})
	}
}
