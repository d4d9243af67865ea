// Package enum gives the values of enumerations their names, in text and in JSON.
package enum

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Names are the names of the values 0, 1, 2 and so on of an enumeration. An empty name is of a value that is not
// written and not read.
type Names[T ~int | ~uint8] []string

// String returns the name of a value.
func (n Names[T]) String(v T) string {
	if i := int(v); i >= 0 && i < len(n) && n[i] != "" {
		return n[i]
	}
	return fmt.Sprintf("%s(%d)", reflect.TypeFor[T]().Name(), int(v))
}

// Parse sets v to the value with a name. The error lists the valid names.
func (n Names[T]) Parse(name []byte, v *T) error {
	i := slices.Index(n, string(name))
	if i < 0 || n[i] == "" {
		valid := slices.DeleteFunc(slices.Clone(n), func(s string) bool { return s == "" })
		what := strings.ToLower(reflect.TypeFor[T]().Name())
		return fmt.Errorf("unknown %s %q (valid: %s)", what, name, strings.Join(valid, ", "))
	}
	*v = T(i)
	return nil
}
