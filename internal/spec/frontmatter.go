package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"ken/internal/fault"
)

// What is written by hand stays far below these.
const (
	maxBytes   = 1 << 20 // of a file
	maxEntries = 5_000   // of a list
	maxValues  = 20_000  // of the unknown fields of a file, those of an alias as often as it is used
)

// A Field is a frontmatter field that ken does not know.
type Field struct {
	Name string
	// Value is a string as it was written, nil for none, a []any or a
	// map[string]any of the same.
	Value any
	Line  int // of the file
}

// decode returns the text of a file: as much of it as ken reads, with no mark at
// the front and with \n at the end of every line.
func (n *Node) decode(content []byte) string {
	if len(content) > maxBytes {
		content = content[:bytes.LastIndexByte(content[:maxBytes], '\n')+1]
		n.problem(Problem{
			Rule: RuleFile, Line: bytes.Count(content, []byte("\n")) + 1,
			Message: fmt.Sprintf("the file is larger than %d bytes; ken does not read the rest", maxBytes),
			Fix:     "move parts of it into other files",
		})
	}
	if bad := invalid(content); bad >= 0 {
		n.problem(Problem{
			Rule: RuleFile, Line: bytes.Count(content[:bad], []byte("\n")) + 1,
			Message: "the file is not UTF-8", Fix: "save it as UTF-8",
		})
	}
	content = bytes.TrimPrefix(content, []byte("\uFEFF"))
	return strings.ReplaceAll(string(content), "\r\n", "\n")
}

// invalid returns where b stops being UTF-8, -1 if it never does.
func invalid(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}

// split takes a file apart into its frontmatter, which begins on line 2, and its
// body, which begins on line first.
func (n *Node) split(text string) (front, body string, first int) {
	line, rest, _ := strings.Cut(text, "\n")
	if !isRule(line) {
		return "", text, 1
	}
	number := 2
	for at := 0; at < len(rest); number++ {
		line, _, _ := strings.Cut(rest[at:], "\n")
		next := min(at+len(line)+1, len(rest))
		if isRule(line) {
			return rest[:at], rest[next:], number + 1
		}
		at = next
	}
	n.problem(Problem{
		Rule: RuleFrontmatter, Line: 1,
		Message: "the frontmatter has no end: ken reads the whole file as text",
		Fix:     "add a line --- after the last field",
	})
	n.Blind = "its frontmatter has no end"
	return "", text, 1
}

func isRule(line string) bool { return strings.TrimRight(line, " \t") == "---" }

// readFront takes the fields of the frontmatter, whose first line is the file's
// second.
func (n *Node) readFront(text string) {
	if text == "" {
		return
	}
	t := fieldDecoder{node: n, lines: make(map[string]int)}
	if doc, ok := parse(text); ok && (doc == nil || doc.Kind == yaml.MappingNode) {
		t.shift = 1
		t.mapping(doc)
		return
	}
	t.plain(text)
}

// parse returns what a text means in YAML, nil when it holds nothing. It must be
// YAML to its last line.
func parse(text string) (*yaml.Node, bool) {
	d := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, true
	} else if err != nil || len(doc.Content) != 1 {
		return nil, false
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, false
	}
	if isNull(doc.Content[0]) {
		return nil, true
	}
	return doc.Content[0], true
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// follow returns what a node stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// A fieldDecoder puts the fields of the frontmatter where they belong in a node.
type fieldDecoder struct {
	node  *Node
	lines map[string]int // where each field was first given
	shift int            // what the lines of YAML at hand lack to those of the file
	seen  int            // values of unknown fields
}

// problem notes what is wrong about a line of the frontmatter.
func (t *fieldDecoder) problem(line int, fix, format string, args ...any) {
	t.node.problem(Problem{Rule: RuleFrontmatter, Line: line, Message: fmt.Sprintf(format, args...), Fix: fix})
}

// mapping takes the fields of a mapping.
func (t *fieldDecoder) mapping(n *yaml.Node) {
	if n == nil {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := follow(n.Content[i])
		if key.Kind != yaml.ScalarNode {
			t.problem(n.Content[i].Line+t.shift, "start it with a name, such as title: value", "field without a plain name")
			continue
		}
		t.field(key.Value, n.Content[i].Line+t.shift, n.Content[i+1])
	}
}

// place returns where in a node a field belongs, a *string or a *[]Entry, nil if
// ken does not know the field.
func place(n *Node, name string) any {
	switch name {
	case "title":
		return &n.Title
	case "desc":
		return &n.Desc
	case "status":
		return &n.Declared
	case "session":
		return &n.Session
	case "hue":
		return &n.Hue
	case "code":
		return &n.Code
	case "related":
		return &n.Related
	default:
		return nil
	}
}

// isList reports whether a field is one that names files.
func isList(name string) bool { return name == "code" || name == "related" }

// isProse reports whether a field is one that people read.
func isProse(name string) bool { return name == "title" || name == "desc" }

// field takes the value of one field. A field that is given twice counts as it
// was given first.
func (t *fieldDecoder) field(name string, line int, value *yaml.Node) {
	if first, again := t.lines[name]; again {
		t.problem(line, "keep one of the two", "%s appears twice; ken reads line %d", show(name), first)
		return
	}
	t.lines[name] = line
	switch at := place(t.node, name).(type) {
	case *string:
		*at = t.text(name, line, value)
	case *[]Entry:
		*at = t.entries(name, value)
	default:
		t.extra(name, line, value)
	}
	if name == "title" {
		t.node.Title = strings.Join(strings.Fields(t.node.Title), " ") // it is shown on one line
	}
}

// extra keeps a field that ken does not know.
func (t *fieldDecoder) extra(name string, line int, value *yaml.Node) {
	before := t.seen
	v := t.value(value)
	if t.seen > maxValues {
		t.problem(line, "make it shorter", "%s has too many values; ken ignores it", show(name))
		t.seen = before
		return
	}
	t.node.Extra = append(t.node.Extra, Field{Name: name, Value: v, Line: line})
}

// text returns a text, "" if there is none.
func (t *fieldDecoder) text(name string, line int, n *yaml.Node) string {
	n = follow(n)
	if n.Kind != yaml.ScalarNode {
		t.problem(line, fmt.Sprintf("write it as %s: \"…\"", name), "%s is %s, not a text", name, kind(n))
		return ""
	}
	if isNull(n) {
		return ""
	}
	text := strings.TrimSpace(n.Value)
	// To YAML a # behind a space begins a comment. To people it does so with a
	// space on either side, while "see #12" is a text, which ends with its line.
	if isProse(name) && n.Style == 0 && len(n.LineComment) > 1 && n.LineComment[1] != ' ' && n.LineComment[1] != '\t' {
		comment, _, _ := strings.Cut(n.LineComment, "\n")
		text += " " + strings.TrimSpace(comment)
	}
	return text
}

// kind names what a node is that should be a text.
func kind(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	return "a mapping"
}

// entries returns the entries of a field that names files.
func (t *fieldDecoder) entries(name string, n *yaml.Node) []Entry {
	var list []Entry
	seen := make(map[Entry]bool)
	for _, item := range items(n) {
		line := item.Line + t.shift
		item = follow(item)
		if item.Kind != yaml.ScalarNode {
			t.problem(line, "write one path per line, such as - \"src/a.go\"", "an entry of %s is %s, not a path", name, kind(item))
			if name == "code" {
				t.node.Blind = "ken cannot read an entry of its code"
			}
			continue
		}
		if isNull(item) || strings.TrimSpace(item.Value) == "" {
			continue
		}
		e, err := ParseEntry(item.Value)
		if err != nil {
			t.node.problem(Problem{
				Rule: RuleEntry, Line: line,
				Message: fmt.Sprintf("%s: %v", name, err), Fix: fault.HintOf(err),
			})
			continue
		}
		// An entry given twice, however it is spelt, governs once.
		key := Entry{Path: e.Path, Symbol: e.Symbol, Kind: e.Kind}
		if seen[key] {
			continue
		}
		if len(list) == maxEntries {
			t.problem(line, "use directories or globs instead", "%s has more than %d entries; ken ignores the rest", name, maxEntries)
			break
		}
		seen[key] = true
		list = append(list, e)
	}
	return list
}

// items returns what a field lists: the items of a list, or of a text the parts
// between its commas, unless it is in quotes.
func items(n *yaml.Node) []*yaml.Node {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
	const block = yaml.LiteralStyle | yaml.FoldedStyle
	line := n.Line
	n = follow(n)
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	if n.Kind != yaml.ScalarNode || n.Style&quoted != 0 {
		return []*yaml.Node{n}
	}
	var parts []string
	if n.Style&block != 0 {
		parts = strings.Split(n.Value, "\n")
	} else {
		parts = splitCommas(n.Value)
	}
	if len(parts) == 1 {
		return []*yaml.Node{n}
	}
	list := make([]*yaml.Node, len(parts))
	for i, p := range parts {
		list[i] = plainText(p, line)
	}
	return list
}

// splitCommas returns what stands between the commas of a text. A comma within
// braces or quotes is no separator.
func splitCommas(s string) []string {
	var parts []string
	from, depth := 0, 0
	var quote rune
	for i, r := range s {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case (r == '"' || r == '\'') && strings.TrimSpace(s[from:i]) == "":
			quote = r
		case r == '{':
			depth++
		case r == '}':
			depth = max(depth-1, 0)
		case r == ',' && depth == 0:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// value returns the value of an unknown field, as [Field] describes it.
func (t *fieldDecoder) value(n *yaml.Node) any {
	// An alias may lead to what it is part of; counting ends that too.
	if t.seen++; t.seen > maxValues {
		return nil
	}
	n = follow(n)
	switch {
	case isNull(n):
		return nil
	case n.Kind == yaml.SequenceNode:
		list := make([]any, 0, min(len(n.Content), maxValues))
		for _, item := range n.Content {
			if t.seen > maxValues {
				break
			}
			list = append(list, t.value(item))
		}
		return list
	case n.Kind == yaml.MappingNode:
		m := make(map[string]any)
		for i := 0; i+1 < len(n.Content) && t.seen <= maxValues; i += 2 {
			key := follow(n.Content[i])
			m[key.Value] = t.value(n.Content[i+1])
		}
		return m
	default:
		return n.Value
	}
}
