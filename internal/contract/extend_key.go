package contract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

func (m *merger) key(n *yaml.Node, name string) error {
	if name == "" || strings.ContainsFunc(name, unicode.IsControl) || strings.Contains(name, "=") {
		return wrong(n, "the key %q is empty, or holds an equals sign or a control character", name)
	}
	i := slices.IndexFunc(m.c.Keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		i = len(m.c.Keys)
		m.c.Keys = append(m.c.Keys, Key{Name: name})
	}
	k := m.c.Keys[i]
	was := k.Type
	err := m.fields(n, "a key", []field{
		{"name", ignore},
		{"type", m.word("type", (*string)(&k.Type), string(Boolean), string(Number), string(String), string(List))},
		{"enum", m.names("enum", &k.Enum, m.c.Keys[i].Enum...)},
		{"initial", initial(&k.Initial)},
	})
	switch {
	case err != nil:
		return err
	case k.Type == "":
		return wrong(n, "the key %s has no type", name)
	case i < m.known && k.Type != was:
		return wrong(n, "the key %s is ken's own: its type stays %s", name, was)
	case len(k.Enum) > 0 && k.Type != String:
		return wrong(n, "the key %s is a %s: only a string has an enum", name, k.Type)
	}
	if problem := k.checkInitial(); problem != "" {
		return wrong(n, "%s", problem)
	}
	m.c.Keys[i] = k
	return nil
}

// checkInitial says what is wrong with the key's initial value.
func (k Key) checkInitial() string {
	ok := true
	switch {
	case k.Initial == "":
	case k.Type == Boolean:
		ok = k.Initial == "true" || k.Initial == "false"
	case k.Type == Number:
		_, err := strconv.Atoi(k.Initial)
		ok = err == nil
	case k.Type == List:
		ok = false
	case len(k.Enum) > 0:
		ok = slices.Contains(k.Enum, k.Initial)
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("the key %s cannot begin as %s", k.Name, show(k.Initial))
}

// initial takes any scalar as its text.
func initial(at *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		switch n.ShortTag() {
		case "!!str", "!!bool", "!!int":
			*at = n.Value
			return nil
		}
		return wrong(n, "initial wants a text, a number, true or false")
	}
}
