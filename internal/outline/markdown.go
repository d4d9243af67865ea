package outline

import (
	"strconv"
	"strings"
	"unicode"

	"ken/internal/outline/syntax"
)

// markdown walks a document: its headings are the symbols, each reaching to the
// next of its level, found by the anchor that links to it have.
func (r *reader) markdown(root syntax.Node) {
	seen := make(map[string]int)
	r.markdownSection(root, seen)
}

func (r *reader) markdownSection(section syntax.Node, seen map[string]int) {
	children := section.Children()
	heading := -1
	for i, n := range children {
		switch n.Type() {
		case "atx_heading", "setext_heading":
			content := n.Child("heading_content")
			text := strings.TrimSpace(r.text(content))
			if n.Type() == "atx_heading" {
				text = strings.TrimSpace(strings.TrimRight(text, "#"))
			}
			text = plainMarkdown(text)
			heading = r.add(Heading, text, n, lead{start: n.Start()}, n.End())
			s := &r.symbols[heading]
			s.Qualified = anchor(text, seen)
			s.prefix, s.ranges = r.headingLevel(n)+" "+text, nil
			s.end = section.End()
			if n.Type() == "setext_heading" && i+1 < len(children) {
				s.end = nextHeading(children[i+1:], section.End())
			}
		case "paragraph":
			text := plainMarkdown(r.text(n))
			if text == "" || strings.ContainsAny(text[:1], "[<|") { // badges and links to translations
				continue
			}
			text = sentence(text)
			if heading >= 0 && r.symbols[heading].Doc == "" {
				r.symbols[heading].Doc = text
			}
			if r.doc == "" {
				r.doc = text
			}
		case "section":
			if heading >= 0 {
				depth := r.depth
				r.depth = min(r.symbols[heading].Depth+1, MaxDepth)
				r.markdownSection(n, seen)
				r.depth = depth
			} else {
				r.markdownSection(n, seen)
			}
		}
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

// nextHeading is where the text under a heading ends that has no section of its
// own.
func nextHeading(nodes []syntax.Node, end int) int {
	for _, n := range nodes {
		switch n.Type() {
		case "atx_heading", "setext_heading", "section":
			return n.Start()
		}
	}
	return end
}

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
	s = strings.NewReplacer("**", "", "__", "", "`", "").Replace(s)
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
