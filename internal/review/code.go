package review

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ken/internal/outline"
)

// A version is one version of a changed file.
type version struct {
	outline *outline.Outline
	lines   []string // nil if ken does not have the content
	codes   map[*outline.Symbol][]string
}

func (v *version) setContent(content []byte) {
	if content != nil {
		v.codes = make(map[*outline.Symbol][]string)
		v.lines = strings.Split(string(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))), "\n")
	}
}

// code returns the words of a symbol without its comments; nil if ken does not have the content.
func (v *version) code(s *outline.Symbol) []string {
	if v.lines == nil || s.Line < 1 || s.EndLine < s.Line || s.EndLine > len(v.lines) {
		return nil
	}
	code, known := v.codes[s]
	if !known {
		code = words(v.outline.Language, strings.Join(v.lines[s.Line-1:s.EndLine], "\n"))
		v.codes[s] = code
	}
	return code
}

// all returns the words of the whole file without comments.
func (v *version) all() []string { return words(v.outline.Language, strings.Join(v.lines, "\n")) }

// sameCode reports whether two versions of a symbol differ only in comments and white space. It
// reports false if that is unknown.
func sameCode(before *version, old *outline.Symbol, after *version, now *outline.Symbol) bool {
	a, b := before.code(old), after.code(now)
	return a != nil && b != nil && slices.Equal(a, b)
}

// sameWords reports whether two texts have the same words in any order, as after imports were sorted.
func sameWords(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// reach returns some symbols of a file and all that mention one of them in their code, transitively. If private is
// true, it follows only functions and values that other files cannot use, and adds no types: a test of a type may
// test another part of it.
func (v *version) reach(symbols map[string]bool, private bool) map[string]bool {
	reached := make(map[string]bool)
	follow := make(map[string]bool) // last parts of names
	add := func(name string, exported bool) {
		reached[name] = true
		last := name[strings.LastIndexAny(name, ".:#")+1:]
		isMember := last != name
		if len(last) > 2 && (!private || !exported && (!isMember || isPrivate(last))) {
			follow[last] = true
		}
	}
	exported := make(map[string]bool)
	for i := range v.outline.Symbols {
		exported[v.outline.Symbols[i].FullName()] = v.outline.Symbols[i].Exported
	}
	for name := range symbols {
		add(name, exported[name])
	}
	for more := true; more; {
		more = false
		for i := range v.outline.Symbols {
			s := &v.outline.Symbols[i]
			isLeaf := s.Kind == outline.Func || s.Kind == outline.Method || s.Kind == outline.Const || s.Kind == outline.Var
			if reached[s.FullName()] || private && !isLeaf {
				continue
			}
			if slices.ContainsFunc(v.code(s), func(w string) bool { return hasName(w, follow) }) {
				add(s.FullName(), s.Exported)
				more = true
			}
		}
	}
	return reached
}

// isPrivate reports whether the name of a member marks it as private to its type.
func isPrivate(name string) bool {
	return strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "__")
}

// hasName reports whether a word is one of some names. A literal may contain code.
func hasName(word string, names map[string]bool) bool {
	if !isQuote(word[0]) {
		return names[word]
	}
	inside := strings.FieldsFunc(word, func(r rune) bool { return r < 0x80 && !isName(byte(r)) })
	return slices.ContainsFunc(inside, func(name string) bool { return names[name] })
}

// words splits code into names, literals and single other characters. It omits comments and white space, and in
// Python docstrings. It keeps comments that the Go compiler reads, and line breaks and indents in languages in
// which they have a meaning. It drops what a formatter adds or removes: commas after the last element, semicolons in
// scripts, line breaks in the brackets of Python, and the kind of quotes.
func words(lang outline.Language, code string) []string {
	list := []string{}
	var commas []int // in each open bracket
	isScript := lang == outline.TypeScript || lang == outline.TSX || lang == outline.JavaScript
	eachWord(lang, code, func(_ int, word string) {
		inside := len(commas) - 1
		switch word {
		case "(", "[", "{":
			commas = append(commas, 0)
		case ",":
			if inside >= 0 {
				commas[inside]++
			}
		case ")", "]", "}":
			isTuple := word == ")" && !isScript && inside >= 0 && commas[inside] == 1
			if n := len(list); n > 0 && list[n-1] == "," && !isTuple {
				list = list[:n-1]
			}
			commas = commas[:max(0, inside)]
		case ";":
			if isScript {
				return
			}
		}
		isLayout := lang == outline.Python && word[0] == '\n' && inside >= 0
		if !isLayout {
			list = append(list, withOneQuote(lang, word))
		}
	})
	return list
}

// withOneQuote returns a literal with double quotes, in languages in which both kinds mean the same.
func withOneQuote(lang outline.Language, word string) string {
	switch lang {
	case outline.Python, outline.TypeScript, outline.TSX, outline.JavaScript:
		inside, opens := strings.CutPrefix(word, "'")
		inside, closes := strings.CutSuffix(inside, "'")
		if opens && closes && !strings.ContainsAny(inside, "'\"\\\n") {
			return `"` + inside + `"`
		}
	default:
	}
	return word
}

// eachWord calls see with each of the words of code, and its offset.
func eachWord(lang outline.Language, code string, see func(at int, word string)) {
	byLine := lang == outline.Python || lang == outline.Ruby || lang == outline.Bash
	begin := 0 // of the line
	isFirst := true
	add := func(at int, word string) {
		if isFirst && byLine {
			see(begin, "\n"+code[begin:at])
		}
		isFirst = false
		see(at, word)
	}
	for i := 0; i < len(code); {
		rest := code[i:]
		n := 1
		switch {
		case rest[0] == '\n':
			begin, isFirst = i+1, true
		case unicode.IsSpace(rune(rest[0])):
		case isQuote(rest[0]):
			n = literalEnd(lang, rest)
			isDocstring := lang == outline.Python && isFirst && n >= 6 && rest[:3] == strings.Repeat(rest[:1], 3) && isBlank(rest[n:])
			if !isDocstring {
				add(i, rest[:n])
			}
		case byLine && rest[0] == '#' && (lang == outline.Python || i == 0 || unicode.IsSpace(rune(code[i-1]))):
			n = lineEnd(rest)
		case !byLine && strings.HasPrefix(rest, "//"):
			n = lineEnd(rest)
			if lang == outline.Go && (strings.HasPrefix(rest, "//go:") || strings.HasPrefix(rest, "// +build")) {
				add(i, rest[:n])
			}
		case !byLine && strings.HasPrefix(rest, "/*"):
			n = len(rest)
			if end := strings.Index(rest[2:], "*/"); end >= 0 {
				n = end + 4
			}
		default:
			for isName(rest[0]) && n < len(rest) && isName(rest[n]) {
				n++
			}
			if rest[0] == '\\' && len(rest) > 1 {
				n = 2
			}
			add(i, rest[:n])
		}
		i += n
	}
}

// A wordList has the words of code without line breaks.
type wordList []string

// at returns a word, or a space if there is none.
func (list wordList) at(i int) string {
	if i < 0 || i >= len(list) {
		return " "
	}
	return list[i]
}

// wordsOf returns the words of code without line breaks, and their offsets.
func wordsOf(lang outline.Language, code string) (list wordList, offsets []int) {
	eachWord(lang, code, func(at int, word string) {
		if word[0] != '\n' {
			list = append(list, word)
			offsets = append(offsets, at)
		}
	})
	return list, offsets
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// lineEnd returns the length of the first line.
func lineEnd(code string) int {
	if n := strings.IndexByte(code, '\n'); n >= 0 {
		return n
	}
	return len(code)
}

// isBlank reports whether the rest of the first line has no code.
func isBlank(code string) bool { return strings.TrimSpace(code[:lineEnd(code)]) == "" }

// literalEnd returns the length of the literal at the start of code. A quote that is not closed on its line is a
// literal up to the end of the line.
func literalEnd(lang outline.Language, code string) int {
	quote := code[:1]
	if lang == outline.Python && strings.HasPrefix(code, strings.Repeat(quote, 3)) {
		if n := strings.Index(code[3:], strings.Repeat(quote, 3)); n >= 0 {
			return n + 6
		}
		return len(code)
	}
	if lang == outline.Rust && quote == "'" && !strings.HasPrefix(code[1:], "\\") {
		_, size := utf8.DecodeRuneInString(code[1:])
		if !strings.HasPrefix(code[1+size:], quote) {
			return 1 // of a lifetime
		}
		return size + 2
	}
	for i := 1; i < len(code); i++ {
		switch {
		case code[i] == '\\' && (lang != outline.Go || quote != "`"):
			i++
		case code[i] == quote[0]:
			return i + 1
		case code[i] == '\n' && quote != "`":
			return i
		}
	}
	return len(code)
}
