// Package suggest finds the word that a user probably meant to type. The caller has the list
// of legal words.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// longest is longer than any name that is worth comparing.
const longest = 255

// TypoDistance counts the letters in which two words differ, ignoring case. It reports whether
// the difference is small enough for a typing mistake: a third of the shorter word, at
// least one and at most three letters. Two swapped letters count as one. Words of fewer
// than three letters must be equal.
func TypoDistance(a, b string) (letters int, ok bool) {
	short := min(len(a), len(b))
	long := max(len(a), len(b))
	most := min(max(short/3, 1), 3)
	if long > longest || long-short > most {
		return 0, false
	}
	a = strings.ToLower(a)
	b = strings.ToLower(b)
	switch {
	case a == b:
		return 0, true
	case short < 3:
		return 0, false
	case swapped(a, b):
		return 1, true
	}
	letters = levenshtein.ComputeDistance(a, b)
	return letters, letters <= most
}

// swapped reports whether words differ only by two letters next to each other in the other order.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if i+1 >= len(a) {
		return false
	}
	crossed := a[i] == b[i+1] && a[i+1] == b[i]
	return crossed && a[i+2:] == b[i+2:]
}
