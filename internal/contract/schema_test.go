package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"ken/internal/contract"
)

// The JSON Schema and Extend agree about the structure of a file.
func TestSchemaAgreesWithExtend(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal(contract.JSONSchema(), &s); err != nil {
		t.Fatal(err)
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	validate := func(t *testing.T, override string) error {
		t.Helper()
		var v any
		if err := yaml.Unmarshal([]byte(override), &v); err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	for name, override := range accepted {
		t.Run(name, func(t *testing.T) {
			if err := validate(t, override); err != nil {
				t.Errorf("Extend accepts it, the JSON Schema does not: %v", err)
			}
		})
	}
	for _, tt := range rejected {
		if !tt.shape {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			if validate(t, tt.override) == nil {
				t.Error("Extend rejects it, the JSON Schema does not")
			}
		})
	}
}
