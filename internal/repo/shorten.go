package repo

import "strings"

// Shorten cuts a text to at most so many characters, and ends it with an ellipsis if it did.
func Shorten(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return strings.TrimRight(string(r[:most-1]), " ") + "…"
}
