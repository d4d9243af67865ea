package docs

import (
	"bytes"
	"strings"
)

// A leaf is a block of a document that holds text and no further blocks.
type leaf struct {
	kind  leafKind
	lines []Span // what of each line is the block's, without the line's end
	info  string // of code: the language, in lower case
	level int    // of a heading
	depth int    // how many quotes and list items it stands in
}

type leafKind int

const (
	paragraph leafKind = iota
	heading
	code
	html
)

// maxDepth is how many quotes and list items deep a document is followed. What is
// deeper is text of the innermost, so that a line costs no more than its length
// times this.
const maxDepth = 48

// leaves returns the blocks of a Markdown document in order. It knows what of
// CommonMark decides which bytes are prose and which are code: quotes, lists, fences,
// indentation, headings and HTML. What is inside of a block is left to others.
func leaves(src []byte) []leaf {
	s := scanner{src: src}
	for at := skipFrontmatter(src); at < len(src); {
		end, next := lineEnd(src, at)
		s.line(at, end)
		at = next
	}
	s.shut()
	return s.out
}

// lineEnd returns where the line at a place ends, and where the next one begins.
func lineEnd(src []byte, at int) (end, next int) {
	i := bytes.IndexByte(src[at:], '\n')
	if i < 0 {
		return len(src), len(src)
	}
	end = at + i
	next = end + 1
	if end > at && src[end-1] == '\r' {
		end--
	}
	return end, next
}

// skipFrontmatter returns where the prose begins: after a mark of byte order, and
// after fields between two lines of dashes. Those are data.
func skipFrontmatter(src []byte) int {
	at := 0
	if bytes.HasPrefix(src, []byte("\uFEFF")) {
		at = 3
	}
	end, next := lineEnd(src, at)
	mark := strings.TrimRight(string(src[at:min(end, at+8)]), " \t")
	if end-at > 7 || mark != "---" && mark != "+++" {
		return at
	}
	for p := next; p < len(src) && p < 1<<16; {
		end, after := lineEnd(src, p)
		if line := src[p:end]; len(line) < 8 {
			if l := strings.TrimRight(string(line), " \t"); l == mark || l == "..." {
				return after
			}
		}
		p = after
	}
	return at
}

// A container is a quote, or a list item whose content begins so many columns in.
type container struct {
	quote bool
	width int
}

// A scanner takes a document apart line by line.
type scanner struct {
	src   []byte
	stack []container
	open  *leaf // the block that lines may be added to
	fence fence // of an open code block
	until func(line []byte) bool
	blank int // blank lines at the end of indented code
	out   []leaf
}

type fence struct {
	char byte
	size int
}

// A cursor is a place in a line, with the column it is at.
type cursor struct {
	src      []byte
	pos, end int
	col      int
	spare    int // columns left of a tab that has been stepped into
}

// indent returns how many columns of space are ahead, and where the text begins.
func (c *cursor) indent() (cols, text int) {
	cols, text = c.spare, c.pos
	for col := c.col + c.spare; text < c.end; text++ {
		switch c.src[text] {
		case ' ':
			cols++
			col++
		case '\t':
			n := 4 - col%4
			cols += n
			col += n
		default:
			return cols, text
		}
	}
	return cols, text
}

// skip steps over so many columns of space.
func (c *cursor) skip(cols int) {
	for cols > 0 {
		switch {
		case c.spare > 0:
			n := min(c.spare, cols)
			c.spare -= n
			c.col += n
			cols -= n
		case c.pos < c.end && c.src[c.pos] == ' ':
			c.pos++
			c.col++
			cols--
		case c.pos < c.end && c.src[c.pos] == '\t':
			c.spare = 4 - c.col%4
			c.pos++
		default:
			return
		}
	}
}

// past steps over the space ahead and n bytes of text.
func (c *cursor) past(cols, n int) {
	c.skip(cols)
	c.pos += n
	c.col += n
}

func (s *scanner) line(start, end int) {
	c := cursor{src: s.src, pos: start, end: end}
	matched := s.match(&c)
	all := matched == len(s.stack)

	if s.open != nil && (s.fence.size > 0 || s.until != nil) {
		if all {
			s.inside(&c)
			return
		}
		s.shut()
	}
	fresh := false
	for matched < maxDepth {
		width, ok := s.opens(&c, all && !fresh)
		if !ok {
			break
		}
		s.shut()
		s.stack = append(s.stack[:matched], container{quote: width == 0, width: width})
		matched++
		fresh = true
	}
	cols, text := c.indent()
	rest := s.src[text:end]
	lazy := !all && !fresh && s.open != nil && s.open.kind == paragraph

	switch {
	case len(rest) == 0:
		if s.open != nil && s.open.kind == code {
			s.blank++
			s.open.lines = append(s.open.lines, Span{end, end})
			return
		}
		s.shut()
		if !fresh {
			s.leave(matched)
		}
		return
	case cols >= 4 && s.open != nil && s.open.kind == paragraph && !fresh:
		s.open.lines = append(s.open.lines, Span{text, end})
		return
	case cols >= 4:
		if s.open == nil || s.open.kind != code || !all {
			s.leave(matched)
			s.begin(leaf{kind: code})
		}
		c.skip(4)
		s.blank = 0
		s.open.lines = append(s.open.lines, Span{c.pos, end})
		return
	}
	if s.open != nil && s.open.kind == code {
		s.shut()
	}
	if s.block(rest, text, end, matched, lazy) {
		return
	}
	if s.open != nil && s.open.kind == paragraph && !fresh {
		s.open.lines = append(s.open.lines, Span{text, end})
		return
	}
	s.leave(matched)
	s.begin(leaf{kind: paragraph})
	s.open.lines = append(s.open.lines, Span{text, end})
}

// match steps over what the line has of the containers that are open, and returns
// how many it has.
func (s *scanner) match(c *cursor) int {
	for i, in := range s.stack {
		cols, text := c.indent()
		switch {
		case in.quote && cols <= 3 && text < c.end && s.src[text] == '>':
			c.past(cols, 1)
			if n, _ := c.indent(); n > 0 {
				c.skip(1)
			}
		case !in.quote && text == c.end:
		case !in.quote && cols >= in.width:
			c.skip(in.width)
		default:
			return i
		}
	}
	return len(s.stack)
}

// opens reports whether a quote or a list item begins at the cursor, and steps
// behind its mark. Of an item it returns how far its content is indented.
// After the line of a paragraph less makes an item.
func (s *scanner) opens(c *cursor, follows bool) (width int, ok bool) {
	cols, text := c.indent()
	if cols > 3 || text >= c.end {
		return 0, false
	}
	b := s.src[text]
	if b == '>' {
		c.past(cols, 1)
		if n, _ := c.indent(); n > 0 {
			c.skip(1)
		}
		return 0, true
	}
	n := 0 // the length of the mark
	switch {
	case b == '-' || b == '*' || b == '+':
		if rule(s.src[text:c.end]) {
			return 0, false
		}
		n = 1
	case '0' <= b && b <= '9':
		for n < 10 && text+n < c.end && '0' <= s.src[text+n] && s.src[text+n] <= '9' {
			n++
		}
		if n > 9 || text+n >= c.end || s.src[text+n] != '.' && s.src[text+n] != ')' {
			return 0, false
		}
		if follows && s.inParagraph() && (n != 1 || b != '1') && len(s.stack) == 0 {
			return 0, false // a number that a line happens to begin with
		}
		n++
	default:
		return 0, false
	}
	if text+n < c.end && s.src[text+n] != ' ' && s.src[text+n] != '\t' {
		return 0, false
	}
	after := *c
	after.past(cols, n)
	space, at := after.indent()
	if at == c.end {
		if follows && s.inParagraph() {
			return 0, false
		}
		*c = after
		return cols + n + 1, true
	}
	if space > 4 {
		space = 1
	}
	after.skip(space)
	*c = after
	return cols + n + space, true
}

func (s *scanner) inParagraph() bool { return s.open != nil && s.open.kind == paragraph }

// rule reports whether a line is a rule: three or more of one of -*_ and space.
func rule(line []byte) bool {
	n := 0
	for _, b := range line {
		switch {
		case b == line[0]:
			n++
		case b != ' ' && b != '\t':
			return false
		}
	}
	return n >= 3 && (line[0] == '-' || line[0] == '*' || line[0] == '_')
}

// block takes a line that begins or is a block of another kind than a paragraph.
func (s *scanner) block(line []byte, text, end, matched int, lazy bool) bool {
	switch b := line[0]; b {
	case '`', '~':
		n := run(line)
		if n < 3 || b == '`' && bytes.IndexByte(line[n:], '`') >= 0 {
			return false
		}
		s.leave(matched)
		s.begin(leaf{kind: code, info: language(string(line[n:min(len(line), n+200)]))})
		s.fence = fence{b, n}
		return true
	case '#':
		n := run(line)
		if n > 6 || n < len(line) && line[n] != ' ' && line[n] != '\t' {
			return false
		}
		s.leave(matched)
		s.begin(leaf{kind: heading, level: n, lines: []Span{{text + n, end}}})
		s.shut()
		return true
	case '=', '-':
		if s.inParagraph() && !lazy && run(bytes.TrimRight(line, " \t")) == len(bytes.TrimRight(line, " \t")) && len(s.stack) == matched {
			s.open.kind, s.open.level = heading, 1
			if b == '-' {
				s.open.level = 2
			}
			s.shut()
			return true
		}
	case '<':
		if until := markup(line, s.inParagraph()); until != nil {
			s.leave(matched)
			s.begin(leaf{kind: html, lines: []Span{{text, end}}})
			if s.until = until; until(line) {
				s.shut()
			}
			return true
		}
	}
	if rule(line) {
		s.leave(matched)
		return true
	}
	return false
}

// inside takes a line of a block that ends by a mark of its own.
func (s *scanner) inside(c *cursor) {
	cols, text := c.indent()
	if s.until != nil {
		line := s.src[text:c.end]
		if len(line) == 0 && s.until(nil) {
			s.shut()
			return
		}
		s.open.lines = append(s.open.lines, Span{text, c.end})
		if len(line) > 0 && s.until(line) {
			s.shut()
		}
		return
	}
	if line := s.src[text:c.end]; cols <= 3 && len(line) > 0 && line[0] == s.fence.char {
		if n := run(line); n >= s.fence.size && len(bytes.TrimSpace(line[n:])) == 0 {
			s.shut()
			return
		}
	}
	s.open.lines = append(s.open.lines, Span{c.pos, c.end})
}

func (s *scanner) begin(l leaf) {
	l.depth = len(s.stack)
	s.open = &l
}

// leave closes the block that is open, and the containers beyond the first n.
func (s *scanner) leave(n int) {
	s.shut()
	s.stack = s.stack[:n]
}

// shut closes the block that is open.
func (s *scanner) shut() {
	if s.open != nil {
		if s.open.kind == code && s.fence.size == 0 {
			s.open.lines = s.open.lines[:len(s.open.lines)-s.blank]
		}
		s.out = append(s.out, *s.open)
	}
	s.open, s.fence, s.until, s.blank = nil, fence{}, nil, 0
}

// run returns how often the first byte is repeated.
func run(line []byte) int {
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	return n
}

// language returns the language that the line of a fence names.
func language(info string) string {
	info = strings.TrimLeft(strings.TrimSpace(info), "{.")
	if i := strings.IndexAny(info, " \t,{}:("); i >= 0 {
		info = info[:i]
	}
	return strings.ToLower(info)
}

// markup returns when a block of HTML that begins with the line is over, nil if
// none begins. The end is asked for with each line, and with nil for a blank one.
func markup(line []byte, follows bool) func([]byte) bool {
	ends := func(mark string) func([]byte) bool {
		return func(l []byte) bool { return bytes.Contains(bytes.ToLower(l), []byte(mark)) }
	}
	switch {
	case bytes.HasPrefix(line, []byte("<!--")):
		return func(l []byte) bool { return bytes.Contains(l, []byte("-->")) }
	case bytes.HasPrefix(line, []byte("<?")):
		return ends("?>")
	case bytes.HasPrefix(line, []byte("<![CDATA[")):
		return ends("]]>")
	}
	rest := bytes.TrimPrefix(line[1:], []byte("/"))
	n := 0
	for n < len(rest) && n < 20 && (isLetter(rest[n]) || n > 0 && '0' <= rest[n] && rest[n] <= '9') {
		n++
	}
	if n == 0 || n < len(rest) && !strings.ContainsRune(" \t>/", rune(rest[n])) {
		return nil
	}
	blank := func(l []byte) bool { return l == nil }
	switch name := strings.ToLower(string(rest[:n])); {
	case name == "pre" || name == "script" || name == "style" || name == "textarea":
		return ends("</" + name)
	case blockTags.has(name):
		return blank
	case !follows && bytes.HasSuffix(bytes.TrimRight(line, " \t"), []byte(">")) && bytes.Count(line, []byte("<")) == 1:
		return blank
	}
	return nil
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

var blockTags = lexicon{text: `address article aside base basefont blockquote body caption center col colgroup dd details dialog dir
	div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend
	li link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th
	thead title tr track ul picture`}
