package term

import (
	"strings"

	"ken/internal/repo"
)

// A Tone is how a line's first word is meant. It only ever repeats what the
// word says already.
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

// Shorten cuts a text to so many characters, and shows that it did.
func Shorten(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return strings.TrimRight(string(r[:most-1]), " ") + "…"
	}
	return text
}

// Clean makes a text one line that shows what it holds: whatever would end a line,
// move the cursor or turn the text around stands as a replacement character.
func Clean(text string) string {
	if isPlain(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if repo.Misleads(r) {
			return '\uFFFD'
		}
		return r
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

// Line writes one line about one thing: the verdict first, then its subject,
// then why, in columns as wide as the longest verdict needs.
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
