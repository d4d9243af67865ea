package review

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ken/internal/change"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/usage"
)

// removedKeys returns the names that a Python or script file no longer has and that others may use as members: keys of
// an exported constant, attributes of a value, options of a command, and what a component takes. They are no symbols.
// A name that the file still has in another place, other than behind a dot, may be one of them. The text of a component
// has other words, too.
func (u *unsureMentions) removedKeys(f *change.File) []string {
	if f.Before == nil || f.After == nil {
		return nil
	}
	after := string(u.Change.Read(f.Path, false))
	given := keysIn(f.After, after)
	kept := make(map[string]bool)
	last := ""
	eachWord(f.After.Language, after, func(_ int, word string) {
		for _, name := range strings.FieldsFunc(word, func(r rune) bool { return r < 0x80 && !isName(byte(r)) }) {
			kept[name] = kept[name] || last != "."
		}
		last = word
	})
	var keys []string
	for _, name := range keysIn(f.Before, string(u.Change.Read(f.OldPath(), true))) {
		isThere := func(s outline.Symbol) bool { return s.Name == name && s.Depth > 0 }
		isGone := !kept[name] || isComponent(f.OldPath()) && !slices.ContainsFunc(f.After.Symbols, isThere)
		isSymbol := len(change.ByName(f.Before)[name]) > 0 && !isComponent(f.OldPath())
		isNew := len(name) > 1 && !slices.Contains(given, name) && !slices.Contains(keys, name)
		if isGone && isNew && !isSymbol {
			keys = append(keys, name)
		}
	}
	return keys
}

// isComponent reports whether others give a file attributes, and its markup uses the names of its script.
func isComponent(p repo.Path) bool {
	ext := path.Ext(string(p))
	return ext == ".svelte" || ext == ".vue"
}

// codeBlock matches the script and the style of a component.
var codeBlock = lazyPattern(`(?s)<(?:script|style)\b.*?</(?:script|style)>`)

// ownMentions returns the lines of a changed file that still have a removed name: as a member, or in the markup of a
// component, where a function of the script is called or given.
func (u *unsureMentions) ownMentions(f *change.File, name string, isKey bool) usage.Unresolved {
	quoted := regexp.QuoteMeta(name)
	pattern := `\.` + quoted + `\b`
	text := u.Change.Read(f.Path, false)
	if isComponent(f.Path) {
		name := `[^.\w$]` + quoted + `(?:[^\w=]|=[=>]|$)` // neither a member nor an attribute
		pattern = `[{"'=(](?:[^<>]|=>)*?` + name + `|[{"'=(]` + quoted + `(?:[^\w=]|=[=>]|$)|(?:^|[^.\w$])` + quoted + `\(`
		text = codeBlock().ReplaceAllFunc(text, func(block []byte) []byte {
			return bytes.Repeat([]byte("\n"), bytes.Count(block, []byte("\n")))
		})
		text = markupCode().ReplaceAllFunc(text, func(block []byte) []byte {
			return bytes.ReplaceAll(block, []byte("\n"), []byte("\n{")) // a line of it begins as code, too
		})
	} else if !isKey {
		return usage.Unresolved{}
	}
	return mentionsIn(f.Path, text, regexp.MustCompile(pattern))
}

var markupCode = lazyPattern(`\{[^{}<]*\}|="[^"<]*"`)

// mentionsIn returns the lines of a file that match.
func mentionsIn(p repo.Path, text []byte, pattern *regexp.Regexp) (found usage.Unresolved) {
	in := usage.FileLines{PathJSON: p.JSON()}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if pattern.Match(line) {
			in.Lines = append(in.Lines, i+1)
		}
	}
	if len(in.Lines) > 0 {
		found.Files, found.Places = 1, []usage.FileLines{in}
	}
	return found
}

// keysIn returns the keys in the exported constants of a file, the attributes that its code sets, and the variables that
// a component takes from others.
func keysIn(o *outline.Outline, code string) (keys []string) {
	list, offsets := wordsOf(o.Language, code)
	word := list.at
	isExported := func(offset int) bool {
		line := strings.Count(code[:offset], "\n") + 1
		return slices.ContainsFunc(o.Symbols, func(s outline.Symbol) bool {
			isValue := s.Kind == outline.Const || s.Kind == outline.Var
			return isValue && s.Exported && s.Depth == 0 && s.Line <= line && line <= s.EndLine
		})
	}
	var objects []bool // whether each open brace begins the keys that others see
	for i := range list {
		switch list[i] {
		case "{":
			given := (word(i-1) == "let" || word(i-1) == "const") && strings.Contains(code, "$props()")
			isValueOf := func(key string) bool { return word(i-1) == ":" && word(i-2) == key }
			given = given || word(i-2) == "defineProps" || isValueOf("props") || isValueOf("args")
			isParameter := word(i-1) == "(" && (word(i-3) == "function" || word(i-2) == "=")
			component := strings.TrimSpace(word(i-2) + word(i-3))
			given = given || isParameter && strings.IndexFunc(component, unicode.IsUpper) == 0
			module := word(i-1) == "=" && word(i-2) == "exports"
			inCode := len(objects) > 0 && !objects[len(objects)-1] // of a function
			value := !inCode && isExported(offsets[i]) && strings.Contains("=(:,[", word(i-1))
			objects = append(objects, given || module || value)
		case "}":
			objects = objects[:max(0, len(objects)-1)]
		}
		name := strings.Trim(list[i], `"'`)
		option, isOption := strings.CutPrefix(name, "--")
		if isOption && name != list[i] && o.Language == outline.Python {
			keys = append(keys, strings.ReplaceAll(option, "-", "_"))
		}
		isKey := len(objects) > 0 && objects[len(objects)-1] && strings.Contains("{,", word(i-1)) &&
			strings.Contains(":,=(}", word(i+1))
		isSet := word(i+1) == "=" || word(i+1) == ":"
		isAttribute := word(i-1) == "." && (word(i-2) == "self" || word(i-2) == "this") && isSet
		isProperty := word(i-1) == "let" && word(i-2) == "export"
		if name != "" && isName(name[0]) && (isKey || isAttribute || isProperty) {
			keys = append(keys, name)
		}
	}
	return keys
}
