// Package excerpt finds the sentences of READMEs and doc comments that say what a directory is for, and leaves out
// markup, badges, licences and templates. It also shortens texts and removes misleading characters. It reads texts that
// its caller passes.
package excerpt

import (
	"strings"

	"ken/internal/repo"
)

// Cut shortens a text to so many bytes, between words if it can, and puts it on one line.
func Cut(text string, limit int) string {
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

// Clean removes characters from the text of a file that could mislead a reader.
func Clean(text string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if repo.IsMisleading(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD")))
}

// OneLine replaces line breaks and other misleading characters by spaces.
func OneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		if repo.IsMisleading(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
	return strings.TrimSpace(s)
}
