package parse

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

// Limits that no spec written by hand reaches.
const (
	maxBytes   = 1 << 20 // the size of a file
	maxEntries = 5_000   // the entries of a list
	maxValues  = 20_000  // the values of the unknown fields of a file; the values of an alias count for each use
)

// A Field is a frontmatter field that ken does not know.
type Field struct {
	Name string
	// Value is the string as written, nil for null, or a []any or map[string]any of such values.
	Value any
	Line  int // the line of the file
}

// Decode returns the text of a file: without a byte order mark, with \n line ends, and without the part beyond the
// size limit.
func (n *Node) Decode(content []byte) string {
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

// invalid returns the offset of the first byte that is not UTF-8, -1 without one.
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

// split splits a file into its frontmatter, which begins on line 2, and its body, which begins on line first.
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
	n.CodeUnknown = "its frontmatter has no end"
	return "", text, 1
}

func isRule(line string) bool { return strings.TrimRight(line, " \t") == "---" }

// readFront decodes the frontmatter. Its first line is line 2 of the file.
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

// parse parses a text as one YAML document. It returns nil for an empty document, and false if any part of the
// text is not YAML.
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

// follow resolves an alias.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// A fieldDecoder decodes frontmatter fields into a Node.
type fieldDecoder struct {
	node  *Node
	lines map[string]int // the line of each field
	shift int            // the difference between line numbers of the file and of the YAML text
	seen  int            // the number of values of unknown fields
}

// problem adds a problem about a line of the frontmatter.
func (f *fieldDecoder) problem(line int, fix, format string, args ...any) {
	f.node.problem(Problem{Rule: RuleFrontmatter, Line: line, Message: fmt.Sprintf(format, args...), Fix: fix})
}

// mapping decodes the fields of a mapping.
func (f *fieldDecoder) mapping(n *yaml.Node) {
	if n == nil {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := follow(n.Content[i])
		if key.Kind != yaml.ScalarNode {
			f.problem(n.Content[i].Line+f.shift, "start it with a name, such as title: value", "field without a plain name")
			continue
		}
		f.field(key.Value, n.Content[i].Line+f.shift, n.Content[i+1])
	}
}

// fieldOf returns a pointer to the Node field with a name, a *string or a *[]Entry. It returns nil for an unknown
// name.
func fieldOf(n *Node, name string) any {
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

// isList reports whether a field is a list of entries.
func isList(name string) bool { return name == "code" || name == "related" }

// isProse reports whether a field is a text for people.
func isProse(name string) bool { return name == "title" || name == "desc" }

// field decodes one field. If a field appears twice, the first one counts.
func (f *fieldDecoder) field(name string, line int, value *yaml.Node) {
	if first, again := f.lines[name]; again {
		f.problem(line, "keep one of the two", "%s appears twice; ken reads line %d", Quote(name), first)
		return
	}
	f.lines[name] = line
	switch at := fieldOf(f.node, name).(type) {
	case *string:
		*at = f.text(name, line, value)
	case *[]Entry:
		*at = f.entries(name, value)
	default:
		f.extra(name, line, value)
	}
	if name == "title" {
		f.node.Title = strings.Join(strings.Fields(f.node.Title), " ") // titles are shown on one line
	}
}

// extra stores an unknown field.
func (f *fieldDecoder) extra(name string, line int, value *yaml.Node) {
	before := f.seen
	v := f.value(value)
	if f.seen > maxValues {
		f.problem(line, "make it shorter", "%s has too many values; ken ignores it", Quote(name))
		f.seen = before
		return
	}
	f.node.Extra = append(f.node.Extra, Field{Name: name, Value: v, Line: line})
}

// text decodes a text field, "" for null.
func (f *fieldDecoder) text(name string, line int, n *yaml.Node) string {
	n = follow(n)
	if n.Kind != yaml.ScalarNode {
		f.problem(line, fmt.Sprintf("write it as %s: \"…\"", name), "%s is %s, not a text", name, kind(n))
		return ""
	}
	if isNull(n) {
		return ""
	}
	text := strings.TrimSpace(n.Value)
	// In YAML, a # after a space starts a comment. In a title or description, "see #12" is text: only a # with a
	// space on both sides starts a comment there.
	if isProse(name) && n.Style == 0 && len(n.LineComment) > 1 && n.LineComment[1] != ' ' && n.LineComment[1] != '\t' {
		comment, _, _ := strings.Cut(n.LineComment, "\n")
		text += " " + strings.TrimSpace(comment)
	}
	return text
}

// kind returns the name of the kind of a node that should be a text.
func kind(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	return "a mapping"
}

// entries decodes a list of entries.
func (f *fieldDecoder) entries(name string, n *yaml.Node) []Entry {
	var list []Entry
	seen := make(map[Entry]bool)
	for _, item := range items(n) {
		line := item.Line + f.shift
		item = follow(item)
		if item.Kind != yaml.ScalarNode {
			f.problem(line, "write one path per line, such as - \"src/a.go\"", "an entry of %s is %s, not a path", name, kind(item))
			if name == "code" {
				f.node.CodeUnknown = "ken cannot read an entry of its code"
			}
			continue
		}
		if isNull(item) || strings.TrimSpace(item.Value) == "" {
			continue
		}
		e, err := ReadEntry(item.Value)
		if err != nil {
			f.node.problem(Problem{
				Rule: RuleEntry, Line: line,
				Message: fmt.Sprintf("%s: %v", name, err), Fix: fault.HintOf(err),
			})
			continue
		}
		// Drop an entry that names the same files as an earlier one.
		key := Entry{Path: e.Path, Symbol: e.Symbol, Kind: e.Kind}
		if seen[key] {
			continue
		}
		if len(list) == maxEntries {
			f.problem(line, "use directories or globs instead", "%s has more than %d entries; ken ignores the rest", name, maxEntries)
			break
		}
		seen[key] = true
		list = append(list, e)
	}
	return list
}

// items returns the items of a field: the items of a list, or the comma-separated parts of a text that is not
// quoted.
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

// splitCommas splits a text at commas, except those within braces or quotes.
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

// value returns the value of an unknown field, as described at [Field].
func (f *fieldDecoder) value(n *yaml.Node) any {
	// An alias may contain itself; the limit ends that recursion, too.
	if f.seen++; f.seen > maxValues {
		return nil
	}
	n = follow(n)
	switch {
	case isNull(n):
		return nil
	case n.Kind == yaml.SequenceNode:
		list := make([]any, 0, min(len(n.Content), maxValues))
		for _, item := range n.Content {
			if f.seen > maxValues {
				break
			}
			list = append(list, f.value(item))
		}
		return list
	case n.Kind == yaml.MappingNode:
		m := make(map[string]any)
		for i := 0; i+1 < len(n.Content) && f.seen <= maxValues; i += 2 {
			key := follow(n.Content[i])
			m[key.Value] = f.value(n.Content[i+1])
		}
		return m
	default:
		return n.Value
	}
}
