// Package manifest parses the files by which package managers and build tools know a project: go.mod and go.work,
// Cargo.toml, package.json and the workspaces of its package managers, pyproject.toml, setup.cfg and their kind.
//
// It does no I/O: callers pass the content of a file. Paths are as the file has them, relative to its directory. What a
// manifest means for commands or for resolving imports, callers decide.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// A Document is a parsed file or a part of one. Its zero value is a part that is not there.
type Document struct {
	value any // map[string]any, []any, string, float64 and so on; of YAML a *yaml.Node
}

// Parse reads JSON (with comments), TOML or YAML, by the base name of a file. If a parser panics, only this file is
// affected.
func Parse(name string, content []byte) (doc Document, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = Document{}, fmt.Errorf("parse: %v", r)
		}
	}()
	switch {
	case strings.HasSuffix(name, ".toml") || name == "Pipfile":
		var table map[string]any
		if err := toml.Unmarshal(content, &table); err != nil {
			return Document{}, fmt.Errorf("not TOML: %w", err)
		}
		return Document{table}, nil
	case strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml"):
		var root yaml.Node
		if err := yaml.Unmarshal(content, &root); err != nil {
			return Document{}, fmt.Errorf("not YAML: %w", err)
		}
		return Document{&root}, nil
	}
	value, err := parseJSON(content)
	return Document{value}, err
}

func parseJSON(content []byte) (value any, err error) {
	// encoding/json refuses deep nesting before the recursive parser of comments could run out of stack.
	if json.Unmarshal(content, &value) == nil {
		return value, nil
	}
	const deepest = 1000
	if nesting(content) > deepest {
		return nil, errors.New("nested too deeply")
	}
	plain, err := hujson.Standardize(slices.Clone(content))
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if err := json.Unmarshal(plain, &value); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return value, nil
}

// nesting returns an upper bound for how deeply brackets are nested.
func nesting(content []byte) int {
	depth, deepest := 0, 0
	for _, c := range content {
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		}
	}
	return deepest
}

// At returns the part below some keys.
func (d Document) At(keys ...string) Document {
	for _, key := range keys {
		d.value = d.table()[key]
	}
	return d
}

func (d Document) table() map[string]any {
	table, _ := d.value.(map[string]any)
	return table
}

// Exists reports whether the part is there.
func (d Document) Exists() bool { return d.value != nil }

// Has reports whether there is a part below some keys.
func (d Document) Has(keys ...string) bool { return d.At(keys...).Exists() }

// IsTable reports whether the part has keys.
func (d Document) IsTable() bool { return d.table() != nil }

// Value returns the part as [encoding/json] does, nil if it is not there.
func (d Document) Value() any { return d.value }

// YAML returns the node of a YAML document, nil for others.
func (d Document) YAML() *yaml.Node {
	node, _ := d.value.(*yaml.Node)
	return node
}

// Text returns the string below some keys, "" if there is none.
func (d Document) Text(keys ...string) string {
	text, _ := d.At(keys...).value.(string)
	return text
}

// Texts returns the strings of a list, or the one string, below some keys.
func (d Document) Texts(keys ...string) []string {
	part := d.At(keys...)
	if text, ok := part.value.(string); ok {
		return []string{text}
	}
	var list []string
	for _, item := range part.Items() {
		if text, ok := item.value.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

// Items returns the elements of a list below some keys.
func (d Document) Items(keys ...string) []Document {
	values, _ := d.At(keys...).value.([]any)
	list := make([]Document, len(values))
	for i, v := range values {
		list[i] = Document{v}
	}
	return list
}

// Keys returns the keys below some others, sorted.
func (d Document) Keys(keys ...string) []string {
	return slices.Sorted(maps.Keys(d.At(keys...).table()))
}
