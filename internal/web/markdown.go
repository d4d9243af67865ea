package web

import (
	"html"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"
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

// inline renders what is inside of a block.
func (p *prose) inline(s string) {
	in := &inline{s: s, link: p.link, ticks: tickRuns(s)}
	in.render()
	for _, part := range in.parts {
		p.out.WriteString(part)
	}
}

// An inline is the inside of a block being rendered. A mark that may open something
// is a part of its own, which stays the text that it is unless something closes it.
type inline struct {
	s     string
	at    int
	link  func(id string) string
	parts []string
	open  []opener
	ticks map[int][]int // where runs of backticks of a length begin
	run   int           // where the run of marks ends that was counted last
}

type opener struct {
	part int
	mark string // "*", "**", "_", "__", "~~", "[" or "!["
}

// tickRuns finds the runs of backticks.
func tickRuns(s string) map[int][]int {
	runs := make(map[int][]int)
	for i := 0; i < len(s); {
		n := 0
		for i+n < len(s) && s[i+n] == '`' {
			n++
		}
		if n == 0 {
			i++
			continue
		}
		runs[n] = append(runs[n], i)
		i += n
	}
	return runs
}

func (in *inline) render() {
	from := in.at
	flush := func() {
		if in.at > from {
			in.parts = append(in.parts, html.EscapeString(in.s[from:in.at]))
		}
	}
	for in.at < len(in.s) {
		c := in.s[in.at]
		if !strings.ContainsRune("\\`*_~[]!<\nh", rune(c)) || c >= utf8.RuneSelf {
			in.at++
			continue
		}
		before := in.at
		flush()
		if !in.special(c) {
			in.at = before
			from = before
			in.at++
			continue
		}
		from = in.at
	}
	flush()
}

func (in *inline) put(s string) { in.parts = append(in.parts, s) }

// special renders what begins here with a mark, and reports whether anything does.
// When it does not, nothing was put.
func (in *inline) special(c byte) bool {
	rest := in.s[in.at:]
	switch c {
	case '\\':
		if len(rest) > 1 && rest[1] == '\n' {
			in.put("<br>\n")
		} else if len(rest) > 1 && rest[1] < utf8.RuneSelf && (unicode.IsPunct(rune(rest[1])) || unicode.IsSymbol(rune(rest[1]))) {
			in.put(html.EscapeString(rest[1:2]))
		} else {
			return false
		}
		in.at += 2
		return true
	case '`':
		return in.code(rest)
	case '*', '_', '~':
		return in.emphasis(c, rest)
	case '!':
		if !strings.HasPrefix(rest, "![") {
			return false
		}
		in.opens("![")
		return true
	case '[':
		if in.mention(rest) {
			return true
		}
		in.opens("[")
		return true
	case ']':
		return in.closeLink(rest)
	case '<':
		end := strings.IndexByte(rest[:min(len(rest), maxAddress)], '>')
		if end < 0 || strings.ContainsAny(rest[1:end], " <\n") || onlyWeb(rest[1:end]) == "" {
			return false
		}
		in.anchor(rest[1:end], rest[1:end])
		in.at += end + 1
		return true
	case 'h':
		return in.bare(rest)
	}
	return false
}

// maxAddress is longer than any address that is meant to be followed.
const maxAddress = 1000

func (in *inline) opens(mark string) {
	in.open = append(in.open, opener{len(in.parts), mark})
	in.put(html.EscapeString(mark))
	in.at += len(mark)
}

// code renders what stands between two runs of backticks of one length.
func (in *inline) code(rest string) bool {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	runs := in.ticks[n]
	for len(runs) > 0 && runs[0] <= in.at {
		runs = runs[1:]
	}
	in.ticks[n] = runs
	if len(runs) == 0 {
		in.put(rest[:n])
		in.at += n
		return true
	}
	inner := strings.ReplaceAll(in.s[in.at+n:runs[0]], "\n", " ")
	if len(inner) > 2 && inner[0] == ' ' && inner[len(inner)-1] == ' ' && strings.TrimSpace(inner) != "" {
		inner = inner[1 : len(inner)-1]
	}
	in.put("<code>" + html.EscapeString(inner) + "</code>")
	in.at = runs[0] + n
	return true
}

// emphasis opens or closes what is emphasised.
func (in *inline) emphasis(c byte, rest string) bool {
	if in.at >= in.run { // else it is the rest of a run that was counted before
		in.run = in.at + len(rest) - len(strings.TrimLeft(rest, string(c)))
	}
	n := in.run - in.at
	mark := rest[:min(n, 2)]
	if c == '~' && len(mark) < 2 {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(in.s[:in.at])
	after, _ := utf8.DecodeRuneInString(rest[n:])
	space := func(r rune) bool { return r == utf8.RuneError || unicode.IsSpace(r) }
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	opens := !space(after) && (c != '_' || !word(before))
	closes := !space(before) && (c != '_' || !word(after))
	if closes && (in.closes(func(o string) bool { return o == mark }) || in.closes(func(o string) bool { return o[0] == c && len(o) <= n })) {
		return true
	}
	if !opens {
		in.put(rest[:n])
		in.at += n
		return true
	}
	in.opens(mark)
	return true
}

// closes ends the innermost emphasis of some marks, and reports whether there was one.
func (in *inline) closes(some func(mark string) bool) bool {
	for i := len(in.open) - 1; i >= 0 && i >= len(in.open)-maxNesting; i-- {
		o := in.open[i]
		if o.mark == "[" || o.mark == "![" {
			return false // what is inside of a link ends there
		}
		if !some(o.mark) {
			continue
		}
		tag := map[string]string{"*": "em", "_": "em", "**": "strong", "__": "strong", "~~": "del"}[o.mark]
		in.parts[o.part] = "<" + tag + ">"
		in.put("</" + tag + ">")
		in.open = in.open[:i]
		in.at += len(o.mark)
		return true
	}
	return false
}

// mention renders [[id]], if there is such a node.
func (in *inline) mention(rest string) bool {
	if !strings.HasPrefix(rest, "[[") {
		return false
	}
	end := strings.Index(rest[:min(len(rest), maxAddress)], "]]")
	if end < 0 {
		return false
	}
	id := rest[2:end]
	to := in.link(id)
	if to == "" {
		return false
	}
	in.put(`<a href="` + html.EscapeString(to) + `">` + html.EscapeString(id) + `</a>`)
	in.at += end + 2
	return true
}

// closeLink ends a link or a picture: [words](address).
func (in *inline) closeLink(rest string) bool {
	i := len(in.open) - 1
	for i >= 0 && i >= len(in.open)-maxNesting && in.open[i].mark != "[" && in.open[i].mark != "![" {
		i--
	}
	if i < 0 || in.open[i].mark != "[" && in.open[i].mark != "![" {
		return false
	}
	o := in.open[i]
	end := -1
	if strings.HasPrefix(rest, "](") {
		end = balanced(rest[:min(len(rest), maxAddress)])
	}
	if end < 0 {
		in.open = in.open[:i] // it is no link, and stays what it is
		return false
	}
	to, _, _ := strings.Cut(strings.TrimSpace(rest[2:end]), " ")
	in.open = in.open[:i]
	if strings.HasPrefix(to, "<") && strings.HasSuffix(to, ">") {
		to = to[1 : len(to)-1]
	}
	switch to = onlyWeb(to); {
	case o.mark == "![":
		in.parts[o.part] = `<span class="nolink">[picture: `
		in.put("]</span>")
	case to == "":
		in.parts[o.part] = `<span class="nolink">`
		in.put("</span>")
	default:
		in.parts[o.part] = `<a rel="noopener noreferrer" href="` + html.EscapeString(to) + `">`
		in.put("</a>")
	}
	in.at += end + 1
	return true
}

// balanced returns where the first parenthesis of a text is closed, on the same line; -1
// for nowhere.
func balanced(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '\n':
			return -1
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// bare renders an address that stands in the text.
func (in *inline) bare(rest string) bool {
	if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") {
		return false
	}
	if r, _ := utf8.DecodeLastRuneInString(in.s[:in.at]); in.at > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return false
	}
	for _, o := range in.open[max(0, len(in.open)-maxNesting):] {
		if o.mark == "[" {
			return false // a link holds no link
		}
	}
	end := strings.IndexAny(rest[:min(len(rest), maxAddress)], " \t\n<>\"'`)]*|")
	if end < 0 {
		end = min(len(rest), maxAddress)
	}
	to := strings.TrimRight(rest[:end], ".,;:!?\\")
	if !utf8.ValidString(to) || len(to) < len("http://x") {
		return false
	}
	in.anchor(to, to)
	in.at += len(to)
	return true
}

func (in *inline) anchor(to, words string) {
	in.put(`<a rel="noopener noreferrer" href="` + html.EscapeString(to) + `">` + html.EscapeString(words) + `</a>`)
}

// onlyWeb returns an address of the web as it is, and "" for all others: a path leads
// nowhere here.
func onlyWeb(to string) string {
	lower := strings.ToLower(to)
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		if strings.HasPrefix(lower, scheme) && !strings.ContainsFunc(to, unicode.IsControl) {
			return to
		}
	}
	return ""
}
