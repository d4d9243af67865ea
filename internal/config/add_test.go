package config

import (
	"strings"
	"testing"

	"ken/internal/fault"
)

// An item is added to a list in the style of the file, and nothing else changes.
func TestAdd(t *testing.T) {
	type item struct {
		Document, Mention string
	}
	for name, tt := range map[string]struct {
		before, want string
		line         int
	}{
		"no file":          {"", "docs:\n  ok:\n    - E\n", 3},
		"comments only":    {"# mine\n", "# mine\ndocs:\n  ok:\n    - E\n", 4},
		"other section":    {"spec:\n  main: x # why\n", "spec:\n  main: x # why\ndocs:\n  ok:\n    - E\n", 5},
		"no line end":      {"spec: {main: x}", "spec: {main: x}\ndocs:\n  ok:\n    - E\n", 4},
		"empty section":    {"docs:\nspec: {}\n", "docs:\n  ok:\n    - E\nspec: {}\n", 3},
		"other list":       {"docs: # d\n    exclude: [x]\n", "docs: # d\n    ok:\n      - E\n    exclude: [x]\n", 3},
		"empty list":       {"docs:\n  ok:\n", "docs:\n  ok:\n    - E\n", 3},
		"list":             {"docs:\n  ok: # of us\n    # first\n    - a\n    - b\nspec: {}\n", "docs:\n  ok: # of us\n    - E\n    # first\n    - a\n    - b\nspec: {}\n", 3},
		"list, not deeper": {"docs:\n  ok:\n  - a\n", "docs:\n  ok:\n  - E\n  - a\n", 3},
		"flow list":        {"docs:\n  ok: [a, b]\n", "docs:\n  ok: [E, a, b]\n", 2},
		"empty flow list":  {"docs:\n  ok: []\n", "docs:\n  ok: [E]\n", 2},
		"flow section":     {"docs: {ok: [a]}\n", "docs: {ok: [E, a]}\n", 1},
		"flow, no list":    {"docs: {exclude: [a]}\n", "docs: {ok: [E], exclude: [a]}\n", 1},
		"empty flow":       {"é: 1\ndocs: {}\n", "é: 1\ndocs: {ok: [E]}\n", 2},
		"all flow":         {"{spec: {}}\n", "{docs: {ok: [E]}, spec: {}}\n", 1},
		"letters before":   {"docs: {exclude: [é, ö], ok: [a]}\n", "docs: {exclude: [é, ö], ok: [E, a]}\n", 1},
		"CRLF":             {"docs:\r\n  ok:\r\n    - a\r\n", "docs:\r\n  ok:\r\n    - E\r\n    - a\r\n", 3},
		"JSON":             {"{\"docs\": {\"ok\": [\"a\"]}}\n", "{\"docs\": {\"ok\": [E, \"a\"]}}\n", 1},
	} {
		after, line, entry, err := Add([]byte(tt.before), "docs", "ok", item{"docs/a.md", "x: [y"})
		want := strings.ReplaceAll(tt.want, "E", `{document: docs/a.md, mention: 'x: [y'}`)
		if err != nil || string(after) != want || line != tt.line {
			t.Errorf("%s: got line %d, %v\n%s\nwant line %d\n%s", name, line, err, after, tt.line, want)
		}
		if lines := strings.Split(string(after), "\n"); err == nil && !strings.Contains(lines[line-1], entry) {
			t.Errorf("%s: line %d has no %s", name, line, entry)
		}
	}
}

// Add refuses a text in which the item would be lost or change another value, and says what to write.
func TestAddRefuses(t *testing.T) {
	for _, text := range []string{
		"docs: ~\n", "docs: x\n", "docs:\n  ok: x\n", "docs:\n  ok: !!null null\n", "a: &a\n  ok: [x]\ndocs: *a\n", "spec: {}\n...\n",
		"docs:\n  ok: &l [x]\n", "\tdocs:\n", "- docs\n",
	} {
		after, _, _, err := Add([]byte(text), "docs", "ok", "x")
		if err == nil {
			t.Errorf("%q became %q", text, after)
		} else if fault.HintOf(err) == "" {
			t.Errorf("%q: %v has no hint", text, err)
		}
	}
}

// Add returns the text with one more item.
func FuzzAdd(f *testing.F) {
	f.Add("docs:\n  ok:\n    - a\n", "x")
	f.Add("docs: {ok: [a]} # x\n", "- ': #")
	f.Fuzz(func(t *testing.T, text, item string) {
		after, _, entry, err := Add([]byte(text), "docs", "ok", item)
		if err != nil {
			return
		}
		if rest := strings.Replace(string(after), entry, "", 1); len(rest) < len(text) {
			t.Errorf("%q with %q became %q", text, item, after)
		}
		again, _, _, err := Add(after, "docs", "ok", item)
		if err != nil || !addsOne(after, again, "docs", "ok", entry) {
			t.Errorf("%q refuses a second item: %v", after, err)
		}
	})
}
