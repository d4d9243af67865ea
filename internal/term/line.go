package term

import (
	"strings"
	"unicode"

	"ken/internal/repo"
)

// A Tone is the colour of the first word of a line. The colour adds no information to the word.
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

// Clean makes a text one harmless line: it replaces every character that would end the
// line, move the cursor or change the direction of text.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if repo.IsMisleading(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// CleanText makes a text of several lines harmless: it keeps line feeds and tabs, and
// replaces other misleading characters and all that change the direction of text.
func CleanText(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' {
			return c
		}
		if repo.IsMisleading(c) || unicode.Is(unicode.Bidi_Control, c) {
			return '\uFFFD'
		}
		return c
	}, text)
}

// Line writes a line with a verdict, its subject and the reason. The column of verdicts is as wide as the longest one.
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
