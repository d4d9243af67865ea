package mcp

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/contract"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/workflow"
)

// typeSchemas returns the schemas of types with their own JSON form, which reflection
// cannot see.
func typeSchemas() *jsonschema.ForOptions {
	text := &jsonschema.Schema{Type: "string"}
	maybe := &jsonschema.Schema{Types: []string{"string", "null"}}
	return &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[repo.ID]():           maybe,
		reflect.TypeFor[repo.MD5]():          maybe,
		reflect.TypeFor[repo.Kind]():         text,
		reflect.TypeFor[fresh.State]():       text,
		reflect.TypeFor[registry.Finding]():  text,
		reflect.TypeFor[contract.Bucket]():   text,
		reflect.TypeFor[spec.Status]():       text,
		reflect.TypeFor[survey.Verdict]():    text,
		reflect.TypeFor[workflow.Document](): {Type: "object"},
		reflect.TypeFor[scalar]():            {Types: []string{"string", "number", "boolean", "null"}},
		reflect.TypeFor[stateAction]():       {Type: "string", Enum: []any{"get", "update", "put", "check"}},
	}}
}

// add registers a tool. refine corrects the output schema.
func add[In, Out any](s *server, m *mcp.Server, t *mcp.Tool, h mcp.ToolHandlerFor[In, Out], refine ...func(*jsonschema.Schema)) {
	schema := schemaFor[Out]()
	for _, f := range refine {
		f(schema)
	}
	loosen(schema)
	in := schemaFor[In]()
	s.inputs[t.Name] = in
	t.InputSchema, t.OutputSchema = in, schema
	mcp.AddTool(m, t, h)
}

func schemaFor[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](typeSchemas())
	if err != nil {
		panic(err) // the types are ours
	}
	return schema
}

// loosen allows additional fields, so that answers can gain fields without breaking
// clients.
func loosen(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" || slices.Contains(s.Types, "object") {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		loosen(p)
	}
	loosen(s.Items)
}

// Annotations. No tool reaches beyond the repository or deletes anything.
func readOnly() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)}
}

func replacing() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(false)}
}

func additive() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)}
}

// recording is for tools that add something on each call.
func recording() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)}
}
