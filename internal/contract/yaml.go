package contract

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// What is written by hand stays far below these. Lists that a program wrote, and
// aliases that multiply, do not.
const (
	maxItems  = 5_000   // of a list
	maxValues = 200_000 // in all, those of an alias as often as it is used
)

// A field is a name that a mapping may have, and what takes its value.
type field struct {
	name string
	take func(*yaml.Node) error
}

// ignore takes what was read before.
func ignore(*yaml.Node) error { return nil }

// null reports whether a node holds nothing, which counts as not given.
func null(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// fields hands every value of a mapping to its field. A name that is not among
// them is an error.
func (m *merger) fields(n *yaml.Node, what string, fields []field) error {
	return m.pairs(n, what, func(key, value *yaml.Node) error {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key.Value })
		if i < 0 {
			names := make([]string, len(fields))
			for i, f := range fields {
				names[i] = f.name
			}
			if near, ok := Near(key.Value, names); ok {
				return wrong(key, "unknown field %s of %s; did you mean %s?", show(key.Value), what, near)
			}
			return wrong(key, "unknown field %s of %s", show(key.Value), what)
		}
		if null(value) {
			return nil
		}
		return fields[i].take(value)
	})
}

// pairs calls visit with every pair of a mapping, in order. Keys are texts, and
// no two are the same.
func (m *merger) pairs(n *yaml.Node, what string, visit func(key, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return wrong(n, "%s wants fields, as in name: value", what)
	}
	lines := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := m.follow(n.Content[i])
		if err != nil {
			return err
		}
		value, err := m.follow(n.Content[i+1])
		if err != nil {
			return err
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" && key.ShortTag() != "!!merge" {
			return wrong(key, "%s has a field that is no text", what)
		}
		if first, ok := lines[key.Value]; ok {
			return wrong(key, "%s is given twice, first on line %d", show(key.Value), first)
		}
		lines[key.Value] = key.Line
		if err := visit(key, value); err != nil {
			return err
		}
	}
	return nil
}

// items returns what a list holds.
func (m *merger) items(n *yaml.Node, what string) ([]*yaml.Node, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, wrong(n, "%s wants a list", what)
	}
	if len(n.Content) > maxItems {
		return nil, wrong(n, "%s has more than %d entries", what, maxItems)
	}
	items := make([]*yaml.Node, len(n.Content))
	for i, item := range n.Content {
		var err error
		if items[i], err = m.follow(item); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// follow returns what a node stands for, and counts it.
func (m *merger) follow(n *yaml.Node) (*yaml.Node, error) {
	if m.seen++; m.seen > maxValues {
		return nil, wrong(n, "more than %d values", maxValues)
	}
	if n.Kind == yaml.AliasNode {
		return n.Alias, nil
	}
	return n, nil
}

// each takes a list of mappings, and hands them on with the field that names
// each. No two have the same name.
func (m *merger) each(what, id string, take func(n *yaml.Node, name string) error) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		items, err := m.items(n, what)
		if err != nil {
			return err
		}
		lines := make(map[string]int, len(items))
		for _, item := range items {
			var name string
			found := false
			err := m.pairs(item, "each of "+what, func(key, value *yaml.Node) error {
				if key.Value != id {
					return nil
				}
				found = true
				return m.text(&name)(value)
			})
			if err != nil {
				return err
			}
			if !found {
				return wrong(item, "each of %s has a %s", what, id)
			}
			if first, ok := lines[name]; ok {
				return wrong(item, "%s is listed twice, first on line %d", show(name), first)
			}
			lines[name] = item.Line
			if err := take(item, name); err != nil {
				return err
			}
		}
		return nil
	}
}

// text takes a text.
func (m *merger) text(at *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
			return wrong(n, "a text is wanted here; put it in quotes")
		}
		*at = n.Value
		return nil
	}
}

// place takes a directory below the root of the work tree.
func (m *merger) place(at *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		var dir string
		if err := m.text(&dir)(n); err != nil {
			return err
		}
		if err := CheckDir(dir); err != nil {
			return wrong(n, "%w", err)
		}
		*at = dir
		return nil
	}
}

// flag takes true or false.
func (m *merger) flag(what string, at *bool) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(at) != nil {
			return wrong(n, "%s is true or false", what)
		}
		return nil
	}
}

// count takes a whole number from 0 to most.
func (m *merger) count(at *int, most int) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		var i int
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Decode(&i) != nil || i < 0 || i > most {
			return wrong(n, "a whole number from 0 to %d is wanted here", most)
		}
		*at = i
		return nil
	}
}

// word takes one of a few words.
func (m *merger) word(what string, at *string, legal ...string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		var s string
		if err := m.text(&s)(n); err != nil {
			return err
		}
		if problem, expected := checkWord(what, s, legal); problem != "" {
			return wrong(n, "%s, not %s", problem, expected)
		}
		*at = s
		return nil
	}
}

// evict takes a way of leaving.
func (m *merger) evict(at *Evict) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value == string(Stays) {
			*at = Stays
			return nil
		}
		return m.word("evict", (*string)(at), string(Always), string(Scoped))(n)
	}
}

// names takes a list of texts, which replaces what was there but for keep.
func (m *merger) names(what string, at *[]string, keep ...string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		items, err := m.items(n, what)
		if err != nil {
			return err
		}
		list := slices.Clone(keep)
		for _, item := range items {
			var s string
			if err := m.text(&s)(item); err != nil {
				return err
			}
			if s == "" {
				return wrong(item, "%s holds an empty text", what)
			}
			if !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
		*at = list
		return nil
	}
}

// words takes a list of values that files give in one word each, and adds them
// to those there are.
func (m *merger) words(what string, at *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if err := m.names(what, at, *at...)(n); err != nil {
			return err
		}
		for _, s := range *at {
			if firstWord(s) != s {
				return wrong(n, "%s holds %s, which is not one plain word", what, show(s))
			}
		}
		return nil
	}
}
