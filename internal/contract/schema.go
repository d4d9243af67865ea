package contract

import (
	"bytes"
	_ "embed" // the schema

	"go.yaml.in/yaml/v3"
)

//go:embed contract.schema.json
var schema string

// JSONSchema returns the JSON Schema (2020-12) of a project's contract, for editors.
// Only [Extend] checks that names exist, that patterns compile and that ken's own files
// keep their properties.
func JSONSchema() []byte { return []byte(schema) }

// YAML returns the contract as a document like default.yaml.
func (c *Contract) YAML() ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(c); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
