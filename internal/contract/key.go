package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"ken/internal/english"
	"ken/internal/suggest"
)

// Check returns the problem of a value and the expected value; both are "" if the value
// is allowed. Null always is. A value is nil, a bool, a json.Number or int64, a string
// or a []any.
func (k Key) Check(v any) (problem, expected string) {
	if v == nil {
		return "", ""
	}
	var is KeyType
	switch v.(type) {
	case bool:
		is = Boolean
	case json.Number, int, int64, float64:
		is = Number
	case string:
		is = String
	case []any, []string:
		is = List
	}
	if is != k.Type {
		return k.Name + " is " + show(v), k.Type.kind()
	}
	if s, ok := v.(string); ok && !k.tolerates(s) {
		return k.checkEnum(s)
	}
	return "", ""
}

// Warning returns the problem of a value that is allowed and that ken does not know, with the
// expected values; both are "" if there is none.
func (k Key) Warning(v any) (problem, expected string) {
	if s, ok := v.(string); ok && k.tolerates(s) {
		return k.checkEnum(s)
	}
	return "", ""
}

func (k Key) checkEnum(s string) (problem, expected string) {
	if len(k.Enum) == 0 {
		return "", ""
	}
	return checkWord(k.Name, s, k.Enum)
}

// tolerates reports whether an unknown value is only a warning: it is for an open key, and for
// a phase that only devt has.
func (k Key) tolerates(s string) bool {
	return k.Open || k.Name == "phase" && slices.Contains(devtPhases, s)
}

// kind describes the values of the type.
func (t KeyType) kind() string {
	switch t {
	case Boolean:
		return "true or false"
	case Number:
		return "a number"
	case String:
		return "a text"
	case List:
		return "a list"
	default:
		return string(t)
	}
}

// checkWord returns the problem of a word that must be one of legal.
func checkWord(what, word string, legal []string) (problem, expected string) {
	if slices.Contains(legal, word) {
		return "", ""
	}
	expected = english.Or(legal)
	if near, ok := suggest.Word(word, legal); ok {
		expected += "; did you mean " + near + "?"
	}
	return what + " is " + show(word), expected
}

// maxShown is the length at which messages cut a wrong value.
const maxShown = 60

// show formats a value for a message, on one line.
func show(v any) string {
	switch v := v.(type) {
	case string:
		if len(v) > maxShown {
			return fmt.Sprintf("%+q…", v[:maxShown])
		}
		return fmt.Sprintf("%q", v)
	case []any, []string:
		return "a list"
	case map[string]any:
		return "an object"
	case nil:
		return "null"
	default:
		return fmt.Sprint(v)
	}
}

// InitialValue returns Initial with the type of the key: nil, a bool, an int64 or a
// string.
func (k Key) InitialValue() any {
	n, err := strconv.ParseInt(k.Initial, 10, 64)
	isNumber := err == nil
	switch {
	case k.Type == Boolean && k.Initial == "true":
		return true
	case k.Type == Boolean && k.Initial == "false":
		return false
	case k.Type == Number && isNumber:
		return n
	}
	return k.Initial
}
