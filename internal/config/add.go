package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"ken/internal/fault"
)

// Add adds an item to a list of a section, as the text "section: {list: [item]}" has it, and returns the new text and
// the line and text of the item. All other text stays as it is. It refuses a text that it cannot extend in this way.
func Add(text []byte, section, list string, item any) (after []byte, line int, entry string, err error) {
	var node, root yaml.Node
	if err := node.Encode(item); err != nil {
		return nil, 0, "", err
	}
	node.Style = yaml.FlowStyle
	b, err := yaml.Marshal(&node)
	if err != nil {
		return nil, 0, "", err
	}
	entry = strings.TrimSpace(string(b))
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, 0, "", malformed(err)
	}
	at, insert := placeFor(text, &root, []string{section, list}, entry)
	if bytes.Contains(text, []byte("\r\n")) {
		insert = strings.ReplaceAll(insert, "\n", "\r\n")
	}
	after = bytes.Join([][]byte{text[:at], text[at:]}, []byte(insert))
	if !addsOne(text, after, section, list, entry) {
		return nil, 0, "", &fault.Error{
			Hint: fmt.Sprintf("add it to %s.%s in %s yourself: - %s", section, list, Name, entry),
			Err:  fmt.Errorf("%s: ken cannot add to %s.%s as it is written there", Name, section, list),
		}
	}
	line = 1 + bytes.Count(after[:at+strings.Index(insert, entry)], []byte("\n"))
	return after, line, entry, nil
}

// placeFor returns what to insert into a text, and where, so that the list at some keys has another entry. The entry
// comes first, so that the end of the list need not be found.
func placeFor(text []byte, root *yaml.Node, keys []string, entry string) (at int, insert string) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	if root.Kind == yaml.DocumentNode {
		node = root.Content[0]
	}
	var key *yaml.Node
	for len(keys) > 0 {
		k, value := member(node, keys[0])
		if k == nil {
			break
		}
		key = k
		node = value
		keys = keys[1:]
	}
	if node.Style&yaml.FlowStyle != 0 {
		switch len(keys) {
		case 1:
			entry = keys[0] + ": [" + entry + "]"
		case 2:
			entry = keys[0] + ": {" + keys[1] + ": [" + entry + "]}"
		}
		if len(node.Content) > 0 {
			entry += ", "
		}
		return offset(text, node.Line, node.Column) + 1, entry
	}
	at = len(text)
	indent := ""
	if key != nil {
		at = min(offset(text, key.Line+1, 1), len(text))
		indent = strings.Repeat(" ", key.Column+1)
		if len(node.Content) > 0 {
			indent = strings.Repeat(" ", node.Column-1)
		}
	}
	if at > 0 && text[at-1] != '\n' {
		insert = "\n"
	}
	for _, k := range keys {
		insert += indent + k + ":\n"
		indent += "  "
	}
	return at, insert + indent + "- " + entry + "\n"
}

// member returns a key of a mapping and its value, nil if it has none.
func member(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; mapping.Kind == yaml.MappingNode && i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i], mapping.Content[i+1]
		}
	}
	return nil, nil
}

// offset returns the position of a line and a column, counted in characters from 1; the end if the text is shorter.
func offset(text []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	for i := range string(text[at:]) {
		if column--; column == 0 {
			return at + i
		}
	}
	return len(text)
}

// addsOne reports whether a text is another one with an entry before the items of a list.
func addsOne(before, after []byte, section, list, entry string) bool {
	var was, is map[string]any
	var value any
	err := errors.Join(yaml.Unmarshal(before, &was), yaml.Unmarshal(after, &is), yaml.Unmarshal([]byte(entry), &value))
	if err != nil {
		return false
	}
	if was == nil {
		was = make(map[string]any)
	}
	fields, _ := was[section].(map[string]any)
	if fields == nil {
		fields = make(map[string]any)
	}
	items, _ := fields[list].([]any)
	fields[list] = append([]any{value}, items...)
	was[section] = fields
	return reflect.DeepEqual(was, is)
}
