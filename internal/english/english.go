// Package english writes numbers with their nouns, lists of words and the beginnings of texts, for sentences that
// people read.
package english

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Count returns a number with its noun: "1 file", "2 files", "3 directories".
func Count(n int, noun string) string { return fmt.Sprintf("%d %s", n, Noun(n, noun)) }

// Noun returns the noun for n things, given the singular. The plural adds an s, or changes a y after a consonant to
// ies.
func Noun(n int, singular string) string {
	if n == 1 {
		return singular
	}
	stem, y := strings.CutSuffix(singular, "y")
	if y && !strings.HasSuffix(stem, "a") && !strings.HasSuffix(stem, "e") && !strings.HasSuffix(stem, "o") {
		return stem + "ies"
	}
	return singular + "s"
}

// And joins words: "a, b and c".
func And(words []string) string { return join(words, " and ") }

// Or joins words: "a, b or c".
func Or(words []string) string { return join(words, " or ") }

func join(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + conjunction + words[last]
}

// First joins the first n words and counts the others: "a, b and 3 more".
func First(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}

// FirstOrAll is like First, but it adds the last word instead of "and 1 more".
func FirstOrAll(words []string, n int) string {
	if len(words) == n+1 {
		n++
	}
	return First(words, n)
}

// Clip cuts a text to at most n bytes, at the end of a character, and adds an ellipsis.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
