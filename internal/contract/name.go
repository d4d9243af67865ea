package contract

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// badName returns why a contract cannot list a file name, "" if it can.
func badName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case name == "." || name == "..":
		return "is a directory, not a file name"
	case strings.ContainsAny(name, `/\`):
		return "contains a slash; list only files directly in the directory"
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "contains a control character"
	case len(name) > maxName:
		return "is longer than 255 bytes"
	}
	return ""
}

// Line returns the line of .ken/contract.yaml that allows exactly this name, "" for a
// name that a contract cannot list.
func (c *Contract) Line(name string) string {
	if badName(name) != "" {
		return ""
	}
	return "files: [{name: " + quoteYAML(name) + "}]"
}

// plainName matches the names that YAML reads as they are.
var plainName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A[a-zA-Z][a-zA-Z0-9_-]*\.[a-zA-Z]+\z`)
})

// quoteYAML returns a text for YAML, in quotes unless it is a plain file name.
func quoteYAML(s string) string {
	if plainName().MatchString(s) {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b) // every JSON string is valid YAML
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("contract: " + err.Error()) // a string always has a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}
