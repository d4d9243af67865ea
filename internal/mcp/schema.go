package mcp

import (
	"context"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// typeSchemas returns the schemas of types with their own JSON form, which reflection
// cannot see.
func typeSchemas() *jsonschema.ForOptions {
	return &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[answerFormat](): {Type: "string", Enum: []any{"text", "json"}},
		reflect.TypeFor[findWords]():    {Types: []string{"string", "array"}, Items: &jsonschema.Schema{Type: "string"}},
		reflect.TypeFor[scalar]():       {Types: []string{"string", "number", "boolean", "null"}},
		reflect.TypeFor[stateAction]():  {Type: "string", Enum: []any{"get", "update", "put", "check"}},
	}}
}

// add registers a tool.
func add[In interface{ format() answerFormat }](s *server, m *mcp.Server, t *mcp.Tool, h func(context.Context, *mcp.CallToolRequest, In) (answer, error)) {
	t.InputSchema = schemaFor[In]()
	s.inputs[t.Name] = schemaFor[In]()
	mcp.AddTool(m, t, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		a, err := h(ctx, req, in)
		if err != nil {
			return nil, nil, withHint(err)
		}
		res, err := result(a, in.format())
		return res, nil, err
	})
}

func schemaFor[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](typeSchemas())
	if err != nil {
		panic(err) // the types are ours
	}
	withoutNull(schema)
	return schema
}

// withoutNull removes null from the types of optional fields, since [normalise] removes
// nulls from arguments.
func withoutNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 {
		types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
		if len(types) == 1 {
			s.Type, s.Types = types[0], nil
		}
	}
	for _, p := range s.Properties {
		withoutNull(p)
	}
	withoutNull(s.Items)
}

// readOnly, replacing and additive are the annotations of tools. No tool reaches beyond the repository or deletes
// anything.
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
