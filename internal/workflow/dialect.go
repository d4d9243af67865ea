package workflow

import (
	"strings"
)

// Other programs write the workflow document line by line, as key: value, and
// quote a value without escaping the backslashes in it, or not at all where YAML
// would. What they mean is plain; only YAML takes it for something else.

// requote returns the document with such values quoted as YAML wants them. Lines
// that mean something in YAML stay as they are, and so does what is torn.
func requote(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r"), ": ")
		if !ok || !plainKey(key) || value == "" {
			continue
		}
		switch inner := len(value) - 1; {
		case len(value) > 1 && value[0] == '"' && value[inner] == '"':
			lines[i] = key + ": " + string(quoted(unquoteLoosely(value[1:inner])))
		case strings.IndexByte("*@%`", value[0]) >= 0:
			lines[i] = key + ": " + string(quoted(value))
		}
	}
	return strings.Join(lines, "\n")
}

func plainKey(key string) bool {
	return key != "" && strings.Trim(strings.ToLower(key), "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// unquoteLoosely undoes the two escapes that such programs know.
func unquoteLoosely(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\"`, `"`).Replace(s)
}
