package review

import (
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/outline"
	"ken/internal/repo"
)

// removedKeys returns the names that a Python or script file no longer has at all and that others may use as members:
// keys of an exported constant, attributes of a value, and what a component takes. ken has no symbols for them.
func (u *unsureMentions) removedKeys(f *change.File) []string {
	if f.Before == nil || f.After == nil {
		return nil
	}
	before := string(u.Change.Read(f.OldPath(), true))
	kept := make(map[string]bool)
	eachWord(f.After.Language, string(u.Change.Read(f.Path, false)), func(_ int, word string) {
		for _, name := range strings.FieldsFunc(word, func(r rune) bool { return r < 0x80 && !isName(byte(r)) }) {
			kept[name] = true
		}
	})
	var keys []string
	for _, name := range keysIn(f.Before, before) {
		isGone := !kept[name] && !slices.Contains(keys, name)
		isSymbol := len(change.ByName(f.Before)[name]) > 0 && !isComponent(f.OldPath())
		if len(name) > 1 && isGone && !isSymbol {
			keys = append(keys, name)
		}
	}
	return keys
}

// isComponent reports whether others give the exported variables of a file as attributes.
func isComponent(p repo.Path) bool { return strings.HasSuffix(string(p), ".svelte") }

// keysIn returns the keys in the exported constants of a file, the attributes that its code sets, and the variables that
// a component takes from others.
func keysIn(o *outline.Outline, code string) (keys []string) {
	var list []string
	var lines []int
	eachWord(o.Language, code, func(at int, word string) {
		if word[0] != '\n' {
			list = append(list, word)
			lines = append(lines, strings.Count(code[:at], "\n")+1)
		}
	})
	word := func(i int) string {
		if i < 0 || i >= len(list) {
			return " "
		}
		return list[i]
	}
	isExported := func(line int) bool {
		return slices.ContainsFunc(o.Symbols, func(s outline.Symbol) bool {
			isValue := s.Kind == outline.Const || s.Kind == outline.Var
			return isValue && s.Exported && s.Depth == 0 && s.Line <= line && line <= s.EndLine
		})
	}
	var objects []bool // whether each open brace begins the keys that others see
	for i := range list {
		switch list[i] {
		case "{":
			given := word(i-1) == "let" && strings.Contains(code, "$props()")
			module := word(i-1) == "=" && word(i-2) == "exports"
			value := isExported(lines[i]) && strings.Contains("=(:,[", word(i-1))
			objects = append(objects, given || module || value)
		case "}":
			objects = objects[:max(0, len(objects)-1)]
		}
		name := strings.Trim(list[i], `"'`)
		isKey := len(objects) > 0 && objects[len(objects)-1] && strings.Contains("{,", word(i-1)) &&
			strings.Contains(":,=(}", word(i+1))
		isAttribute := word(i-1) == "." && (word(i-2) == "self" || word(i-2) == "this") && word(i+1) == "="
		isProperty := word(i-1) == "let" && word(i-2) == "export"
		if name != "" && isName(name[0]) && (isKey || isAttribute || isProperty) {
			keys = append(keys, name)
		}
	}
	return keys
}
