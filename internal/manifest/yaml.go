package manifest

import (
	"iter"

	"go.yaml.in/yaml/v3"
)

// YAMLAt returns the value of a key inside of a YAML document, nil if it is not there. It follows an
// alias one step, so a document that refers to itself ends.
func YAMLAt(node *yaml.Node, keys ...string) *yaml.Node {
	node = YAMLValue(node)
	for _, want := range keys {
		var next *yaml.Node
		for key, value := range YAMLPairs(node) {
			if key.Value == want {
				next = value
				break
			}
		}
		if next == nil {
			return nil
		}
		node = YAMLValue(next)
	}
	return node
}

// YAMLValue returns the content of a document or alias.
func YAMLValue(node *yaml.Node) *yaml.Node {
	if node != nil && node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	if node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// YAMLPairs returns the keys and values of a mapping.
func YAMLPairs(node *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		node = YAMLValue(node)
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

// YAMLItems returns the elements of a sequence, or the one value.
func YAMLItems(node *yaml.Node) []*yaml.Node {
	node = YAMLValue(node)
	switch {
	case node == nil:
		return nil
	case node.Kind == yaml.SequenceNode:
		return node.Content
	}
	return []*yaml.Node{node}
}

// YAMLText returns the value of a scalar, "" for all else.
func YAMLText(node *yaml.Node) string {
	node = YAMLValue(node)
	if node == nil || node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		return ""
	}
	return node.Value
}
