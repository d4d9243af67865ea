package web

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
