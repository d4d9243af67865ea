package outline

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// A spacing is the white space and the comments between two tokens.
type spacing struct {
	start, end int
	broken     bool // a line ends in it
}

func (s *spacing) add(src []byte, start, end int) {
	if start >= end {
		return
	}
	if s.start == s.end {
		s.start = start
	}
	s.end = end
	s.broken = s.broken || bytes.ContainsAny(src[start:end], "\n\r\u2028\u2029")
}

// space makes items of the spacing before the token at an offset, as far as the language gives
// a meaning to it, and empties it. Grammars of tree-sitter are more generous with white space
// than the languages are: `x=$a` and `x= $a` have the same tree.
func (r *reader) space(s *spacing, at int) {
	was := *s
	*s = spacing{}
	if was.start == was.end && r.lang != Python {
		return
	}
	switch r.lang {
	case Bash, Ruby:
		if cr := bytes.IndexByte(r.src[was.start:was.end], '\r'); cr >= 0 && r.lang == Bash {
			// To a shell, a carriage return is a letter of the word before it.
			at := uint32(was.start + cr)
			r.items = append(r.items, item{what: blanks, start: at, end: at + 1})
		}
		r.wordSpacing(was)
	case C, CPP, CSharp:
		if !was.broken && r.inDirective(at) {
			r.wordSpacing(was)
		}
	case JavaScript, TypeScript, TSX:
		if was.broken && breakCounts(r.src, was.start, at) {
			r.items = append(r.items, item{what: lineBreak, start: uint32(was.start), end: uint32(was.start)})
		}
	case Python:
		r.pythonLines(was, at)
	case PHP: // outside of tags, it is written out
		if was.start == 0 || bytes.HasSuffix(r.src[:was.start], []byte("?>")) {
			r.items = append(r.items, item{what: blanks, start: uint32(was.start), end: uint32(was.end)})
		}
	default:
	}
}

// wordSpacing keeps white space within a line as it is written. Indentation, what stands at the
// end of a line, and empty lines do not count.
func (r *reader) wordSpacing(s spacing) {
	if s.broken {
		r.items = append(r.items, item{what: lineBreak, start: uint32(s.start), end: uint32(s.start)})
		return
	}
	if s.start == 0 || r.src[s.start-1] == '\n' {
		return
	}
	r.items = append(r.items, item{what: blanks, start: uint32(s.start), end: uint32(s.end)})
}

// inDirective reports whether an offset is on a line of the preprocessor.
func (r *reader) inDirective(at int) bool {
	line := r.line(at)
	for line > 1 && bytes.HasSuffix(bytes.TrimRight(r.src[r.lines[line-2]:r.lines[line-1]], " \t\n"), []byte(`\`)) {
		line--
	}
	return bytes.HasPrefix(bytes.TrimLeft(r.src[r.lines[line-1]:at], " \t"), []byte("#"))
}

// JavaScript and TypeScript read some words as names when a line ends behind them, and do not
// allow the end of a line before some operators.
var (
	wordsBeforeBreak = strings.Fields("abstract accessor as async asserts await break const constructor continue declare enum export from get global " +
		"import infer interface is keyof let module namespace of out override private protected public readonly return satisfies set static " +
		"throw type unique using yield")
	textAfterBreak = strings.Fields("++ -- => ! as is satisfies [ ( < ` : ? * #!")
)

// breakCounts reports whether the end of a line between two tokens may mean something: start is
// where the first ends, and at where the second begins.
func breakCounts(src []byte, start, at int) bool {
	word := start
	for word > 0 && isWordByte(src[word-1]) {
		word--
	}
	if slices.Contains(wordsBeforeBreak, string(src[word:start])) {
		return true
	}
	return slices.ContainsFunc(textAfterBreak, func(s string) bool { return bytes.HasPrefix(src[at:], []byte(s)) })
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80
}

// A column is how far a line of Python is indented, with tabs of eight and of one: lines that
// only one of the two puts in order are an error to Python.
type column struct{ wide, narrow int }

// pythonLines makes items of the structure of lines as Python's own scanner does: the end of
// a line outside of brackets, and where blocks begin and end.
func (r *reader) pythonLines(s spacing, at int) {
	first := !r.begun
	r.begun = true
	if r.brackets > 0 || !first && !s.broken {
		return
	}
	here := uint32(at)
	if s.start < s.end {
		here = uint32(s.start)
	}
	add := func(what itemKind) { r.items = append(r.items, item{what: what, start: here, end: here}) }
	if !first {
		add(lineBreak)
	}
	now := columnOf(r.src[r.lines[r.line(at)-1]:at])
	top := func() column {
		if n := len(r.blocks); n > 0 {
			return r.blocks[n-1]
		}
		return column{}
	}
	if now.wide > top().wide {
		if now.narrow <= top().narrow {
			r.badIndentation(at)
		}
		r.blocks = append(r.blocks, now)
		add(indent)
		return
	}
	for now.wide < top().wide {
		r.blocks = r.blocks[:len(r.blocks)-1]
		add(dedent)
	}
	if now != top() {
		r.badIndentation(at)
	}
}

func (r *reader) badIndentation(at int) {
	r.blind = true
	r.note(fmt.Sprintf("line %d is indented like no block around it", r.line(at)))
}

func columnOf(blanks []byte) (c column) {
	for _, b := range blanks {
		switch b {
		case '\t':
			c.wide = (c.wide/8 + 1) * 8
			c.narrow++
		case '\f':
			c = column{}
		default:
			c.wide++
			c.narrow++
		}
	}
	return c
}

// bracket counts the brackets of Python that are open: lines do not end within them.
func (r *reader) bracket(token []byte) {
	switch string(token) {
	case "(", "[", "{":
		r.brackets++
	case ")", "]", "}":
		r.brackets = max(0, r.brackets-1)
	}
}

// hidesCode reports a comment that may be none for the language, or end earlier than for the
// grammar. All of it counts.
func hidesCode(lang Language, src []byte, start, end int) bool {
	text := bytes.TrimRight(src[start:end], "\n")
	text = bytes.TrimSuffix(text, []byte("\r")) // the line ends in CRLF
	if bytes.ContainsAny(text, "\r\v\f\u0085\u2028\u2029") {
		return true
	}
	switch lang {
	case Bash: // within a word, # is a character like any other
		return start > 0 && strings.IndexByte(" \t\n;", src[start-1]) < 0
	case Java: // an escape may stand for the end of a line
		return bytes.Contains(text, []byte(`\u`))
	case C, CPP: // the next line goes on in it
		return bytes.HasSuffix(bytes.TrimRight(text, " \t"), []byte(`\`)) || bytes.Contains(text, []byte("??/"))
	case PHP: // the text behind it is written out
		return bytes.Contains(text, []byte("?>"))
	case JavaScript, TypeScript, TSX: // a comment in scripts, and operators in modules
		return bytes.HasPrefix(text, []byte("<!--")) || bytes.HasPrefix(text, []byte("-->"))
	default:
		return false
	}
}
