package workflow

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseValue parses a value of a command line: true, false, null and plain decimal
// integers have their type. Everything else is text: 007, 1.5, yes, dates.
func parseValue(s string) any {
	switch s {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(n, 10) == s {
		return n
	}
	return s
}

// An Object is a mapping inside a document, its keys in order.
type Object []Member

// A Member is one key of an object.
type Member struct {
	Key   string
	Value any
}

// MarshalJSON writes the object with its keys in order.
func (o Object) MarshalJSON() ([]byte, error) { return appendJSON(nil, o), nil }

// nodeValue returns the value of a node. Numbers that are not valid JSON stay text.
func nodeValue(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		o := Object{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			o = append(o, Member{n.Content[i].Value, nodeValue(n.Content[i+1])})
		}
		return o
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, nodeValue(c))
		}
		return list
	default:
		return scalarValue(n)
	}
}

func scalarValue(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) { // rules out 007, 0x7, .inf, 1_000
			return json.Number(n.Value)
		}
	}
	return n.Value
}

func valueNode(v any) *yaml.Node {
	switch v := v.(type) {
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case int64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(v.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.String()}
	case []string:
		// A list of quoted words on one line is also JSON, for programs that read the
		// document line by line.
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
		for _, s := range v {
			list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle})
		}
		return list
	case string:
		return textNode(v)
	default:
		panic("workflow: no value of a document")
	}
}

// textNode returns a string on one line, quoted unless every YAML reader takes it for
// text.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
	if plainText(s) {
		n.Style = 0
	}
	return n
}

// plainText reports whether s is words of letters, digits and a few marks, beginning
// with a letter, that every version of YAML reads as text.
func plainText(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	}
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		inside := c >= '0' && c <= '9' || strings.IndexByte("./+-", c) >= 0 ||
			c == ' ' && i+1 < len(s) && s[i+1] != ' '
		if !letter && (i == 0 || !inside) {
			return false
		}
	}
	return true
}

// quoted returns a text as JSON.
func quoted(s string) json.RawMessage { return appendJSON(nil, s) }

// appendJSON appends a value of a document as JSON.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case Object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, m.Key)
			b = append(b, ':')
			b = appendJSON(b, m.Value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, e)
		}
		return append(b, ']')
	default:
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			panic(err) // scalars only
		}
		return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
	}
}
