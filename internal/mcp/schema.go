package mcp

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

// written says how our own types stand in documents, which reflection alone
// cannot see.
func written() *jsonschema.ForOptions {
	text := &jsonschema.Schema{Type: "string"}
	maybe := &jsonschema.Schema{Types: []string{"string", "null"}}
	return &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[repo.ID]():          maybe,
		reflect.TypeFor[repo.MD5]():         maybe,
		reflect.TypeFor[repo.Kind]():        text,
		reflect.TypeFor[fresh.State]():      text,
		reflect.TypeFor[registry.Finding](): text,
	}}
}

// add registers a tool whose answer is an Out.
func add[In, Out any](m *mcp.Server, t *mcp.Tool, h mcp.ToolHandlerFor[In, Out]) {
	schema, err := jsonschema.For[Out](written())
	if err != nil {
		panic(err) // the types are ours
	}
	loosen(schema)
	t.OutputSchema = schema
	mcp.AddTool(m, t, h)
}

// loosen lets fields be added to answers later without breaking a client that
// holds on to an older schema.
func loosen(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		loosen(p)
	}
	loosen(s.Items)
}

// Annotations: nothing here reaches beyond the repository, and nothing is ever
// thrown away.
func readOnly() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)}
}

func additive() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)}
}
