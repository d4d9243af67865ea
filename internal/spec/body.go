package spec

import (
	"fmt"
	"slices"
	"strings"
)

// Parts are what a body is made of, when it is.
type Parts struct {
	RawSource string `json:"raw_source"`
	Expanded  string `json:"expanded_spec"`
}

// The headings of the parts.
const (
	rawSource = "raw source"
	expanded  = "expanded spec"
)

// readBody takes the body, which begins on line first of the file: its parts, and
// a title if there is none yet.
func (n *Node) readBody(body string, first int) {
	n.Body, n.BodyLine = body, first
	heads := headings(body)
	seen := make(map[string]int)
	for i, h := range heads {
		if h.level == 1 && n.Title == "" {
			n.Title = h.text
		}
		name := part(h)
		if name == "" {
			continue
		}
		line := first + h.line
		if before, again := seen[name]; again {
			n.problem(Problem{
				Rule: RuleBody, Line: line,
				Message: fmt.Sprintf("second section %q; ken reads the one on line %d", name, before),
				Fix:     "join the two sections",
			})
			continue
		}
		seen[name] = line
		// Other headings are the part's own.
		end := len(body)
		if next := slices.IndexFunc(heads[i+1:], func(h heading) bool { return part(h) != "" }); next >= 0 {
			end = heads[i+1+next].start
		}
		if n.Parts == nil {
			n.Parts = &Parts{}
		}
		text := trimBlank(body[h.end:end])
		if name == rawSource {
			n.Parts.RawSource = text
		} else {
			n.Parts.Expanded = text
		}
	}
}

// part returns which part a heading opens, "" for none.
func part(h heading) string {
	for _, name := range []string{rawSource, expanded} {
		if h.level == 2 && strings.EqualFold(h.text, name) {
			return name
		}
	}
	return ""
}

// A heading is one of level one or two.
type heading struct {
	level      int
	text       string
	line       int // from 0
	start, end int // where its line lies in the body
}

// headings returns the headings of levels one and two that begin with #s, in
// order, as CommonMark sees them: not those in fences, in indented code or in
// comments.
func headings(body string) []heading {
	var found []heading
	var open fence
	comment := false
	at, number := 0, 0
	for line := range strings.Lines(body) {
		start := at
		at += len(line)
		line = strings.TrimSuffix(line, "\n")
		switch {
		case open.size > 0:
			if open.closedBy(line) {
				open = fence{}
			}
		case comment:
			comment = !strings.Contains(line, "-->")
		default:
			s, ok := outdent(line)
			if !ok {
				break
			}
			if strings.HasPrefix(s, "<!--") {
				comment = !strings.Contains(s, "-->")
			} else if open = opens(s); open.size == 0 {
				if level, text := atx(s); level == 1 || level == 2 {
					found = append(found, heading{level: level, text: text, line: number, start: start, end: at})
				}
			}
		}
		number++
	}
	return found
}

// outdent returns a line without its indentation; ok is false when that is so
// deep that the line is code.
func outdent(line string) (s string, ok bool) {
	s = strings.TrimLeft(line, " ")
	return s, len(line)-len(s) < 4 && !strings.HasPrefix(s, "\t")
}

// A fence is what code is put between. The zero value is none.
type fence struct {
	char     byte
	size     int
	language string // of the code, as it is called there; "" if it is not
}

// opens returns the fence that a line opens.
func opens(s string) fence {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return fence{}
	}
	info := strings.TrimLeft(s, s[:1])
	size := len(s) - len(info)
	if size < 3 || s[0] == '`' && strings.Contains(info, "`") {
		return fence{}
	}
	f := fence{char: s[0], size: size}
	if words := strings.Fields(info); len(words) > 0 {
		f.language = words[0]
	}
	return f
}

// closedBy reports whether a line closes the fence.
func (f fence) closedBy(line string) bool {
	s, ok := outdent(line)
	s = strings.TrimRight(s, " \t")
	return ok && len(s) >= f.size && strings.Trim(s, string(rune(f.char))) == ""
}

// atx returns the level and the text of a heading that begins with #s, 0 if the
// line is none.
func atx(s string) (level int, text string) {
	text = strings.TrimLeft(s, "#")
	level = len(s) - len(text)
	if level == 0 || level > 6 || text != "" && text[0] != ' ' && text[0] != '\t' {
		return 0, ""
	}
	text = strings.TrimSpace(text)
	if t := strings.TrimRight(text, "#"); t == "" || t[len(t)-1] == ' ' || t[len(t)-1] == '\t' {
		text = strings.TrimSpace(t)
	}
	return level, text
}

// trimBlank returns s without the blank lines around it.
func trimBlank(s string) string {
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			break
		}
		s = s[len(line):]
	}
	return strings.TrimRight(s, " \t\n")
}
