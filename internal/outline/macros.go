package outline

import (
	"bytes"
	"slices"
	"strings"
)

// A word is a token of C in the detail that withoutMacros needs.
type word struct {
	start, end int
	text       string // "" for a literal
	first      bool   // first on its line
}

// withoutMacros replaces macros that do not parse without a preprocessor with spaces. It returns the blanked
// ranges. Such macros export a class, annotate a function, mark a parameter as unused, or are alone on a
// line. They are found by their upper-case names and their position. The function is used only for text that
// does not parse otherwise.
func withoutMacros(src []byte) (out []byte, blanked []span) {
	words := wordsOf(src)
	for i := 0; i < len(words); i++ {
		if !isMacroName(words[i].text) {
			continue
		}
		last := i
		if i+1 < len(words) && words[i+1].text == "(" {
			if last = closing(words, i+1); last < 0 {
				continue
			}
		}
		before, after := at(words, i-1), at(words, last+1)
		if isDecoration(words[i], before, after, at(words, last+2), last > i) {
			blanked = append(blanked, span{start: words[i].start, end: words[last].end})
			i = last
		}
	}
	return blankSpans(src, blanked), blanked
}

// isDecoration reports whether a macro is not a declaration itself. It looks at the word before the macro,
// and at the two words after its arguments.
func isDecoration(m, before, after, second word, called bool) bool {
	switch before.text {
	case "class", "struct", "union", "enum", "namespace":
		return isName(after.text)
	case "return", "case", "goto", "else", "do", "new", "delete", "throw", "sizeof", "typedef", "define", "#":
		return false
	}
	ends := after.text == ";" || after.text == "{" || after.text == "," || after.text == ")" || after.text == "="
	switch {
	case m.first && (after.first || after.text == ""): // alone on its line
		return after.text != "{" && !strings.ContainsAny(before.text, ",(=+-*/|&?<")
	case before.text == ")":
		switch after.text {
		case ":", "override", "const", "noexcept":
			return true
		}
		return ends || isMacroName(after.text)
	case isName(before.text) && called:
		return ends
	case isName(before.text):
		return after.text == "," || after.text == ")"
	case m.first || before.text == ">":
		// MACRO Type name: an upper-case type would be followed by one name only.
		switch second.text {
		case "*", "&", ":", "<":
			return isName(after.text)
		}
		return isName(after.text) && isName(second.text)
	}
	return false
}

func at(words []word, i int) word {
	if i < 0 || i >= len(words) {
		return word{first: true}
	}
	return words[i]
}

// closing returns the index of the parenthesis that closes the one at i, or -1 if it is not nearby.
func closing(words []word, i int) int {
	depth := 0
	for end := min(len(words), i+200); i < end; i++ {
		switch words[i].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		case "{", "}", ";":
			return -1
		}
	}
	return -1
}

// isMacroName reports whether s is in upper case and has at least four characters.
func isMacroName(s string) bool {
	return len(s) > 3 && strings.ToUpper(s) == s && strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' })
}

func isName(s string) bool {
	return s != "" && (s[0] == '_' || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z' || s[0] >= 0x80)
}

// wordsOf splits C code into words, without comments and directives.
func wordsOf(src []byte) []word {
	var out []word
	first := true
	for i := 0; i < len(src); {
		c := src[i]
		start := i
		switch {
		case c == '\n':
			first = true
			i++
			continue
		case isBlank(c):
			i++
			continue
		case c == '/' && i+1 < len(src) && src[i+1] == '/':
			i = lineEnd(src, i)
			continue
		case c == '/' && i+1 < len(src) && src[i+1] == '*':
			if n := bytes.Index(src[i+2:], []byte("*/")); n >= 0 {
				i += n + 4
			} else {
				i = len(src)
			}
			continue
		case c == '#' && first:
			i = lineEnd(src, i)
			continue
		case c == '"' || c == '\'':
			for i++; i < len(src) && src[i] != c && src[i] != '\n'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(src))
			out = append(out, word{start: start, end: i, first: first})
			first = false
			continue
		case isName(string(c)) || c >= '0' && c <= '9':
			for i < len(src) && (isName(string(src[i])) || src[i] >= '0' && src[i] <= '9') {
				i++
			}
		default:
			i++
		}
		out = append(out, word{start: start, end: i, text: string(src[start:i]), first: first})
		first = false
	}
	return out
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\\'
}

// lineEnd returns the end of the line at i. A backslash continues a line.
func lineEnd(src []byte, i int) int {
	for i < len(src) && (src[i] != '\n' || i > 0 && src[i-1] == '\\') {
		i++
	}
	return i
}

// blankSpans returns src with the bytes in spans replaced by spaces. Line breaks stay.
func blankSpans(src []byte, spans []span) []byte {
	out := bytes.Clone(src)
	for _, s := range spans {
		for i := s.start; i < s.end; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	return out
}

// mergeSpans merges lists of spans in order.
func mergeSpans(lists ...[]span) []span {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b span) int { return a.start - b.start })
	return all
}
