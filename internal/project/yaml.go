package project

import (
	"iter"

	"go.yaml.in/yaml/v3"
)

// yamlAt returns the value of a key inside of a YAML document, nil if it is not there. It follows an
// alias one step, so a document that refers to itself ends.
func yamlAt(node *yaml.Node, keys ...string) *yaml.Node {
	node = yamlValue(node)
	for _, want := range keys {
		var next *yaml.Node
		for key, value := range yamlPairs(node) {
			if key.Value == want {
				next = value
				break
			}
		}
		if next == nil {
			return nil
		}
		node = yamlValue(next)
	}
	return node
}

// yamlValue returns the content of a document or alias.
func yamlValue(node *yaml.Node) *yaml.Node {
	if node != nil && node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	if node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// yamlPairs returns the keys and values of a mapping.
func yamlPairs(node *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		node = yamlValue(node)
		if node == nil || node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i], node.Content[i+1]) {
				return
			}
		}
	}
}

// yamlItems returns the elements of a sequence, or the one value.
func yamlItems(node *yaml.Node) []*yaml.Node {
	node = yamlValue(node)
	switch {
	case node == nil:
		return nil
	case node.Kind == yaml.SequenceNode:
		return node.Content
	}
	return []*yaml.Node{node}
}

// yamlText returns the value of a scalar, "" for all else.
func yamlText(node *yaml.Node) string {
	node = yamlValue(node)
	if node == nil || node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		return ""
	}
	return node.Value
}
