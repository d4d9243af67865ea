package outline

import (
	"bytes"
	"slices"
	"strings"
)

// A word is a token of C, as far as macros have to be told from the rest.
type word struct {
	start, end int
	text       string // "" for a literal
	first      bool   // on its line
}

// withoutMacros returns src with the macros made white that a grammar without a
// preprocessor stumbles over, and what was made so: what marks a class for export, a
// function for a checker, a parameter as unused, or stands alone on its line. It
// goes by names in capitals and by where they stand; it is tried only on text
// that does not parse otherwise.
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
	return blank(src, blanked), blanked
}

// isDecoration reports a macro that declares nothing itself, by its neighbours:
// the word before it, and the two behind it and its arguments.
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
		return ends || after.text == ":" || isMacroName(after.text) || after.text == "override" || after.text == "const" || after.text == "noexcept"
	case isName(before.text) && called:
		return ends
	case isName(before.text):
		return after.text == "," || after.text == ")"
	case m.first || before.text == ">":
		// MACRO Type name: a type in capitals would have its name behind it.
		return isName(after.text) && (isName(second.text) || second.text == "*" || second.text == "&" || second.text == ":" || second.text == "<")
	}
	return false
}

func at(words []word, i int) word {
	if i < 0 || i >= len(words) {
		return word{first: true}
	}
	return words[i]
}

// closing returns the word that closes the parenthesis at i, -1 if none does
// nearby.
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

// isMacroName reports a name in capitals, of at least four letters.
func isMacroName(s string) bool {
	return len(s) > 3 && strings.ToUpper(s) == s && strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' })
}

func isName(s string) bool {
	return s != "" && (s[0] == '_' || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z' || s[0] >= 0x80)
}

// wordsOf takes C apart, leaving out comments and the lines of directives.
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

// lineEnd is where a line ends that may be continued by a backslash.
func lineEnd(src []byte, i int) int {
	for i < len(src) && (src[i] != '\n' || i > 0 && src[i-1] == '\\') {
		i++
	}
	return i
}

// blank returns src with some bytes made white. Lines stay what they are.
func blank(src []byte, spans []span) []byte {
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

// sorted puts what was made white in several passes in order.
func sorted(lists ...[]span) []span {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b span) int { return a.start - b.start })
	return all
}
