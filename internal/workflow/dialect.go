package workflow

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Other programs write the workflow document line by line as key: value. They do not
// escape backslashes in a quoted value, and do not quote some values for which YAML
// requires it.

// requote quotes such values for YAML. Lines that YAML can read stay as they are, and
// so do lines with an unclosed quote or bracket.
func requote(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) {
		return text // binary
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r"), ": ")
		if !ok || !plainKey(key) || value == "" || torn(value) {
			continue
		}
		if _, err := parseYAML([]byte(line + "\n")); err == nil {
			continue
		}
		if value[0] == '"' {
			value = unquoteLoosely(value[1 : len(value)-1])
		}
		lines[i] = key + ": " + string(quoted(value))
	}
	return strings.Join(lines, "\n")
}

// torn reports whether a value has an unclosed quote or bracket.
func torn(value string) bool {
	switch value[0] {
	case '"':
		return len(value) < 2 || value[len(value)-1] != '"'
	case '[':
		return !strings.Contains(value, "]")
	case '{':
		return !strings.Contains(value, "}")
	}
	return false
}

func plainKey(key string) bool {
	return key != "" && strings.Trim(strings.ToLower(key), "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// unquoteLoosely undoes the two escapes that such programs know.
func unquoteLoosely(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\"`, `"`).Replace(s)
}
