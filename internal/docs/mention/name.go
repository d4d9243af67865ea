package mention

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A nameInText is a name in a piece of text, with its position.
type nameInText struct {
	kind       Kind
	name       string
	start, end int // of name in the text, as far as the text has it
	tool       string
	in         string
	dir, glob  bool
	casual     bool
	text       Span // the part of the text that is the mention; zero for all of it
}

// maxName limits the length of a name.
const maxName = 300

// spanNames returns the names in a code span.
func spanNames(s string) []nameInText {
	s = strings.TrimRight(s, " \t\n")
	lead := len(s) - len(strings.TrimLeft(s, " \t\n"))
	if len(s)-lead == 0 || len(s)-lead > maxName {
		return nil
	}
	t := s[lead:]
	if strings.ContainsAny(t, " \t\n") {
		if symbol, ok := symbolOf(t); ok && strings.HasSuffix(t, ")") {
			return []nameInText{symbol.shift(lead)}
		}
		found := commandNames(t)
		found = append(found, optionWords(t)...)
		for i := range found {
			found[i] = found[i].shift(lead)
		}
		return found
	}
	if p, ok := pathOf(t); ok {
		return []nameInText{p.shift(lead)}
	}
	if sym, ok := symbolOf(t); ok {
		return []nameInText{sym.shift(lead)}
	}
	if option, ok := optionOf(t); ok {
		return []nameInText{option.shift(lead)}
	}
	if key, ok := keyOf(t, 0); ok && strings.ToLower(t) == t {
		return []nameInText{key.shift(lead)}
	}
	return nil
}

func (n nameInText) shift(by int) nameInText {
	n.start += by
	n.end += by
	if n.text != (Span{}) {
		n.text.Start += by
		n.text.End += by
	}
	return n
}

// pathOf returns the path in a word without spaces. If the word may be something else, it returns false.
func pathOf(s string) (nameInText, bool) {
	n := nameInText{kind: Path, end: len(s)}
	if s == "" || strings.Contains(s, "://") || strings.Contains(s, "…") || !utf8.ValidString(s) {
		return n, false
	}
	n.end = cutPlace(s)
	t := s[:n.end]
	if strings.HasSuffix(t, "/...") { // Go syntax for all packages below
		t = strings.TrimSuffix(t, "/...")
		n.dir = true
	}
	isWindows := !strings.Contains(t, "/") && strings.Contains(t, `\`) && isExtension(path.Ext(t))
	if isWindows {
		t = strings.ReplaceAll(t, `\`, "/")
	}
	if rest := strings.TrimRight(t, "/"); rest != t {
		if len(t)-len(rest) > 1 || rest == "" {
			return n, false
		}
		t = rest
		n.dir = true
	}
	front := 0
	explicit := false
	for strings.HasPrefix(t[front:], "./") {
		front += 2
		explicit = true
	}
	t = t[front:]
	if strings.HasPrefix(t, "../") {
		explicit = true
	}
	if t == "" || t == "." || t == ".." {
		return n, false
	}
	glob, ok := plainOrGlob(t)
	if !ok {
		return n, false
	}
	n.glob = glob
	if !plausible(t, n.dir, explicit, glob) {
		return n, false
	}
	n.name = t
	n.start, n.end = front, front+len(t)
	if isWindows { // the document writes it differently
		n.start, n.end = 0, 0
	}
	return n, true
}

// cutPlace returns the end of the path in s, before a line number, an anchor or the name of a test.
func cutPlace(s string) int {
	if i := strings.IndexByte(s, '#'); i > 0 {
		s = s[:i]
	}
	if i := strings.Index(s, "::"); i > 0 && path.Ext(s[:i]) != "" && isExtension(path.Ext(s[:i])) {
		s = s[:i]
	}
	for range 3 {
		i := strings.LastIndexByte(s, ':')
		if i <= 0 {
			break
		}
		place := s[i+1:]
		if place == "" || strings.Trim(place, "0123456789-,L") == "" || isExtension(path.Ext(s[:i])) && identifier(place) {
			s = s[:i]
			continue
		}
		break
	}
	return len(s)
}

// plainOrGlob reports whether a word can be a path, and whether it is a pattern.
func plainOrGlob(t string) (glob, ok bool) {
	brace := 0
	for i, r := range t {
		switch {
		case r == '*':
			glob = true
		case r == '{':
			if brace > 0 || !strings.Contains(t[i:], ",") {
				return false, false // a placeholder
			}
			brace++
			glob = true
		case r == '}':
			brace--
		case r == ',' && brace > 0:
		case r == '[' || r == ']' || r == '(' || r == ')':
			// Web frameworks name directories of routes like this: app/[id]/(group)/page.tsx.
			if !strings.Contains(t, "/") || !isExtension(path.Ext(t)) || strings.HasPrefix(t, "[") || strings.HasPrefix(t, "(") {
				return false, false
			}
		case r < utf8.RuneSelf:
			if b := byte(r); !isLetter(b) && !isDigit(b) && strings.IndexByte("_-./@+~", b) < 0 {
				return false, false
			}
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			return false, false
		}
	}
	return glob, brace == 0
}

// plausible reports whether a word that can be a path is meant as one.
func plausible(t string, dir, explicit, glob bool) bool {
	if t[0] == '~' || t[0] == '-' || t[0] == '@' || t[0] == '+' || strings.Contains(t, "...") || strings.Contains(t, "//") {
		return false
	}
	rooted := t[0] == '/'
	parts := strings.Split(strings.Trim(t, "/"), "/")
	base := parts[len(parts)-1]
	ext := path.Ext(base)
	known := isExtension(ext) && base != ext || isExtension(ext) && dotfiles.has(base) || files.has(base) || dotfiles.has(base)
	if qualified(ext) && !known && !dir && !explicit {
		return false // net/http.Client
	}
	digits := true
	upper := true
	for i, p := range parts {
		if p == "" {
			return false
		}
		if p == ".." {
			if i > 0 && parts[i-1] != ".." {
				return false
			}
			continue
		}
		if p == "~" || p == "." || placeholder(p) || i == 0 && p == "path" || i > 0 && p == "to" && parts[i-1] == "path" {
			return false
		}
		if i < len(parts)-1 && (isExtension(path.Ext(p)) && !shortExt.has(path.Ext(p)) && path.Ext(p) != p || files.has(p)) {
			return false // CLAUDE.md/AGENTS.md: alternatives
		}
		if i < len(parts)-1 && strings.Contains(p, "_") && strings.ToUpper(p) == p && !strings.Contains(p, "__") {
			return false // an environment variable
		}
		if glob && strings.Trim(p, "*.") == "" {
			continue
		}
		digits = digits && strings.Trim(p, "0123456789.-vxX_") == ""
		upper = upper && strings.ToUpper(p) == p
	}
	if digits {
		return false
	}
	first := parts[0]
	if installed.has(first) || first == "vendor" && len(parts) > 1 && parts[1] == "bin" {
		return false
	}
	if glob {
		// A pattern without a directory could be about anything.
		return len(parts) > 1 && !rooted && strings.Trim(first, "*") != "" && !isDomain(first)
	}
	if len(parts) == 1 {
		switch {
		case rooted:
			return false // a route, or a command of an agent
		case files.has(base) || dotfiles.has(base):
			return true
		case known:
			return fileName(base, ext) || explicit
		}
		// src/ and ./src are directories, "and/" is not.
		return (dir || explicit) && !words.has(strings.ToLower(base)) && len(base) > 1
	}
	if rooted {
		return known && !systemDirs.has(first)
	}
	if isDomain(first) || strings.HasPrefix(first, "www.") || first == "localhost" {
		return false
	}
	if known || explicit {
		return true
	}
	if ext != "" && !dir && strings.Trim(ext, ".0123456789") == "" && len(parts) == 2 {
		return false // a product with its version: Mozilla/5.0
	}
	if media.has(first) && len(parts) == 2 || remotes.has(first) && !dir || strings.Contains(t, "@") {
		return false
	}
	if upper && !dir {
		return false // GET/POST
	}
	if len(parts) == 2 && !dir && (words.has(strings.ToLower(first)) || words.has(strings.ToLower(base)) || len(first) == 1 || len(base) == 1) {
		return false // and/or
	}
	return true
}

// fileName reports whether a name with a known extension and no directory is a file name: main.go, but not
// Node.js, obj.key or foo.bar.
func fileName(base, ext string) bool {
	stem := strings.TrimSuffix(base, ext)
	switch {
	case stem == "" || stem == "d" || stem == "tar" || products.has(strings.ToLower(base)) || shortExt.has(ext) && !letterExt.has(ext):
		return false
	case stem[0] == '.':
		// .eslintrc.json is a file; .test.ts and .d.ts are suffixes.
		return !endings.has(stem[1:]) && !strings.HasPrefix(stem, "..")
	case strings.ContainsAny(stem, "()"):
		return false
	}
	return true
}

// MayBeMember reports whether a name without a directory may be that of a member: net.c is a file, and obj.c may be
// a field.
func MayBeMember(name string) bool {
	return !strings.Contains(name, "/") && letterExt.has(path.Ext(name))
}

// placeholder reports whether an element of a path is a placeholder.
func placeholder(p string) bool {
	if p == "" {
		return false
	}
	stem := strings.TrimSuffix(p, path.Ext(p))
	low := strings.ToLower(stem)
	if placeholders.has(low) || strings.HasPrefix(low, "your") || strings.HasPrefix(low, "my-") || strings.HasPrefix(low, "my_") || strings.HasPrefix(low, "some-") || strings.HasPrefix(low, "example-") {
		return true
	}
	return stem != "" && (strings.Contains(stem, "YYYY") || strings.Contains(stem, "XXX") || strings.Contains(stem, "NNN") || capsPlaceholders.has(stem))
}

// isDomain reports whether the first element of a path is a host name.
func isDomain(first string) bool {
	i := strings.LastIndexByte(first, '.')
	return i > 0 && (domains.has(first[i+1:]) || isDigit(first[0]) && strings.Trim(first, "0123456789.:") == "")
}

func isExtension(ext string) bool { return len(ext) > 1 && extensions.has(strings.ToLower(ext[1:])) }

// qualified reports whether an extension is not that of a file and may be the name of a symbol.
func qualified(ext string) bool {
	return len(ext) > 2 && 'A' <= ext[1] && ext[1] <= 'Z' && identifier(ext[1:]) && strings.ToUpper(ext) != ext
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// symbolOf returns the symbol in a code span: Foo.bar, foo_bar, foo(), (*T).M. A single ordinary word is not a
// symbol.
func symbolOf(s string) (nameInText, bool) {
	n := nameInText{kind: Symbol}
	t := s
	called := false
	start := 0
	if rest, ok := strings.CutPrefix(t, "(*"); ok {
		typ, method, ok := strings.Cut(rest, ").")
		if !ok || !identifier(typ) {
			return n, false
		}
		method, _, _ = strings.Cut(method, "(")
		if !identifier(method) {
			return n, false
		}
		n.name = typ + "." + method
		return n, true
	}
	if i := strings.LastIndexByte(t, '/'); i > 0 {
		// net/http.Client: the last element of the path is the name of the package.
		if !qualified(path.Ext(t)) || foreign.has(t[:i]) {
			return n, false
		}
		if _, ok := plainOrGlob(t); !ok {
			return n, false
		}
		inner, ok := symbolOf(t[i+1:])
		return inner.shift(i + 1), ok
	}
	if i := strings.IndexByte(t, '('); i > 0 {
		if !strings.HasSuffix(t, ")") || strings.Count(t, "(") != strings.Count(t, ")") || strings.Contains(t[i:], ").") {
			return n, false
		}
		t = t[:i]
		called = true
	}
	if strings.HasSuffix(t, "!") && !called { // a macro, or a Ruby method
		t = strings.TrimSuffix(t, "!")
		called = true
	}
	if strings.HasSuffix(t, "?") {
		t = strings.TrimSuffix(t, "?")
		called = true
	}
	sep := "."
	for _, other := range []string{"::", "#", "->", `\`} {
		if strings.Contains(t, other) {
			if sep != "." {
				return n, false
			}
			sep = other
		}
	}
	if sep == `\` && strings.HasPrefix(t, `\`) {
		t = t[1:]
		start = 1
	}
	parts := strings.Split(t, sep)
	if sep != "." && strings.Contains(t, ".") {
		// mod.Type#method, and ken.path:Name.
		parts = strings.FieldsFunc(t, func(r rune) bool { return r == '.' || strings.ContainsRune(sep, r) })
	}
	for _, p := range parts {
		if !identifier(p) {
			return n, false
		}
	}
	if len(parts) == 0 || !symbolic(parts, called, sep) {
		return n, false
	}
	n.name = strings.Join(parts, ".")
	n.casual = len(parts) == 1 && strings.ToUpper(t) == t // an environment variable is as likely as a constant
	if n.name == t {
		n.start, n.end = start, start+len(t)
	}
	return n, true
}

// symbolic reports whether the parts of a name look like a symbol of a program.
func symbolic(parts []string, called bool, sep string) bool {
	first, last := parts[0], parts[len(parts)-1]
	if placeholders.has(strings.ToLower(first)) || placeholders.has(strings.ToLower(last)) {
		return false
	}
	if len(parts) > 1 {
		if foreign.has(first) {
			return false
		}
		if sep == "." && !called {
			lower := strings.ToLower(last) == last
			if lower && (domains.has(last) || extensions.has(last) || last == "g" || last == "e") {
				return false
			}
		}
		return len(first) > 1 && len(last) > 1
	}
	if conventions.has(first) || len(first) < 3 {
		return false
	}
	if strings.HasPrefix(first, "__") {
		return false
	}
	if called {
		return !builtins.has(first)
	}
	core := strings.Trim(first, "_")
	return IsSpelledLikeCode(core) || IsCapitalised(core) && len(core) > 3
}

// IsSpelledLikeCode reports whether a word is spelled as no ordinary word is: fooBar, foo_bar, FOO_BAR.
func IsSpelledLikeCode(word string) bool {
	core := strings.Trim(word, "_")
	return strings.Contains(core, "_") || mixed(core)
}

// mixed reports whether a word has capitals inside: fooBar, FooBar, HTTPServer.
func mixed(s string) bool {
	lower, inner := false, false
	for i, r := range s {
		lower = lower || unicode.IsLower(r)
		inner = inner || i > 0 && unicode.IsUpper(r)
	}
	if !lower || !inner {
		return false
	}
	// Not APIs, IDs or v1Beta: the plural of an abbreviation is a word.
	return !strings.HasSuffix(s, "s") || strings.ToUpper(s[:len(s)-1]) != s[:len(s)-1]
}

// identifier reports whether a word is an identifier in a programming language.
func identifier(s string) bool {
	if s == "" || len(s) > 100 {
		return false
	}
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// SymbolWord returns the word that identifies a symbol in a text: the last part of its name, without marks that only
// some authors write.
func SymbolWord(name string) string {
	if i := strings.LastIndexAny(name, ".:#"); i >= 0 {
		name = name[i+1:]
	}
	return strings.Trim(name, "$@?!&*()")
}

// IsCapitalised reports whether only the first letter of a word is a capital.
func IsCapitalised(word string) bool {
	return word != "" && word[:1] != strings.ToLower(word[:1]) && word[1:] == strings.ToLower(word[1:]) && !strings.Contains(word, "_")
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
