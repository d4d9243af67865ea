package parse

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// plain decodes frontmatter that is not valid YAML as a whole. It decodes each field on its own: as YAML if
// possible, else as a plain line "name: value" with the list items below it. So an invalid field does not affect
// the others.
func (f *fieldDecoder) plain(text string) {
	var s *section
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		number := i + 2
		blank := strings.TrimSpace(line) == ""
		switch name, rest, ok := cutName(line); {
		case ok:
			f.section(s)
			s = &section{name: name, rest: rest, line: number, lines: []string{line}}
		case blank || line[0] == '#':
			s.add("")
		case s != nil && (strings.ContainsAny(line[:1], " \t]}") || isItem(line)):
			s.add(line)
		default:
			f.unreadable(number, line)
			s.add("")
		}
	}
	f.section(s)
}

// unreadable adds a problem for a line that is no field.
func (f *fieldDecoder) unreadable(number int, line string) {
	f.problem(number, "write name: \"value\"; quote values with special characters",
		"%s is not a field of the frontmatter", Quote(strings.TrimSpace(line)))
}

// A section is one field with the lines below it.
type section struct {
	name, rest string
	line       int      // the line of the file
	lines      []string // the lines, starting with the one that has the name
}

// add appends a line to a section; a nil section ignores it.
func (s *section) add(line string) {
	if s != nil {
		s.lines = append(s.lines, line)
	}
}

// section decodes one field; nil means none.
func (f *fieldDecoder) section(s *section) {
	if s == nil {
		return
	}
	if doc, ok := parse(strings.Join(s.lines, "\n")); ok && doc != nil && doc.Kind == yaml.MappingNode && len(doc.Content) == 2 {
		f.shift = s.line - 1
		f.mapping(doc)
		return
	}
	f.shift = 0
	f.field(s.name, s.line, f.plainValue(s))
}

// plainValue decodes a field as a plain line and the items below it.
func (f *fieldDecoder) plainValue(s *section) *yaml.Node {
	value := &yaml.Node{Kind: yaml.SequenceNode, Line: s.line}
	if isList(s.name) {
		for _, part := range splitCommas(unbracket(s.rest)) {
			value.Content = append(value.Content, plainText(uncomment(part), s.line))
		}
	} else if s.rest != "" {
		value.Content = append(value.Content, plainText(s.rest, s.line))
	}
	text := len(value.Content) == 1 && !isList(s.name)
	var more []string // more lines of a text
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
			more = append(more, strings.TrimSpace(line)) // an indented continuation line
		default:
			f.unreadable(number, line)
		}
	}
	if text {
		only := value.Content[0]
		only.Value = strings.Join(append([]string{only.Value}, more...), " ")
		return only
	}
	return value
}

// cutName splits a line at the colon after a field name. A space must follow the colon, unless the name is known.
func cutName(line string) (name, rest string, ok bool) {
	name, rest, ok = strings.Cut(line, ":")
	name = strings.TrimRight(name, " \t")
	if len(name) > 2 && (name[0] == '"' || name[0] == '\'') && name[len(name)-1] == name[0] {
		name = name[1 : len(name)-1]
	}
	if !ok || name == "" || strings.ContainsFunc(name, unicode.IsSpace) || strings.ContainsAny(name[:1], "-#?&*!|>%@`\"'[{") {
		return "", "", false
	}
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' && fieldOf(&Node{}, name) == nil {
		return "", "", false
	}
	return name, strings.TrimSpace(rest), true
}

// isItem reports whether a line is an item of a list.
func isItem(line string) bool {
	s := strings.TrimSpace(line)
	return s == "-" || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "-\t")
}

// plainText returns a text, without its quotes if it is quoted as a whole.
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

// unbracket returns the content of a list in brackets, or s.
func unbracket(s string) string {
	if t := uncomment(s); strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]") && strings.Count(t, "[") == strings.Count(t, "]") {
		return t[1 : len(t)-1]
	}
	return s
}

// uncomment removes a YAML comment from the end of s.
func uncomment(s string) string {
	for i := 1; i < len(s); i++ {
		if s[i] == '#' && (s[i-1] == ' ' || s[i-1] == '\t') && s[0] != '"' && s[0] != '\'' {
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}
