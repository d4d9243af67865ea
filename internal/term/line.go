package term

import (
	"strings"
	"unicode"

	"ken/internal/repo"
)

// A Tone is the colour of a line's first word. It repeats what the word says.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Good
	Warn
	Bad
	Dim
)

var codes = map[Tone]string{Plain: "", Good: "\x1b[32m", Warn: "\x1b[33m", Bad: "\x1b[31m", Dim: "\x1b[2m"}

// Shorten cuts a text to at most so many characters, and ends it with an ellipsis if it did.
func Shorten(text string, most int) string { return repo.Shorten(text, most) }

// Clean makes a text one harmless line: it replaces every character that would end the
// line, move the cursor or change the direction of text.
func Clean(text string) string {
	if isPlain(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if repo.IsMisleading(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// CleanText makes a text of several lines harmless: it keeps line feeds and tabs, and
// replaces other control characters and those that change the direction of text.
func CleanText(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' {
			return c
		}
		if unicode.IsControl(c) || c == '\u2028' || c == '\u2029' || unicode.Is(unicode.Bidi_Control, c) {
			return '\uFFFD'
		}
		return c
	}, text)
}

// isPlain reports whether text is nothing but visible ASCII and blanks, as it is
// nearly always.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// Line writes one line about one thing: the verdict, the subject, and why. The column of
// verdicts is as wide as the longest one.
func (o *IO) Line(tone Tone, verdict, subject, why string) {
	verdict, subject, why = Clean(verdict), Clean(subject), Clean(why)
	pad := max(len("conflicted")-len(verdict), 0)
	word := verdict
	if code := codes[tone]; o.Color && code != "" {
		word = code + verdict + "\x1b[0m"
	}
	if why == "" {
		o.Printf("%s%*s  %s\n", word, pad, "", subject)
		return
	}
	o.Printf("%s%*s  %s  %s\n", word, pad, "", subject, why)
}
