package workflow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A Document is the workflow document: a YAML mapping whose order and comments
// survive every change. A nil one has no keys.
type Document struct{ m *yaml.Node } // a mapping

// A CorruptError says where a document cannot be read.
type CorruptError struct {
	Line int // from 1; 0 for the whole document
	What string
}

func (e *CorruptError) Error() string {
	if e.Line == 0 {
		return e.What
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.What)
}

// NewDocument returns an empty document.
func NewDocument() *Document {
	return &Document{&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}}
}

// parseDocument reads a document. It returns a *CorruptError for anything but one
// mapping with unique text keys, and for an empty file, which no writer leaves.
func parseDocument(b []byte) (*Document, error) {
	if line := conflictLine(b); line > 0 {
		return nil, &CorruptError{line, "an unresolved merge conflict"}
	}
	d, err := parseYAML(b)
	if err == nil {
		return d, nil
	}
	if other := requote(string(b)); other != string(b) && !usesAlias(err) {
		if d, err := parseYAML([]byte(other)); err == nil {
			return d, nil
		}
	}
	return nil, err
}

func parseYAML(b []byte) (*Document, error) {
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var root, more yaml.Node
	if err := dec.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &CorruptError{0, "the file is empty"}
		}
		return nil, corrupt(err)
	}
	if err := dec.Decode(&more); err == nil {
		return nil, &CorruptError{more.Line, "a second YAML document"}
	} else if !errors.Is(err, io.EOF) {
		return nil, corrupt(err)
	}
	m := root.Content[0]
	if m.Kind != yaml.MappingNode {
		return nil, &CorruptError{m.Line, "not a mapping of keys to values"}
	}
	// Comments around the only mapping belong to the document node.
	m.HeadComment = join(root.HeadComment, m.HeadComment)
	m.FootComment = join(m.FootComment, root.FootComment)
	if alias := aliasIn(m); alias != nil {
		return nil, &CorruptError{alias.Line, aliases}
	}
	if err := checkNode(m); err != nil {
		return nil, err
	}
	return &Document{m}, nil
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// conflictLine returns the line of the first conflict marker, 0 for none.
func conflictLine(b []byte) int {
	n := 0
	for line := range bytes.Lines(b) {
		n++
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte(">>>>>>> ")) {
			return n
		}
	}
	return 0
}

// corrupt turns an error of the YAML library into a CorruptError.
func corrupt(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1])
		return &CorruptError{line, strings.TrimPrefix(text, m[0])}
	}
	return &CorruptError{0, text}
}

// aliases is the error for YAML aliases, which can make a small file huge.
const aliases = "aliases are not supported here"

func usesAlias(err error) bool {
	c, ok := errors.AsType[*CorruptError](err)
	return ok && c.What == aliases
}

// aliasIn returns the first alias in n, nil if there is none.
func aliasIn(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, child := range n.Content {
		if found := aliasIn(child); found != nil {
			return found
		}
	}
	return nil
}

// checkNode refuses anchors, tags, duplicate keys and keys that are not text.
func checkNode(n *yaml.Node) error {
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return &CorruptError{n.Line, "anchors and tags are not supported here"}
	}
	seen := make(map[string]bool)
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if child.Kind != yaml.ScalarNode {
				return &CorruptError{child.Line, "a key that is not text"}
			}
			if seen[child.Value] {
				return &CorruptError{child.Line, fmt.Sprintf("duplicate key %q", child.Value)}
			}
			seen[child.Value] = true
		}
		if err := checkNode(child); err != nil {
			return err
		}
	}
	return nil
}

// Keys lists the document's keys in order.
func (d *Document) Keys() []string {
	var keys []string
	for i := 0; i < len(d.m.Content); i += 2 {
		keys = append(keys, d.m.Content[i].Value)
	}
	return keys
}

// Get returns a key's value: nil, bool, [json.Number], string, []any, or [Object].
func (d *Document) Get(key string) (value any, ok bool) {
	if n := d.node(key); n != nil {
		return nodeValue(n), true
	}
	return nil, false
}

// Text returns a key's value if it is a string, else "".
func (d *Document) Text(key string) string {
	v, _ := d.Get(key)
	s, _ := v.(string)
	return s
}

// Set sets a key to a value: nil, bool, int64, [json.Number], string or []string. A
// comment on its line stays.
func (d *Document) Set(key string, value any) {
	fresh := valueNode(value)
	if old := d.node(key); old != nil {
		fresh.HeadComment, fresh.LineComment, fresh.FootComment = old.HeadComment, old.LineComment, old.FootComment
		*old = *fresh
		return
	}
	d.m.Content = append(d.m.Content, textNode(key), fresh)
	d.m.Style &^= yaml.FlowStyle
}

func (d *Document) node(key string) *yaml.Node {
	if d == nil {
		return nil
	}
	for i := 0; i < len(d.m.Content); i += 2 {
		if d.m.Content[i].Value == key {
			return d.m.Content[i+1]
		}
	}
	return nil
}

// YAML returns the document's text.
func (d *Document) YAML() ([]byte, error) {
	if len(d.m.Content) == 0 {
		return []byte("{}\n"), nil
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(d.m), enc.Close()); err != nil {
		return nil, err
	}
	// Never write a document that would read back differently.
	back, err := parseDocument(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the new document would be unreadable: %w", err)
	}
	want, got := appendJSON(nil, nodeValue(d.m)), appendJSON(nil, nodeValue(back.m))
	if !bytes.Equal(want, got) {
		return nil, errors.New("the new document would read back differently")
	}
	return b.Bytes(), nil
}

// MarshalJSON writes the document as an object, its keys in order.
func (d *Document) MarshalJSON() ([]byte, error) { return appendJSON(nil, d.members()), nil }

// members returns the keys and values in order. A history that is JSON inside a string
// becomes a list.
func (d *Document) members() Object {
	o, _ := nodeValue(d.m).(Object)
	for i := range o {
		if _, text := o[i].Value.(string); text && o[i].Key == keyHistory {
			o[i].Value = d.historyValue()
		}
	}
	return o
}

// checkKey returns an error for a key that a document cannot have.
func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("the key is empty")
	case !utf8.ValidString(key):
		return fmt.Errorf("the key %q is not UTF-8", key)
	case strings.ContainsFunc(key, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		return fmt.Errorf("the key %q contains a control character", key)
	case strings.TrimSpace(key) != key:
		return fmt.Errorf("the key %q begins or ends with a space", key)
	}
	return nil
}

// clone returns a copy that shares nothing.
func (d *Document) clone() *Document { return &Document{cloneNode(d.m)} }

func cloneNode(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = cloneNode(child)
	}
	return &c
}
