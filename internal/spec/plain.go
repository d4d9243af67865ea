package spec

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// plain takes frontmatter that is not YAML as a whole. It is made of fields all
// the same, one below the other, and each is read for itself: as YAML if it can
// be, else as a plain line, "name: the rest of it", with lists below it item by
// item. One odd field then spoils no other.
func (t *fieldDecoder) plain(text string) {
	var s *section
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		number := i + 2
		blank := strings.TrimSpace(line) == ""
		switch name, rest, ok := cutName(line); {
		case ok:
			t.section(s)
			s = &section{name: name, rest: rest, line: number, lines: []string{line}}
		case blank || line[0] == '#':
			s.add("")
		case s != nil && (strings.ContainsAny(line[:1], " \t]}") || isItem(line)):
			s.add(line)
		default:
			t.lost(number, line)
			s.add("")
		}
	}
	t.section(s)
}

// lost tells of a line that nobody understands.
func (t *fieldDecoder) lost(number int, line string) {
	t.problem(number, "write name: \"value\"; quote values with special characters",
		"%s is not a field of the frontmatter", show(strings.TrimSpace(line)))
}

// A section is one field with the lines below it.
type section struct {
	name, rest string
	line       int      // of the file
	lines      []string // as they are, the first one with the name
}

// add puts a line below a section's others; nothing is below none.
func (s *section) add(line string) {
	if s != nil {
		s.lines = append(s.lines, line)
	}
}

// section takes one field; nil is none.
func (t *fieldDecoder) section(s *section) {
	if s == nil {
		return
	}
	if doc, ok := parse(strings.Join(s.lines, "\n")); ok && doc != nil && doc.Kind == yaml.MappingNode && len(doc.Content) == 2 {
		t.shift = s.line - 1
		t.mapping(doc)
		return
	}
	t.shift = 0
	t.field(s.name, s.line, t.plainValue(s))
}

// plainValue reads a field as a plain line and the items below it.
func (t *fieldDecoder) plainValue(s *section) *yaml.Node {
	value := &yaml.Node{Kind: yaml.SequenceNode, Line: s.line}
	if isList(s.name) {
		for _, part := range splitCommas(unbracket(s.rest)) {
			value.Content = append(value.Content, plainText(uncomment(part), s.line))
		}
	} else if s.rest != "" {
		value.Content = append(value.Content, plainText(s.rest, s.line))
	}
	text := len(value.Content) == 1 && !isList(s.name)
	var more []string // of a text
	for i, line := range s.lines[1:] {
		number := s.line + 1 + i
		_, _, named := cutName(strings.TrimSpace(line))
		switch {
		case strings.TrimSpace(line) == "":
		case isItem(line):
			item := strings.TrimSpace(strings.TrimSpace(line)[1:])
			value.Content = append(value.Content, plainText(uncomment(item), number))
			text = false
		case text && !named:
			more = append(more, strings.TrimSpace(line)) // it goes on below, indented
		default:
			t.lost(number, line)
		}
	}
	if text {
		only := value.Content[0]
		only.Value = strings.Join(append([]string{only.Value}, more...), " ")
		return only
	}
	return value
}

// cutName takes a line apart that begins with the name of a field. The colon
// wants a space behind it, unless the name is known.
func cutName(line string) (name, rest string, ok bool) {
	name, rest, ok = strings.Cut(line, ":")
	name = strings.TrimRight(name, " \t")
	if len(name) > 2 && (name[0] == '"' || name[0] == '\'') && name[len(name)-1] == name[0] {
		name = name[1 : len(name)-1]
	}
	if !ok || name == "" || strings.ContainsFunc(name, unicode.IsSpace) || strings.ContainsAny(name[:1], "-#?&*!|>%@`\"'[{") {
		return "", "", false
	}
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' && place(&Node{}, name) == nil {
		return "", "", false
	}
	return name, strings.TrimSpace(rest), true
}

// isItem reports whether a line is an item of a list.
func isItem(line string) bool {
	s := strings.TrimSpace(line)
	return s == "-" || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "-\t")
}

// plainText returns a text, without its quotes if it is all in quotes.
func plainText(s string, line int) *yaml.Node {
	s = strings.TrimSpace(s)
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Line: line}
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if q, ok := parse(s); ok && q != nil && q.Kind == yaml.ScalarNode {
			n.Value, n.Style = q.Value, q.Style
		}
	}
	return n
}

// unbracket returns what a list in brackets holds, or s.
func unbracket(s string) string {
	if t := uncomment(s); strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]") && strings.Count(t, "[") == strings.Count(t, "]") {
		return t[1 : len(t)-1]
	}
	return s
}

// uncomment returns s without a comment that ends it, set off as YAML wants it.
func uncomment(s string) string {
	for i := 1; i < len(s); i++ {
		if s[i] == '#' && (s[i-1] == ' ' || s[i-1] == '\t') && s[0] != '"' && s[0] != '\'' {
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}
