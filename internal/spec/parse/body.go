package parse

import (
	"fmt"
	"slices"
	"strings"
)

// Parts are the two sections that a body may have.
type Parts struct {
	RawSource string `json:"raw_source"`
	Expanded  string `json:"expanded_spec"`
}

// The headings of the parts.
const (
	rawSource = "raw source"
	expanded  = "expanded spec"
)

// readBody reads the sections of a body, which begins on line first of the file. It takes the title from the first
// heading if there is none yet.
func (n *Node) readBody(body string, first int) {
	n.Body, n.BodyLine = body, first
	heads := Headings(body)
	seen := make(map[string]int)
	for i, h := range heads {
		if h.level == 1 && n.Title == "" {
			n.Title = h.Text
		}
		name := part(h)
		if name == "" {
			continue
		}
		line := first + h.Line
		if before, again := seen[name]; again {
			n.problem(Problem{
				Rule: RuleBody, Line: line,
				Message: fmt.Sprintf("second section %q; ken reads the one on line %d", name, before),
				Fix:     "join the two sections",
			})
			continue
		}
		seen[name] = line
		// Other headings belong to the section.
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

// part returns the section that a heading starts, "" for another heading.
func part(h heading) string {
	for _, name := range []string{rawSource, expanded} {
		if h.level == 2 && strings.EqualFold(h.Text, name) {
			return name
		}
	}
	return ""
}

// A heading is a heading of level one or two.
type heading struct {
	level      int
	Text       string
	Line       int // from 0
	start, end int // offsets of its line in the body
}

// Headings returns the headings of levels one and two that begin with #, in order. As in CommonMark, it skips
// fences, indented code and comments.
func Headings(body string) []heading {
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
					found = append(found, heading{level: level, Text: text, Line: number, start: start, end: at})
				}
			}
		}
		number++
	}
	return found
}

// outdent returns a line without its indentation. ok is false if the line is indented so far that it is code.
func outdent(line string) (s string, ok bool) {
	s = strings.TrimLeft(line, " ")
	return s, len(line)-len(s) < 4 && !strings.HasPrefix(s, "\t")
}

// A fence is an open code fence. The zero value is none.
type fence struct {
	char     byte
	size     int
	language string // the language in the info string, "" without one
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

// atx returns the level and the text of a heading that begins with #. The level is 0 if the line is no heading.
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
