package contract

import "go.yaml.in/yaml/v3"

func (m *merger) schema(at **Schema) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if *at == nil {
			*at = new(Schema)
		}
		s := *at
		return m.fields(n, "a schema", []field{
			{"required", m.names("required", &s.Required)},
			{"recommended", m.names("recommended", &s.Recommended)},
			{"enums", func(n *yaml.Node) error { return m.enums(n, s) }},
		})
	}
}

func (m *merger) enums(n *yaml.Node, s *Schema) error {
	merged := make(map[string][]string, len(s.Enums))
	for name, legal := range s.Enums {
		merged[name] = legal
	}
	err := m.pairs(n, "enums", func(key, value *yaml.Node) error {
		if null(value) {
			return nil
		}
		legal := merged[key.Value]
		if err := m.names(key.Value, &legal, legal...)(value); err != nil {
			return err
		}
		if len(legal) > 0 {
			merged[key.Value] = legal
		}
		return nil
	})
	s.Enums = merged
	return err
}
