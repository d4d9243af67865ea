package outline

import (
	"strconv"
	"strings"
	"unicode"

	"ken/internal/outline/syntax"
)

// markdown walks a document. Its symbols are the headings. A heading ends at the next heading of the same or
// a higher level. Its qualified name is its anchor.
func (r *reader) markdown(root syntax.Node) {
	m := &document{reader: r, seen: make(map[string]int)}
	m.walk(root)
	m.close(0, root.End())
}

// A document is the state of a walk over a Markdown file.
type document struct {
	*reader
	seen map[string]int // number of occurrences by anchor
	open []int          // symbols of the open headings
	at   []int          // levels of the open headings
}

// close ends the open headings of a level and below.
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
	i := m.add(Heading, text, n, leadingNodes{start: n.Start()}, n.End())
	s := &m.symbols[i]
	s.Qualified = anchor(text, m.seen)
	s.prefix, s.ranges = mark+" "+text, nil
	m.open, m.at = append(m.open, i), append(m.at, len(mark))
}

// paragraph uses the first paragraph as documentation of its heading, or of the document.
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

// headingLevel returns the marker of a heading: one # per level.
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

// plainMarkdown removes the markers for emphasis, code, images and links from a line.
func plainMarkdown(s string) string {
	s = emphasis.Replace(withoutLinks(s))
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '*' && (i > 0 && s[i-1] != ' ' || i+1 < len(s) && s[i+1] != ' ') {
			continue
		}
		b.WriteByte(s[i])
	}
	return strings.TrimSpace(b.String())
}

// withoutLinks replaces links by their texts, and removes images. It reads s once, since a line may have 100,000 links.
// Text has no zero bytes, so they mark what goes.
func withoutLinks(s string) string {
	var out []byte
	var open []int // brackets in out that no link has closed
	for i := 0; i < len(s); i++ {
		if s[i] == '[' {
			open = append(open, len(out))
		}
		if !strings.HasPrefix(s[i:], "](") {
			out = append(out, s[i])
			continue
		}
		last := len(open) - 1
		end := strings.IndexByte(s[i:], ')')
		if end < 0 || last < 0 {
			out = append(out, s[i:]...)
			break
		}
		if start := open[last]; start > 0 && out[start-1] == '!' {
			out = out[:start-1]
		} else {
			out[start] = 0
		}
		open = open[:last]
		i += end
	}
	return strings.ReplaceAll(string(out), "\x00", "")
}

// anchor returns the anchor of a heading, as on GitHub. A repeated anchor gets a number.
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
