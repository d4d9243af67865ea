package usage

import (
	"bytes"
	"strings"

	"ken/internal/outline"
)

// A word is one occurrence of a name in a file.
type word struct {
	line      int
	quoted    bool // in a string
	member    bool // in code, behind a dot, or as a key of an object, a literal or a call
	attribute bool // of a component, without a value
}

// wordsIn returns the occurrences of a name in the code and in the strings of a file, without those in comments. It
// knows no grammar: in a language that it does not know, each line without a mark of a comment is code.
func wordsIn(content []byte, name string, lang outline.Language) []word {
	s := wordScanner{src: content, name: name, lang: lang, line: 1}
	switch {
	case !bytes.Contains(content, []byte(name)):
	case s.commentMark() == "":
		s.scanLines()
	default:
		s.scan()
	}
	return s.found
}

// A wordScanner reads a file byte by byte.
type wordScanner struct {
	src      []byte
	name     string
	lang     outline.Language
	at       int
	line     int    // of at
	brackets []byte // the open ones
	found    []word
}

// commentMark returns the mark that begins a comment up to the end of the line; "" if it is not known.
func (s *wordScanner) commentMark() string {
	switch s.lang {
	case outline.Go, outline.TypeScript, outline.TSX, outline.JavaScript, outline.Rust, outline.Java,
		outline.C, outline.CPP, outline.CSharp, outline.PHP:
		return "//"
	case outline.Python, outline.Ruby, outline.Bash:
		return "#"
	default:
		return ""
	}
}

func (s *wordScanner) scanLines() {
	for line := range bytes.Lines(s.src) {
		text := strings.TrimSpace(string(line))
		if outline.HasWord(text, s.name) && !outline.IsComment(text) {
			s.found = append(s.found, word{line: s.line})
		}
		s.line++
	}
}

func (s *wordScanner) scan() {
	mark := s.commentMark()
	for s.at < len(s.src) {
		c := s.src[s.at]
		switch {
		case s.has(mark) && (mark != "#" || !s.isBehind('$', '{')): // $# and ${#list} of the shell
			s.skipTo("\n")
		case s.has("/*") && mark == "//":
			s.skipTo("*/")
		case c == '"', c == '`', c == '\'' && s.isQuote():
			s.quoted()
		default:
			s.code(c)
		}
	}
}

func (s *wordScanner) has(text string) bool {
	return len(s.src)-s.at >= len(text) && string(s.src[s.at:s.at+len(text)]) == text
}

// isBehind reports whether one of some bytes is directly before this place.
func (s *wordScanner) isBehind(some ...byte) bool {
	return s.at > 0 && bytes.IndexByte(some, s.src[s.at-1]) >= 0
}

// move goes on by some bytes.
func (s *wordScanner) move(n int) {
	to := min(s.at+n, len(s.src))
	s.line += bytes.Count(s.src[s.at:to], []byte("\n"))
	s.at = to
}

// skipTo moves behind the next occurrence of a text, or to the end of the file.
func (s *wordScanner) skipTo(end string) {
	n := bytes.Index(s.src[s.at+1:], []byte(end))
	if n < 0 {
		n = len(s.src)
	}
	s.move(1 + n + len(end))
}

// isQuote reports whether an apostrophe begins a string. In Rust it may begin the name of a lifetime.
func (s *wordScanner) isQuote() bool {
	rest := s.src[s.at+1:]
	return s.lang != outline.Rust || len(rest) > 1 && (rest[0] == '\\' || rest[1] == '\'')
}

// code reads a piece of code: a word, or one byte.
func (s *wordScanner) code(c byte) {
	switch c {
	case '(', '[', '{':
		s.brackets = append(s.brackets, c)
	case ')', ']', '}':
		s.brackets = s.brackets[:max(0, len(s.brackets)-1)]
	}
	s.word(false)
}

// word reads a whole word, or one byte that belongs to none.
func (s *wordScanner) word(quoted bool) {
	end := s.at
	for end < len(s.src) && outline.IsNameByte(s.src[end]) {
		end++
	}
	if string(s.src[s.at:end]) == s.name {
		w := word{line: s.line, quoted: quoted}
		w.member = !quoted && s.isMember(end)
		w.attribute = !quoted && s.commentMark() == "//" && s.isAttribute(end)
		s.found = append(s.found, w)
	}
	s.move(max(1, end-s.at))
}

// isMember reports whether the word up to end is behind a dot, or looks like a key.
func (s *wordScanner) isMember(end int) bool {
	before := bytes.TrimRight(s.src[:s.at], " \t\r\n")
	after := bytes.TrimLeft(s.src[end:], " \t\r\n")
	isDotted := false
	for _, mark := range []string{".", "->", "::"} {
		isDotted = isDotted || bytes.HasSuffix(before, []byte(mark))
	}
	if isDotted || len(after) < 2 || len(before) == 0 {
		return isDotted
	}
	isFirst := strings.IndexByte("{(,", before[len(before)-1]) >= 0
	isArgument := isFirst && after[0] == '=' && after[1] != '=' && after[1] != '>'
	isAttribute := after[0] == '=' && strings.IndexByte(`{"'`, after[1]) >= 0
	isKey := isFirst && bytes.HasSuffix(s.brackets, []byte("{")) && strings.IndexByte(":,}", after[0]) >= 0
	return isArgument || isAttribute || isKey
}

// isAttribute reports whether the word up to end is a whole attribute of a component, as in <Badge round {checked} />.
func (s *wordScanner) isAttribute(end int) bool {
	tag := s.src[bytes.LastIndexByte(s.src[:s.at], '<')+1 : s.at]
	rest := s.src[end:]
	if bytes.HasSuffix(tag, []byte("{")) && bytes.HasPrefix(rest, []byte("}")) {
		tag = tag[:len(tag)-1]
		rest = rest[1:]
	}
	name := len(bytes.TrimRight(tag, " \t\r\n"))
	isAlone := name < len(tag) && len(rest) > 0 && strings.IndexByte(" \t\r\n/>", rest[0]) >= 0
	isComponent := name > 0 && (tag[0] >= 'A' && tag[0] <= 'Z' || bytes.Contains(bytes.Fields(tag)[0], []byte("-")))
	return isAlone && isComponent && !bytes.Contains(bytes.ReplaceAll(tag, []byte("=>"), nil), []byte(">"))
}

// quoted reads a string. What a template computes is skipped: the names in it are among the references of the file.
func (s *wordScanner) quoted() {
	quote := string(s.src[s.at])
	if triple := strings.Repeat(quote, 3); s.lang == outline.Python && s.has(triple) {
		if s.isStatement() {
			s.move(2)
			s.skipTo(triple) // a comment for readers
			return
		}
		quote = triple
	}
	hasEscapes := quote != "`" || s.lang != outline.Go
	computed := s.templateMark(quote)
	isOneLine := s.isOneLine(quote)
	s.move(len(quote))
	for s.at < len(s.src) && !s.has(quote) {
		switch {
		case s.src[s.at] == '\n' && isOneLine:
			return // it was no string, such as an apostrophe in a pattern
		case s.src[s.at] == '\\' && hasEscapes:
			s.move(2)
		case computed != "" && s.has(computed):
			s.skipComputed(len(computed))
		default:
			s.word(true)
		}
	}
	s.move(len(quote))
}

// isStatement reports whether the string that begins here is a statement of its own, as a docstring is.
func (s *wordScanner) isStatement() bool {
	before := bytes.TrimRight(s.src[:s.at], " \t")
	isFirst := len(before) == 0 || before[len(before)-1] == '\n'
	before = bytes.TrimSpace(before)
	return isFirst && (len(before) == 0 || strings.IndexByte(`([{,=+%\`, before[len(before)-1]) < 0)
}

// templateMark returns what begins a computed part of the string that begins here; "" if it has none.
func (s *wordScanner) templateMark(quote string) string {
	switch s.lang {
	case outline.TypeScript, outline.TSX, outline.JavaScript:
		if quote == "`" {
			return "${"
		}
	case outline.Ruby:
		return "#{"
	case outline.Python:
		if s.isBehind('f', 'F') || s.at > 1 && s.isBehind('r', 'R') && strings.IndexByte("fF", s.src[s.at-2]) >= 0 {
			return "{"
		}
	default:
	}
	return ""
}

// skipComputed moves behind a computed part of a string.
func (s *wordScanner) skipComputed(mark int) {
	s.move(mark)
	for depth := 1; depth > 0 && s.at < len(s.src); s.move(1) {
		switch s.src[s.at] {
		case '{':
			depth++
		case '}':
			depth--
		}
	}
}

// isOneLine reports whether a string with these quotes ends with its line.
func (s *wordScanner) isOneLine(quote string) bool {
	switch s.lang {
	case outline.Bash, outline.Ruby, outline.PHP, outline.Rust:
		return false
	default:
		return quote == `"` || quote == "'"
	}
}
