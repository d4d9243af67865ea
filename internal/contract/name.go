package contract

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// badName says why a contract cannot list a file name, "" if it can.
func badName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case name == "." || name == "..":
		return "is a place, not a name"
	case strings.ContainsAny(name, `/\`):
		return "holds a slash; only what lies directly in the directory has a name here"
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds a control character"
	case len(name) > maxName:
		return "is longer than 255 bytes"
	}
	return ""
}

// Line returns the line of .ken/contract.yaml that allows exactly this name, ""
// for a name that no contract can list.
func (c *Contract) Line(name string) string {
	if badName(name) != "" {
		return ""
	}
	return "files: [{name: " + scalar(name) + "}]"
}

// scalar writes a text as YAML reads it back, in quotes where it might mean
// something else.
func scalar(s string) string {
	if plain(s) {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b) // every JSON text is a YAML one
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("contract: " + err.Error()) // a text always has a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// plain reports whether a text is a name like most: a letter, then letters,
// digits, hyphens and underscores, and one ending.
func plain(s string) bool {
	stem, ext := split(s)
	letters := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	other := func(r rune) bool {
		return letters(r) && (r < '0' || r > '9') && r != '-' && r != '_'
	}
	return len(ext) > 1 && !strings.ContainsFunc(ext[1:], letters) &&
		!strings.ContainsFunc(stem, other) && !letters(rune(stem[0]))
}
