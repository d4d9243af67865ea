package web

import (
	"html"
	"html/template"
	"strings"
)

// markdown renders what people wrote in it. Whatever is not one of its marks is text:
// HTML is shown and never obeyed, links lead to the web or to nodes, and nothing is
// fetched. Its time is in proportion to the length, whatever stands there. link
// returns the address of a node that is mentioned as [[id]], "" for none; it may be nil.
func markdown(source string, link func(id string) string) template.HTML {
	if link == nil {
		link = func(string) string { return "" }
	}
	p := &prose{link: link}
	source = strings.ReplaceAll(strings.ToValidUTF8(source, "\uFFFD"), "\r\n", "\n")
	p.blocks(strings.Split(source, "\n"), 0, false)
	return template.HTML(p.out.String()) //nolint:gosec // every text in it went through html.EscapeString
}

// A prose is Markdown being rendered.
type prose struct {
	out  strings.Builder
	link func(id string) string
}

// maxNesting is how deep quotes and lists are followed; deeper ones are text.
const maxNesting = 12

// blocks renders lines. In a tight list paragraphs stand without their element.
func (p *prose) blocks(lines []string, depth int, tight bool) {
	for i := 0; i < len(lines); {
		line := lines[i]
		switch kind := blockOf(line); {
		case kind == blank:
			i++
		case kind == fence:
			i = p.fenced(lines, i)
		case kind == heading:
			level := len(line) - len(strings.TrimLeft(strings.TrimSpace(line), "#")) - (len(line) - len(strings.TrimSpace(line)))
			p.heading(level, strings.TrimRight(strings.Trim(strings.TrimSpace(line), "#"), " "))
			i++
		case kind == rule:
			p.out.WriteString("<hr>\n")
			i++
		case kind == quote && depth < maxNesting:
			i = p.quote(lines, i, depth)
		case kind == item && depth < maxNesting:
			i = p.list(lines, i, depth)
		case kind == indented:
			i = p.indented(lines, i)
		case strings.HasPrefix(strings.TrimSpace(line), "|") && i+1 < len(lines) && isDelimiter(lines[i+1]):
			i = p.table(lines, i)
		default:
			i = p.paragraph(lines, i, tight)
		}
	}
}

type blockKind int

const (
	text blockKind = iota
	blank
	fence
	heading
	rule
	quote
	item
	indented
)

// blockOf says what a line begins.
func blockOf(line string) blockKind {
	s := strings.TrimLeft(line, " ")
	switch {
	case strings.TrimSpace(line) == "":
		return blank
	case len(line)-len(s) >= 4 || strings.HasPrefix(line, "\t"):
		return indented
	case strings.HasPrefix(s, "```") && !strings.Contains(strings.TrimLeft(s, "`"), "`"), strings.HasPrefix(s, "~~~"):
		return fence
	case s[0] == '#' && len(strings.TrimLeft(s, "#")) != len(s) && len(s)-len(strings.TrimLeft(s, "#")) <= 6 &&
		(strings.TrimLeft(s, "#") == "" || strings.TrimLeft(s, "#")[0] == ' '):
		return heading
	case isRule(s):
		return rule
	case s[0] == '>':
		return quote
	case marker(s) > 0:
		return item
	}
	return text
}

func isRule(s string) bool {
	bare := strings.ReplaceAll(strings.TrimSpace(s), " ", "")
	return len(bare) >= 3 && (strings.Trim(bare, "-") == "" || strings.Trim(bare, "*") == "" || strings.Trim(bare, "_") == "")
}

// marker is how long the mark of a list's item is with the space behind it, 0 if there
// is none.
func marker(s string) int {
	n := 0
	switch {
	case s != "" && strings.ContainsRune("-*+", rune(s[0])):
		n = 1
	default:
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0
		}
		n++
	}
	if n == len(s) {
		return n
	}
	if s[n] != ' ' {
		return 0
	}
	return n + 1
}

// fenced renders code between fences.
func (p *prose) fenced(lines []string, i int) int {
	open := strings.TrimLeft(lines[i], " ")
	indent := len(lines[i]) - len(open)
	mark := open[:len(open)-len(strings.TrimLeft(open, open[:1]))]
	var code []string
	for i++; i < len(lines); i++ {
		s := strings.TrimSpace(lines[i])
		if strings.HasPrefix(s, mark) && strings.Trim(s, mark[:1]) == "" {
			i++
			break
		}
		code = append(code, strings.TrimPrefix(lines[i], strings.Repeat(" ", min(indent, len(lines[i])-len(strings.TrimLeft(lines[i], " "))))))
	}
	p.code(code)
	return i
}

func (p *prose) code(lines []string) {
	p.out.WriteString(`<pre tabindex="0"><code>` + html.EscapeString(strings.Join(lines, "\n")) + "\n</code></pre>\n")
}

// indented renders code that is set in.
func (p *prose) indented(lines []string, i int) int {
	var code []string
	for ; i < len(lines); i++ {
		kind := blockOf(lines[i])
		if kind != indented && kind != blank {
			break
		}
		code = append(code, outdent(lines[i], 4))
	}
	for len(code) > 0 && strings.TrimSpace(code[len(code)-1]) == "" {
		code = code[:len(code)-1]
	}
	p.code(code)
	return i
}

// outdent takes up to n columns off the beginning of a line.
func outdent(line string, n int) string {
	for n > 0 && line != "" {
		switch line[0] {
		case ' ':
			n--
		case '\t':
			n = 0
		default:
			return line
		}
		line = line[1:]
	}
	return line
}

// heading renders a heading, two levels below the page's own.
func (p *prose) heading(level int, s string) {
	tag := "h" + string(rune('0'+min(level+2, 6)))
	p.out.WriteString("<" + tag + ">")
	p.inline(strings.TrimSpace(s))
	p.out.WriteString("</" + tag + ">\n")
}

func (p *prose) quote(lines []string, i, depth int) int {
	var inner []string
	for ; i < len(lines); i++ {
		s := strings.TrimLeft(lines[i], " ")
		if kind := blockOf(lines[i]); kind != quote && (kind != text || len(inner) == 0) {
			break
		}
		inner = append(inner, strings.TrimPrefix(strings.TrimPrefix(s, ">"), " "))
	}
	p.out.WriteString("<blockquote>\n")
	p.blocks(inner, depth+1, false)
	p.out.WriteString("</blockquote>\n")
	return i
}

// list renders items for as long as they follow each other.
func (p *prose) list(lines []string, i, depth int) int {
	s := strings.TrimLeft(lines[i], " ")
	tag := "ul"
	if s[0] >= '0' && s[0] <= '9' {
		tag = "ol"
	}
	var items [][]string
	loose := false
	for i < len(lines) && blockOf(lines[i]) == item {
		s := strings.TrimLeft(lines[i], " ")
		if ordered := s[0] >= '0' && s[0] <= '9'; ordered != (tag == "ol") {
			break
		}
		width := len(lines[i]) - len(s) + marker(s)
		inner := []string{s[marker(s):]}
		gap := false
		for i++; i < len(lines); i++ {
			kind, set := blockOf(lines[i]), len(lines[i])-len(strings.TrimLeft(lines[i], " \t"))
			if kind == blank {
				gap = true
				inner = append(inner, "")
				continue
			}
			if set < min(width, 2) && (gap || kind != text) {
				break
			}
			loose = loose || gap
			gap = false
			inner = append(inner, outdent(lines[i], width))
		}
		loose = loose || gap && i < len(lines) && blockOf(lines[i]) == item
		items = append(items, inner)
	}
	p.out.WriteString("<" + tag + ">\n")
	for _, inner := range items {
		box := ""
		if box, inner[0] = task(inner[0]); box != "" {
			p.out.WriteString(`<li class="task">` + box)
		} else {
			p.out.WriteString("<li>")
		}
		p.blocks(inner, depth+1, !loose)
		p.out.WriteString("</li>\n")
	}
	p.out.WriteString("</" + tag + ">\n")
	return i
}

// task tells whether an item is one of a list of tasks: [ ] or [x] before the words.
func task(line string) (box, words string) {
	mark, words, ok := strings.Cut(line, "] ")
	switch {
	case ok && mark == "[ ":
		return `<span class="box" role="img" aria-label="to do">☐</span> `, words
	case ok && (mark == "[x" || mark == "[X"):
		return `<span class="box" role="img" aria-label="done">☑</span> `, words
	}
	return "", line
}

func isDelimiter(line string) bool {
	s := strings.TrimSpace(line)
	return strings.Contains(s, "-") && strings.Contains(s, "|") && strings.Trim(s, "|:- \t") == ""
}

func (p *prose) table(lines []string, i int) int {
	row := func(line, tag string) {
		p.out.WriteString("<tr>")
		s := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
		for cell := range strings.SplitSeq(strings.ReplaceAll(s, `\|`, "\x00"), "|") {
			p.out.WriteString("<" + tag + ">")
			p.inline(strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|"))
			p.out.WriteString("</" + tag + ">")
		}
		p.out.WriteString("</tr>\n")
	}
	p.out.WriteString("<table><thead>\n")
	row(lines[i], "th")
	p.out.WriteString("</thead><tbody>\n")
	for i += 2; i < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i]), "|"); i++ {
		row(lines[i], "td")
	}
	p.out.WriteString("</tbody></table>\n")
	return i
}

func (p *prose) paragraph(lines []string, i int, tight bool) int {
	var said []string
	for ; i < len(lines); i++ {
		s := strings.TrimSpace(lines[i])
		if len(said) > 0 {
			if s != "" && strings.Trim(s, "=") == "" {
				p.heading(1, strings.Join(said, " "))
				return i + 1
			}
			if len(s) > 1 && strings.Trim(s, "-") == "" {
				p.heading(2, strings.Join(said, " "))
				return i + 1
			}
			if kind := blockOf(lines[i]); kind != text && kind != indented {
				break
			}
		}
		if strings.HasSuffix(lines[i], "  ") {
			s += "\\"
		}
		said = append(said, s)
	}
	if !tight {
		p.out.WriteString("<p>")
	}
	p.inline(strings.TrimSuffix(strings.Join(said, "\n"), "\\"))
	if !tight {
		p.out.WriteString("</p>")
	}
	p.out.WriteString("\n")
	return i
}
