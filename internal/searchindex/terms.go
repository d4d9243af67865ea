package searchindex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Terms splits text into search terms. An identifier gives its parts and, if it has several, the whole
// identifier: HTTPServer gives http, server and httpserver. All terms are in lower case. Single characters
// are not terms.
func Terms(text string) []string {
	var terms []string
	eachTerm(text, func(term string) { terms = append(terms, term) })
	return terms
}

// eachTerm calls f with every term of a text, in order.
func eachTerm(text string, f func(term string)) {
	EachWord(text, func(word string) { splitWord(word, f) })
}

// EachWord calls f with every word of a text, in order.
func EachWord(text string, f func(word string)) {
	for i := 0; i < len(text); {
		start := i
		for i < len(text) {
			r, size := rune(text[i]), 1
			if r >= utf8.RuneSelf {
				r, size = utf8.DecodeRuneInString(text[i:])
			}
			if !isWordRune(r) {
				if i == start {
					start = i + size
				} else {
					break
				}
			}
			i += size
		}
		if start < i {
			f(text[start:i])
		}
	}
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// maxTerm is the longest word that is split. A longer one is data, such as a key in base64.
const maxTerm = 80

// splitWord calls f with the parts of a word, and with the word as a whole.
func splitWord(word string, f func(term string)) {
	if len(word) > maxTerm {
		return
	}
	parts := 0
	eachPart(word, func(part string) {
		parts++
		if len(part) > 1 {
			f(strings.ToLower(part))
		}
	})
	if parts > 1 {
		f(strings.ToLower(strings.ReplaceAll(word, "_", "")))
	}
}

// eachPart splits a word where a new part begins: at an underscore, where lower case turns
// into upper case, before the last letter of a row of capitals, and between letters and digits.
func eachPart(word string, f func(part string)) {
	start := 0
	flush := func(end int) {
		if end > start {
			f(word[start:end])
		}
		start = end
	}
	previous := rune(0)
	for i, r := range word {
		switch {
		case r == '_':
			flush(i)
			start = i + 1
		case i == start:
		case unicode.IsDigit(r) != unicode.IsDigit(previous):
			flush(i)
		case unicode.IsUpper(r) && !unicode.IsUpper(previous):
			flush(i)
		case unicode.IsUpper(r) && unicode.IsUpper(previous):
			next, _ := utf8.DecodeRuneInString(word[i+utf8.RuneLen(r):])
			if unicode.IsLower(next) {
				flush(i)
			}
		}
		previous = r
	}
	flush(len(word))
}

// NameWords splits a name into its words, in lower case.
func NameWords(name string) []string {
	var words []string
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '-' || r == '.' || r == ':' }) {
		terms := Terms(part)
		if len(terms) > 1 { // the last one is the whole name
			terms = terms[:len(terms)-1]
		}
		words = append(words, terms...)
	}
	return words
}

// JoinedName returns the words of a name without separators.
func JoinedName(name string) string { return strings.Join(NameWords(name), "") }
