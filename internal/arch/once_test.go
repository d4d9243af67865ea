package arch

import (
	"go/ast"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declaredOnce lists the types that all of ken shares, with the package that declares them. A second type of such a
// name would be a second word for the same thing.
var declaredOnce = map[string]string{
	"Verdict": "fresh", // of a summary, a directory, a spec's text or a mention
	"Unknown": "fault", // what an answer does not know, and why
	"Lease":   "store", // of a directory, by an agent or a run of this clone
}

// No other package declares a type that all of ken shares.
func TestSharedTypesAreDeclaredOnce(t *testing.T) {
	found := make(map[string][]string)
	for _, f := range parse(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && declaredOnce[spec.Name.Name] != "" {
				found[spec.Name.Name] = append(found[spec.Name.Name], f.pkg)
			}
			return true
		})
	}
	for name, pkg := range declaredOnce {
		if got := found[name]; !slices.Equal(got, []string{pkg}) {
			t.Errorf("type %s is declared in %q; want %s alone", name, got, pkg)
		}
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
