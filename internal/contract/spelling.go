package contract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A spelling is a file name in a document: pieces of plain text, placeholders and
// alternatives in braces.
type spelling []piece

// A piece is one part of a spelling.
type piece struct {
	text string // as in the document
	kind pieceKind
	// alternatives are the texts between the commas of a pair of braces.
	alternatives []string
}

type pieceKind int

const (
	plainText pieceKind = iota
	placeholder
	braces
)

// String returns the name as in the document.
func (s spelling) String() string {
	var b strings.Builder
	for _, p := range s {
		b.WriteString(p.text)
	}
	return b.String()
}

// plain reports whether the name has no placeholder and no braces.
func (s spelling) plain() bool {
	return !slices.ContainsFunc(s, func(p piece) bool { return p.kind != plainText })
}

// hasText reports whether the name has letters or digits outside placeholders.
func (s spelling) hasText() bool {
	for _, p := range s {
		if p.kind == plainText && strings.Trim(p.text, ".-_") != "" {
			return true
		}
	}
	return false
}

// with returns the name with every placeholder replaced.
func (s spelling) with(sample string) string {
	var b strings.Builder
	for _, p := range s {
		if p.kind == placeholder {
			b.WriteString(sample)
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// matches reports whether the spelling matches name.
func (s spelling) matches(name string) bool {
	texts := []string{""} // between the placeholders
	for _, p := range s {
		if p.kind == placeholder {
			texts = append(texts, "")
		} else {
			texts[len(texts)-1] += p.text
		}
	}
	rest, ok := strings.CutPrefix(name, texts[0])
	if !ok || len(texts) == 1 {
		return ok && rest == ""
	}
	last := len(texts) - 1
	for _, t := range texts[1:last] {
		if _, rest, ok = strings.Cut(rest, t); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, texts[last])
}

// trimmed removes the punctuation of the sentence around the name, and the stars that
// make it bold.
func (s spelling) trimmed() spelling {
	for len(s) > 0 {
		last := &s[len(s)-1]
		switch {
		case last.kind == plainText:
			last.text = strings.TrimRight(last.text, ".+@-_")
			if last.text != "" {
				return s
			}
		case !s.emphasis():
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

// emphasis reports whether the last piece is stars that are not a glob: two, or one
// after an extension.
func (s spelling) emphasis() bool {
	stars := s[len(s)-1].text
	if strings.Trim(stars, "*") != "" {
		return false
	}
	_, ext := split(s[:len(s)-1].String())
	return len(stars) > 1 || ext != ""
}

// maxExpanded is the largest number of names that braces expand to; further ones are
// ignored.
const maxExpanded = 64

// expand returns a spelling for every combination of the braces.
func expand(s spelling) []spelling {
	out := []spelling{nil}
	for _, p := range s {
		if p.kind != braces {
			for i := range out {
				out[i] = append(out[i], p)
			}
			continue
		}
		var next []spelling
		for _, head := range out {
			for _, a := range p.alternatives {
				inner, _ := parseSpelling(a, false)
				next = append(next, append(slices.Clone(head), inner...))
			}
		}
		out = next[:min(len(next), maxExpanded)]
	}
	return out
}

// parseSpelling reads the name at the beginning of s and returns its length. In a path with
// backslashes a backslash ends the name; otherwise it may escape a dot.
func parseSpelling(s string, windows bool) (spelling, int) {
	var name spelling
	add := func(p piece) {
		if n := len(name); n > 0 && p.kind == plainText && name[n-1].kind == plainText {
			name[n-1].text += p.text
			return
		}
		name = append(name, p)
	}
	at := 0
	for at < len(s) {
		rest := s[at:]
		if p, n := special(rest); n > 0 {
			add(p)
			at += n
			continue
		}
		if rest[0] == '\\' && !windows && len(rest) > 1 && strings.IndexByte("._-*", rest[1]) >= 0 {
			if rest[1] == '*' {
				add(piece{text: "*", kind: placeholder})
			} else {
				add(piece{text: rest[1:2]})
			}
			at += 2
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		if !inName(r) {
			break
		}
		add(piece{text: rest[:n]})
		at += n
	}
	return name, at
}

// inName reports whether a character belongs to a name.
func inName(r rune) bool {
	return strings.ContainsRune("._-+@~", r) || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// maxPlaceholder is the length of the longest placeholder.
const maxPlaceholder = 60

// special reads the placeholder or the braces at the beginning of s and returns their
// length; 0 if there are none.
func special(s string) (piece, int) {
	n := 0
	switch s[0] {
	case '*', '?':
		// A question mark is a glob only if the name continues.
		n = len(s) - len(strings.TrimLeft(s, "*?"))
		if s[0] == '?' && (n == len(s) || !wordByte(s[n]) && s[n] != '.') {
			return piece{}, 0
		}
	case '<':
		n = between(s, 1, '>')
		if n > 0 && (s[1] == '/' || strings.HasPrefix(strings.ToLower(s[1:]), "br") && strings.Trim(s[3:n], " /") == ">") {
			return piece{}, 0
		}
	case '[':
		n = between(s, 1, ']')
		for n > 0 && n < len(s) && strings.IndexByte("+*?", s[n]) >= 0 {
			n++
		}
	case '%':
		if len(s) > 1 && strings.IndexByte("sdvq", s[1]) >= 0 && (len(s) == 2 || !wordByte(s[2])) {
			n = 2
		}
	case '$':
		n = variable(s)
	case '{':
		return braced(s)
	}
	if n == 0 {
		return piece{}, 0
	}
	return piece{text: s[:n], kind: placeholder}, n
}

// between returns the length of s up to and including the first end, if the text from
// from to it can be a placeholder; otherwise 0.
func between(s string, from int, end byte) int {
	i := strings.IndexByte(s[:min(len(s), maxPlaceholder)], end)
	if i <= from || strings.ContainsAny(s[from:i], "<`\"") {
		return 0
	}
	return i + 1
}

// variable returns the length of the shell variable at the beginning of s: $X, ${X},
// ${X:-y} or $(command).
func variable(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '{':
		return closing(s[1:], '{', '}') + 1
	case '(':
		return closing(s[1:], '(', ')') + 1
	}
	n := 1
	for n < len(s) && wordByte(s[n]) {
		n++
	}
	if n == 1 {
		return 0
	}
	return n
}

// maxBrackets is the length of the longest pair of brackets.
const maxBrackets = 500

// closing returns the length of s up to and including the bracket that closes the first
// one; -1 if there is none.
func closing(s string, open, end byte) int {
	depth := 0
	for i := range min(len(s), maxBrackets) {
		switch s[i] {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// braced reads a pair of braces: alternatives if names are separated by commas, else a
// placeholder.
func braced(s string) (piece, int) {
	n := closing(s, '{', '}')
	if n < 3 {
		return piece{}, 0
	}
	inner := s[1 : n-1]
	if strings.ContainsAny(inner, "{}") || !strings.ContainsAny(inner, ",|") {
		return piece{text: s[:n], kind: placeholder}, n
	}
	p := piece{text: s[:n], kind: braces}
	for a := range strings.SplitSeq(strings.ReplaceAll(inner, "|", ","), ",") {
		a = strings.TrimSpace(a)
		if _, length := parseSpelling(a, false); length < len(a) {
			return piece{text: s[:n], kind: placeholder}, n
		}
		p.alternatives = append(p.alternatives, a)
	}
	return p, n
}
