package outline

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Limits of displayed texts. Digests use the full text.
const (
	maxSentence  = 300
	maxSignature = 400
)

// A span is a token of a signature: a byte range of the file, or inserted text.
type span struct {
	start, end int
	text       string // inserted text, instead of the bytes
}

// setSignature sets the signature of a draft: its tokens on one line, with the spacing of the file. The shape
// depends on the tokens only. White space, line breaks and a trailing comma in a list do not change it.
func (f *file) setSignature(s *draft, tokens []span) {
	d := &f.scratch.hash
	d.reset()
	line := f.scratch.words[:0]
	text := func(t span) []byte {
		if t.text != "" {
			return []byte(t.text)
		}
		return f.src[t.start:t.end]
	}
	var prev []byte
	for i, t := range tokens {
		word := text(t)
		if i+1 < len(tokens) && (string(word) == "," || string(word) == ";") {
			if next := text(tokens[i+1]); string(next) == ")" || string(next) == "}" || string(next) == ">" {
				continue
			}
		}
		d.part('t', word)
		if len(line) <= maxSignature {
			if len(prev) > 0 && f.spaced(tokens[i-1], t, prev, word) {
				line = append(line, ' ')
			}
			if bytes.ContainsFunc(word, unicode.IsSpace) {
				word = bytes.Join(bytes.Fields(word), []byte(" "))
			}
			line = append(line, word...)
		}
		prev = text(t)
	}
	f.scratch.words = line[:0]
	s.Signature = clip(string(line), maxSignature)
	s.Shape = d.sum()
}

// spaced reports whether a space separates two tokens of a signature. A line break after or before a
// parenthesis does not count.
func (f *file) spaced(a, b span, left, right []byte) bool {
	if a.text != "" || b.text != "" {
		return string(right) != ";"
	}
	if a.end >= b.start || string(right) == "," || string(right) == ";" {
		return false
	}
	if bytes.IndexByte(f.src[a.end:b.start], '\n') < 0 {
		return true
	}
	return strings.IndexByte("([<", left[len(left)-1]) < 0 && string(right) != "." && strings.IndexByte(")],;>", right[0]) < 0
}

// clip shortens s to at most n bytes plus an ellipsis, between characters. It replaces invalid UTF-8.
func clip(s string, n int) string {
	if isPlain(s) && len(s) <= n {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return ' '
		}
		return r
	}, s)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n]) + "…"
}

// isPlain reports whether s is printable ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// sentence returns the first sentence of a comment on one line, without comment markers.
func sentence(comment string) string {
	var words []string
	title := false
	for line := range strings.Lines(withoutCommentMarks(comment)) {
		line = strings.TrimSpace(withoutMarkup(line))
		if line == "" || isRule(line) {
			if len(words) > 0 {
				break
			}
			continue
		}
		if len(words) == 0 {
			line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "@brief"), `\brief`))
		}
		if line == "" || startsBlock(line) || title && startsUpper(line) {
			break
		}
		// A short line without a full stop is a title, if a sentence follows.
		title = len(words) == 0 && len(line) < 50 && !strings.ContainsAny(line[len(line)-1:], ".,;:!?-(")
		words = append(words, strings.Fields(line)...)
		if len(words) > maxSentence {
			break
		}
	}
	text := withoutMarkup(strings.Join(words, " "))
	for i := 0; i < len(text); i++ {
		if end := sentenceEnd(text, i); end > 0 {
			return clip(text[:end], maxSentence)
		}
	}
	return clip(text, maxSentence)
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// withoutMarkup removes the markup of documentation tools from a line: {@link Name}, and HTML and XML tags.
func withoutMarkup(line string) string {
	for {
		i := strings.Index(line, "{@")
		if i < 0 {
			break
		}
		n := strings.IndexByte(line[i:], '}')
		if n < 0 {
			break
		}
		tag, text, _ := strings.Cut(line[i:i+n], " ")
		if text = strings.TrimPrefix(text, "#"); strings.HasPrefix(tag, "{@link") {
			text = linked(text)
		}
		line = line[:i] + text + line[i+n+1:]
	}
	if !strings.Contains(line, "<") {
		return line
	}
	return tags().ReplaceAllStringFunc(line, func(tag string) string {
		// <see cref="Name"/> is replaced by the name.
		if _, name, ok := strings.Cut(tag, `ref="`); ok && !strings.HasPrefix(tag, "<a ") {
			name, _, _ = strings.Cut(name, `"`)
			return name
		}
		return ""
	})
}

// linked returns the label of a link, or the name if it has no label.
func linked(text string) string {
	text = strings.TrimSpace(text)
	name := 0 // end of the name, including parameters
	if open := strings.IndexAny(text, "( "); open >= 0 && text[open] == '(' {
		name = max(0, strings.IndexByte(text, ')'))
	}
	if _, label, ok := strings.Cut(text[name:], " "); ok && strings.TrimSpace(label) != "" {
		return strings.TrimSpace(label)
	}
	return text
}

var tags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`</?(?:summary|remarks|para|p|code|c|b|i|em|strong|tt|pre|ul|ol|li|br|a|see|seealso|paramref|typeparamref|inheritdoc|example|returns)(?:\s[^<>]*)?/?>`)
})

// sentenceEnd returns the end of the sentence if the character at i ends one, otherwise 0.
func sentenceEnd(text string, i int) int {
	if r, n := utf8.DecodeRuneInString(text[i:]); r == '。' || r == '！' || r == '？' {
		return i + n
	}
	if text[i] != '.' && text[i] != '!' && text[i] != '?' {
		return 0
	}
	rest := text[i+1:]
	if rest == "" {
		return i + 1
	}
	if rest[0] != ' ' {
		return 0
	}
	if next, _ := utf8.DecodeRuneInString(rest[1:]); text[i] == '.' && unicode.IsLower(next) {
		return 0
	}
	if text[i] == '.' {
		word := text[strings.LastIndexByte(text[:i], ' ')+1 : i]
		switch strings.ToLower(strings.TrimLeft(word, "(")) {
		case "e.g", "i.e", "etc", "vs", "cf", "mr", "dr", "st", "resp", "approx", "no":
			return 0
		}
		if utf8.RuneCountInString(word) == 1 && unicode.IsUpper(rune(word[0])) { // an initial
			return 0
		}
	}
	return i + 1
}

// startsBlock reports whether a line ends the prose of a comment: a tag or a list.
func startsBlock(line string) bool {
	for _, p := range [...]string{"@", ":param", ":return", ":raise", ":type", "- ", "* ", "```", ">>> ", "\\param", "\\return", "Args:", "Returns:", "Raises:"} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// isRule reports whether a line consists of punctuation.
func isRule(line string) bool {
	return len(line) > 2 && strings.Trim(line, "-=*#~_+/\\") == ""
}

// withoutCommentMarks removes the comment markers from one or several comments. Line breaks stay.
func withoutCommentMarks(comment string) string {
	if !utf8.ValidString(comment) {
		comment = strings.ToValidUTF8(comment, "\uFFFD")
	}
	var b strings.Builder
	inBlock := false
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(line)
		if !inBlock {
			switch {
			case strings.HasPrefix(line, "/*"):
				line, inBlock = strings.TrimLeft(line[1:], "*!"), true
			case strings.HasPrefix(line, "//"):
				line = strings.TrimLeft(line, "/")
				line = strings.TrimPrefix(line, "!")
				line = strings.TrimPrefix(line, "<")
			case strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "#["):
				line = strings.TrimLeft(line, "#")
				line = strings.TrimPrefix(line, ":")
			}
		} else if line != "*/" && strings.HasPrefix(line, "*") {
			line = line[1:]
		}
		if inBlock {
			if i := strings.Index(line, "*/"); i >= 0 {
				line, inBlock = strings.TrimRight(line[:i], "*"), false
			}
		}
		b.WriteString(strings.TrimSpace(line))
		b.WriteByte('\n')
	}
	return b.String()
}
