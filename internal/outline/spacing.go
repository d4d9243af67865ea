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
	broken     bool // it contains a line break
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

// space appends items for the spacing before the token at an offset, if white space is significant in the
// language, and clears the spacing. Tree-sitter grammars accept more white space than the languages do:
// `x=$a` and `x= $a` have the same tree.
func (r *reader) space(s *spacing, at int) {
	was := *s
	*s = spacing{}
	if was.start == was.end && r.lang != Python {
		return
	}
	switch r.lang {
	case Bash, Ruby:
		if cr := bytes.IndexByte(r.src[was.start:was.end], '\r'); cr >= 0 && r.lang == Bash {
			// In a shell script, a carriage return is a character of the preceding word.
			at := uint32(was.start + cr)
			r.items = append(r.items, item{kind: blanks, start: at, end: at + 1})
		}
		r.wordSpacing(was)
	case C, CPP, CSharp:
		if !was.broken && r.inDirective(at) {
			r.wordSpacing(was)
		}
	case JavaScript, TypeScript, TSX:
		if was.broken && breakCounts(r.src, was.start, at) {
			r.items = append(r.items, item{kind: lineBreak, start: uint32(was.start), end: uint32(was.start)})
		}
	case Python:
		r.pythonLines(was, at)
	case PHP: // text outside of tags is output
		if was.start == 0 || bytes.HasSuffix(r.src[:was.start], []byte("?>")) {
			r.items = append(r.items, item{kind: blanks, start: uint32(was.start), end: uint32(was.end)})
		}
	default:
	}
}

// wordSpacing appends items for white space within a line. Indentation, trailing white space and empty lines
// do not count.
func (r *reader) wordSpacing(s spacing) {
	if s.broken {
		r.items = append(r.items, item{kind: lineBreak, start: uint32(s.start), end: uint32(s.start)})
		return
	}
	if s.start == 0 || r.src[s.start-1] == '\n' {
		return
	}
	r.items = append(r.items, item{kind: blanks, start: uint32(s.start), end: uint32(s.end)})
}

// inDirective reports whether an offset is on a preprocessor line.
func (r *reader) inDirective(at int) bool {
	line := r.line(at)
	for line > 1 && bytes.HasSuffix(bytes.TrimRight(r.src[r.lines[line-2]:r.lines[line-1]], " \t\n"), []byte(`\`)) {
		line--
	}
	return bytes.HasPrefix(bytes.TrimLeft(r.src[r.lines[line-1]:at], " \t"), []byte("#"))
}

// In JavaScript and TypeScript, some words are names if a line break follows, and some operators must not
// follow a line break.
var (
	wordsBeforeBreak = strings.Fields("abstract accessor as async asserts await break const constructor continue declare enum export from get global " +
		"import infer interface is keyof let module namespace of out override private protected public readonly return satisfies set static " +
		"throw type unique using yield")
	textAfterBreak = strings.Fields("++ -- => ! as is satisfies [ ( < ` : ? * #!")
)

// breakCounts reports whether a line break between two tokens may be significant. The first token ends at
// start, and the second begins at at.
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

// A column is the indentation of a Python line, with tab widths of eight and of one. If the two disagree
// about the order of lines, Python reports an error.
type column struct{ wide, narrow int }

// pythonLines appends items for the line structure, as Python's own scanner does: line ends outside of
// brackets, and the start and end of blocks.
func (r *reader) pythonLines(s spacing, at int) {
	first := !r.seenToken
	r.seenToken = true
	if r.brackets > 0 || !first && !s.broken {
		return
	}
	here := uint32(at)
	if s.start < s.end {
		here = uint32(s.start)
	}
	add := func(kind itemKind) { r.items = append(r.items, item{kind: kind, start: here, end: here}) }
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
	r.noTokens = true
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

// bracket counts the open brackets of Python. A line does not end within brackets.
func (r *reader) bracket(token []byte) {
	switch string(token) {
	case "(", "[", "{":
		r.brackets++
	case ")", "]", "}":
		r.brackets = max(0, r.brackets-1)
	}
}

// hidesCode reports whether the language may not see the comment that the grammar sees, or ends it earlier.
// All of its text counts.
func hidesCode(lang Language, src []byte, start, end int) bool {
	text := bytes.TrimRight(src[start:end], "\n")
	text = bytes.TrimSuffix(text, []byte("\r")) // the line ends in CRLF
	if bytes.ContainsAny(text, "\r\v\f\u0085\u2028\u2029") {
		return true
	}
	switch lang {
	case Bash: // within a word, # is an ordinary character
		return start > 0 && strings.IndexByte(" \t\n;", src[start-1]) < 0
	case Java: // an escape may encode a line break
		return bytes.Contains(text, []byte(`\u`))
	case C, CPP: // the comment continues on the next line
		return bytes.HasSuffix(bytes.TrimRight(text, " \t"), []byte(`\`)) || bytes.Contains(text, []byte("??/"))
	case PHP: // the text after it is output
		return bytes.Contains(text, []byte("?>"))
	case JavaScript, TypeScript, TSX: // a comment in scripts, and operators in modules
		return bytes.HasPrefix(text, []byte("<!--")) || bytes.HasPrefix(text, []byte("-->"))
	default:
		return false
	}
}
