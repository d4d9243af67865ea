package outline

import (
	"strconv"
	"strings"
	"unicode"

	"ken/internal/outline/syntax"
)

// markdown walks a document: its headings are the symbols, each reaching to the
// next of its level or a higher one, found by the anchor that links to it have.
func (r *reader) markdown(root syntax.Node) {
	m := &document{reader: r, seen: make(map[string]int)}
	m.walk(root)
	m.close(0, root.End())
}

// A document is a Markdown file being walked.
type document struct {
	*reader
	seen map[string]int // anchors, and how often
	open []int          // symbols of the headings that the text is under
	at   []int          // their levels
}

// close ends the headings of a level and of those below it.
func (m *document) close(level, end int) {
	for n := len(m.open); n > 0 && m.at[n-1] >= level; n-- {
		m.symbols[m.open[n-1]].end = end
		m.open, m.at = m.open[:n-1], m.at[:n-1]
	}
}

func (m *document) walk(section syntax.Node) {
	for _, n := range section.Children() {
		switch n.Type() {
		case "section":
			m.walk(n)
		case "atx_heading", "setext_heading":
			m.heading(n)
		case "paragraph":
			m.paragraph(n)
		}
	}
}

func (m *document) heading(n syntax.Node) {
	text := strings.TrimSpace(m.text(n.Child("heading_content")))
	if n.Type() == "atx_heading" {
		text = strings.TrimSpace(strings.TrimRight(text, "#"))
	}
	text = plainMarkdown(text)
	mark := m.headingLevel(n)
	m.close(len(mark), n.Start())
	m.depth = min(len(m.open), MaxDepth)
	i := m.add(Heading, text, n, lead{start: n.Start()}, n.End())
	s := &m.symbols[i]
	s.Qualified = anchor(text, m.seen)
	s.prefix, s.ranges = mark+" "+text, nil
	m.open, m.at = append(m.open, i), append(m.at, len(mark))
}

// paragraph takes the first one for what a heading, or the document, is about.
func (m *document) paragraph(n syntax.Node) {
	text := plainMarkdown(m.text(n))
	if text == "" || strings.ContainsAny(text[:1], "[<|") { // badges and links to translations
		return
	}
	text = sentence(text)
	if last := len(m.open) - 1; last >= 0 && m.symbols[m.open[last]].Doc == "" {
		m.symbols[m.open[last]].Doc = text
	}
	if m.doc == "" {
		m.doc = text
	}
}

// headingLevel is the mark of a heading, as many # as its level.
func (r *reader) headingLevel(n syntax.Node) string {
	for _, c := range n.Children() {
		switch t := c.Type(); {
		case strings.HasPrefix(t, "atx_h"):
			return r.text(c)
		case t == "setext_h1_underline":
			return "#"
		case t == "setext_h2_underline":
			return "##"
		}
	}
	return "#"
}

var emphasis = strings.NewReplacer("**", "", "__", "", "`", "")

// plainMarkdown takes the marks for emphasis, code, images and links out of a
// line.
func plainMarkdown(s string) string {
	for {
		open := strings.Index(s, "](")
		if open < 0 {
			break
		}
		start := strings.LastIndexByte(s[:open], '[')
		end := strings.IndexByte(s[open:], ')')
		if start < 0 || end < 0 {
			break
		}
		text := s[start+1 : open]
		if start > 0 && s[start-1] == '!' {
			start--
			text = ""
		}
		s = s[:start] + text + s[open+end+1:]
	}
	s = emphasis.Replace(s)
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '*' && (i > 0 && s[i-1] != ' ' || i+1 < len(s) && s[i+1] != ' ') {
			continue
		}
		b.WriteByte(s[i])
	}
	return strings.TrimSpace(b.String())
}

// anchor makes of a heading the name that links to it have, as on GitHub; one
// that comes again gets a number.
func anchor(text string, seen map[string]int) string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c), c == '-', c == '_':
			b.WriteRune(c)
		case c == ' ':
			b.WriteByte('-')
		}
	}
	name := b.String()
	n := seen[name]
	seen[name]++
	if n > 0 {
		return name + "-" + strconv.Itoa(n)
	}
	return name
}
