package mcp

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fault"
	"ken/internal/ken"
)

// typeSchemas returns the schemas of types with their own JSON form, which reflection
// cannot see.
func typeSchemas() *jsonschema.ForOptions {
	return &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[answerFormat](): {Type: "string", Enum: []any{"text", "json"}},
		reflect.TypeFor[phrasings]():    {Types: []string{"string", "array"}, Items: &jsonschema.Schema{Type: "string"}},
		reflect.TypeFor[scalar]():       {Types: []string{"string", "number", "boolean", "null"}},
		reflect.TypeFor[stateAction]():  {Type: "string", Enum: []any{"get", "update", "put", "check"}},
	}}
}

// An input has the arguments of a tool.
type input interface{ common() commonInput }

// add registers a tool that answers about a work tree: that of the argument root. An input with a method check is
// checked first.
func add[In input](s *server, m *mcp.Server, t *mcp.Tool, h func(context.Context, *ken.Repository, In) (answer, error)) {
	addCall(s, m, t, func(ctx context.Context, req *mcp.CallToolRequest, in In) (answer, error) {
		if c, ok := any(in).(interface{ check() error }); ok {
			if err := c.check(); err != nil {
				return nil, &fault.Error{Kind: fault.Usage, Hint: fault.HintOf(err), Err: err}
			}
		}
		root := in.common().Root
		w, err := s.Open(ctx, root, author(req))
		if err != nil {
			return nil, withRootHint(root, err)
		}
		if f := progress(ctx, req); f != nil {
			w.OnProgress(f)
		}
		a, err := h(ctx, w, in)
		return a, errors.Join(err, w.Close())
	})
}

// addCall registers a tool.
func addCall[In input](s *server, m *mcp.Server, t *mcp.Tool, h func(context.Context, *mcp.CallToolRequest, In) (answer, error)) {
	t.InputSchema = schemaFor[In]()
	s.inputs[t.Name] = schemaFor[In]()
	mcp.AddTool(m, t, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		a, err := h(ctx, req, in)
		if err != nil {
			return nil, nil, withHint(err)
		}
		res, err := result(a, in.common().Format)
		return res, nil, err
	})
}

func schemaFor[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](typeSchemas())
	if err != nil {
		panic(err) // the types are ours
	}
	simplify(schema)
	return schema
}

// simplify removes what a client need not know: that a field may be null, since [normalise] removes nulls, and that no
// other field is allowed, since [aliases] are and [checkArguments] says which ones are not.
func simplify(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Properties != nil {
		s.AdditionalProperties = nil
	}
	if len(s.Types) == 2 {
		types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
		if len(types) == 1 {
			s.Type, s.Types = types[0], nil
		}
	}
	for _, p := range s.Properties {
		simplify(p)
	}
	simplify(s.Items)
}

// readOnly, replacing and additive are the annotations of tools. No tool reaches beyond the repository or deletes
// anything.
func readOnly() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)}
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
