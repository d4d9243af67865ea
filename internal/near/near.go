// Package near knows when a word was probably meant for another: how many slips of
// the finger a difference may be. Which words there are to be meant, and what else counts
// as alike among them, is for those who have them.
package near

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// longest is longer than any name that is worth comparing.
const longest = 255

// Slip counts the letters that make the difference between two words, whatever their
// case, and reports whether that is few enough for a slip: a third of the shorter, one at
// least and three at most. Two letters in the wrong order are one. Words of less than
// three letters are the same or not.
func Slip(a, b string) (letters int, ok bool) {
	short, long := min(len(a), len(b)), max(len(a), len(b))
	most := min(max(short/3, 1), 3)
	if long > longest || long-short > most {
		return 0, false
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
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

// swapped reports whether words differ by two neighbours in the other order.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
