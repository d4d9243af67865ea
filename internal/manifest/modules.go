package manifest

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// ModuleRules are the literal parts of a configuration in JavaScript that say where modules are: of SvelteKit, Vite or
// Nuxt. Paths are relative to the directory of the configuration.
type ModuleRules struct {
	// Aliases has the directory or file behind each name. An entry that is no literal path is left out.
	Aliases map[string]string
	// Library is the directory that $lib stands for, "" if the configuration is not SvelteKit's or computes it.
	Library string
	// Sources are the directories that ~ and @ may stand for in Nuxt.
	Sources []string
}

// IsModuleConfig reports whether a file may have module rules, by its base name.
func IsModuleConfig(base string) bool { return patterns().moduleConfig.MatchString(base) }

// ParseModuleRules reads a configuration. It does not run it: what is computed is left out.
func ParseModuleRules(base string, content []byte) ModuleRules {
	text := withoutComments(string(content))
	rules := ModuleRules{Aliases: make(map[string]string)}
	tool, _, _ := strings.Cut(base, ".")
	computed := make(map[string]bool) // names with several meanings
	for _, body := range objectsAt(text, "alias") {
		for name, value := range literalEntries(body) {
			target, ok := literalPath(tool, value)
			if old, other := rules.Aliases[name]; !ok || other && old != target {
				computed[name] = true
			}
			rules.Aliases[name] = target
		}
	}
	for name := range computed {
		delete(rules.Aliases, name)
	}
	switch tool {
	case "svelte":
		rules.Library = "src/lib"
		for _, body := range objectsAt(text, "files") {
			if value, ok := literalEntries(body)["lib"]; ok {
				rules.Library, _ = literalPath(tool, value)
			}
		}
	case "nuxt":
		rules.Sources = []string{".", "app"}
		if m := patterns().sourceDir.FindStringSubmatch(text); m != nil {
			rules.Sources = nil
			if dir, ok := literalPath("svelte", m[1]); ok {
				rules.Sources = []string{dir}
			}
		}
	}
	return rules
}

// modulePatterns match the parts of a configuration.
type modulePatterns struct {
	moduleConfig  *regexp.Regexp // the name of its file
	sourceDir     *regexp.Regexp
	stringLiteral *regexp.Regexp
	resolveCall   *regexp.Regexp
	relativeURL   *regexp.Regexp
	entryKey      *regexp.Regexp
}

// patterns are compiled when they are first needed, since most commands need none.
var patterns = sync.OnceValue(func() modulePatterns {
	const quoted = `['"]([^'"\\]+)['"]`
	const here = `(?:__dirname|import\.meta\.dirname|process\.cwd\(\))`
	const isPath = `(?:\s*,?\s*\)|\.pathname)`
	return modulePatterns{
		moduleConfig:  regexp.MustCompile(`^(?:svelte|vite|vitest|nuxt)\.config\.[cm]?[jt]s$`),
		sourceDir:     regexp.MustCompile(`\bsrcDir\s*:\s*([^,}\n]+)`),
		stringLiteral: regexp.MustCompile(`^` + quoted + `$`),
		resolveCall:   regexp.MustCompile(`^(?:path\.)?(?:resolve|join)\(\s*` + here + `\s*,\s*` + quoted + `\s*,?\s*\)$`),
		relativeURL:   regexp.MustCompile(`^(?:fileURLToPath\(\s*)?new URL\(\s*` + quoted + `\s*,\s*import\.meta\.url\s*\)` + isPath + `$`),
		entryKey:      regexp.MustCompile(`^\s*(?:` + quoted + `|([\w$]+))\s*:\s*(?s:(.*?))\s*$`),
	}
})

// literalPath returns the path that a value names. A plain text of Vite is one only if it begins with the root.
func literalPath(tool, value string) (string, bool) {
	for _, form := range []*regexp.Regexp{patterns().resolveCall, patterns().relativeURL} {
		if m := form.FindStringSubmatch(value); m != nil {
			return cleaned(m[1])
		}
	}
	m := patterns().stringLiteral.FindStringSubmatch(value)
	switch {
	case m == nil:
		return "", false
	case tool == "svelte":
		return cleaned(m[1])
	case strings.HasPrefix(m[1], "/") && (tool == "vite" || tool == "vitest"):
		return cleaned(m[1][1:])
	}
	return "", false
}

func cleaned(p string) (string, bool) {
	if path.IsAbs(p) {
		return "", false
	}
	return path.Clean(p), true
}

// objectsAt returns the texts between the braces of the objects that a key has as value.
func objectsAt(text, key string) (list []string) {
	for _, at := range regexp.MustCompile(`\b`+key+`["']?\s*:\s*\{`).FindAllStringIndex(text, -1) {
		if end := closing(text, at[1]); end >= 0 {
			list = append(list, text[at[1]:end])
		}
	}
	return list
}

// closing returns the offset of the bracket that closes the one before an offset, -1 if there is none.
func closing(text string, at int) int {
	depth := 1
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '"', '\'', '`':
			i = endOfString(text, i)
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// endOfString returns the offset of the quote that closes the one at an offset.
func endOfString(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[at]:
			return i
		}
	}
	return len(text)
}

// literalEntries returns the texts of the values of an object by their keys. A key that is computed is left out.
func literalEntries(body string) map[string]string {
	entries := make(map[string]string)
	start := 0
	add := func(end int) {
		if m := patterns().entryKey.FindStringSubmatch(body[start:min(end, len(body))]); m != nil {
			entries[m[1]+m[2]] = m[3]
		}
		start = end + 1
	}
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"', '\'', '`':
			i = endOfString(body, i)
		case '{', '[', '(':
			end := closing(body, i+1)
			if end < 0 {
				return entries
			}
			i = end
		case ',':
			add(i)
		}
	}
	if start <= len(body) {
		add(len(body))
	}
	return entries
}

// withoutComments replaces the comments of JavaScript by spaces.
func withoutComments(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case text[i] == '"' || text[i] == '\'' || text[i] == '`':
			end := min(endOfString(text, i), len(text)-1)
			out.WriteString(text[i : end+1])
			i = end
			continue
		case strings.HasPrefix(rest, "//"):
			i = lengthUntil(text, i, "\n") - 1
			continue
		case strings.HasPrefix(rest, "/*"):
			i = lengthUntil(text, i+2, "*/") + 1
			out.WriteByte(' ')
			continue
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// lengthUntil returns the offset of the next occurrence of a text, or the end.
func lengthUntil(text string, at int, next string) int {
	if i := strings.Index(text[min(at, len(text)):], next); i >= 0 {
		return at + i
	}
	return len(text)
}
