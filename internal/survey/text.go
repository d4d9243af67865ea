package survey

import (
	"strings"

	"ken/internal/repo"
)

// cut shortens a text to so many bytes, between words where it can, and puts it on
// one line.
func cut(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= limit {
		return text
	}
	end := limit - len("…")
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	if space := strings.LastIndexByte(text[:end], ' '); space > end/2 {
		end = space
	}
	return strings.TrimRight(text[:end], " ,;:") + "…"
}

// clean takes out what a text may not hold: what a file says of itself may be
// anything.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if repo.Misleads(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD")))
}
