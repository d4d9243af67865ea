package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fault"
	"ken/internal/suggest"
)

// commonExamples has a valid value for each argument of every tool.
var commonExamples = map[string]string{"root": `"/path/to/worktree"`, "format": `"json"`}

// examples has a valid value for each other argument of each tool.
var examples = map[string]string{
	"brief":                `{"paths": ["src/main.go", "src"], "budget": 1500}`,
	"docs":                 `{"paths": ["AGENTS.md", "docs"], "limit": 50}`,
	"find":                 `{"query": "limiter tenant quota allow reject", "kind": "code,test", "limit": 10}`,
	"review":               `{"range": "main..HEAD", "all": true}`,
	"uses":                 `{"path": "src/lex.go", "symbol": "Lexer.Next", "tests": true, "all": true}`,
	"file_registry_verify": `{"paths": ["src/main.go"], "full": true, "dry": true, "all": true, "limit": 200}`,
	"file_registry_update_summaries": `{"paths": ["src/main.go"],
		"updates": [{"path": "src/main.go", "summary": "Starts the server.", "read": "CONTENT_ID"}]}`,
	"survey_next":   `{"path": "src", "lease": 900}`,
	"survey_submit": `{"path": "src", "lease": "LEASE", "text": "Holds the server.", "keep": true, "files": {"src/main.go": "Starts the server."}}`,
	"state": `{"dir": ".ken/state", "action": "get", "key": "phase", "set": {"phase": "implement"},
		"name": "plan.md", "content": "# Plan\n", "force": true}`,
	"spec":     `{"id": "parser/lexer", "paths": ["src/main.go"], "history": true, "limit": 30}`,
	"spec_ack": `{"ids": ["parser/lexer"], "reason": "Only names changed."}`,
}

// aliases are the names that other servers have for arguments of ours. An alias stands for an argument in the tools that have
// the argument and nothing of the name of the alias.
var aliases = map[string]string{
	"words": "query", "path": "paths", "file": "paths", "symbol": "paths", "paths": "path", "query": "symbol", "name": "symbol", "id": "ids",
}

// exampleOf formats some arguments of a tool with example values.
func exampleOf(tool string, names []string) string {
	var all map[string]json.RawMessage
	_ = json.Unmarshal([]byte(examples[tool]), &all) // a test reads each of them
	var parts []string
	for _, name := range names {
		value := string(all[name])
		if value == "" {
			value = commonExamples[name]
		}
		parts = append(parts, fmt.Sprintf("%q: %s", name, value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// checkCalls checks arguments before the SDK does, because the errors of the SDK are
// about schemas and Go types.
func (s *server) checkCalls(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		p, ok := req.GetParams().(*mcp.CallToolParamsRaw)
		if !ok || p == nil {
			return next(ctx, method, req)
		}
		schema, ok := s.inputs[p.Name]
		if !ok {
			names := slices.Sorted(maps.Keys(s.inputs))
			return nil, &jsonrpc.Error{
				Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q; valid tools: %s", line(p.Name), strings.Join(names, ", ")),
			}
		}
		args, err := checkArguments(p.Name, schema, p.Arguments)
		if err != nil {
			res := &mcp.CallToolResult{}
			res.SetError(withHint(err))
			return res, nil
		}
		p.Arguments = args
		return next(ctx, method, req)
	}
}

// checkArguments returns arguments as the schema wants them, or an error that names the
// wrong argument, the given and the wanted value, with an example.
func checkArguments(tool string, schema *jsonschema.Schema, raw json.RawMessage) (json.RawMessage, error) {
	var given any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // keep large numbers as they are
	if err := d.Decode(&given); err != nil && len(raw) > 0 {
		return nil, fmt.Errorf("invalid arguments: %w", err)
	}
	if given == nil {
		given = map[string]any{}
	}
	usage := func(err error, names []string) error {
		return &fault.Error{Kind: fault.Usage, Hint: "for example: " + exampleOf(tool, names), Err: err}
	}
	args, ok := given.(map[string]any)
	if !ok {
		return nil, usage(fmt.Errorf("arguments: want an object, got %s", excerpt(given)), schema.Required)
	}
	if err := normalise(schema, args); err != nil {
		return nil, usage(fmt.Errorf("%s: %w", tool, err), schema.Required)
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		p, ok := schema.Properties[name]
		if !ok {
			valid := slices.Sorted(maps.Keys(schema.Properties))
			hint := "valid arguments: " + strings.Join(valid, ", ")
			if near := nearest(name, valid); near != "" {
				hint = "did you mean " + near + "? " + hint
			}
			return nil, &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("%s: unknown argument %q", tool, line(name))}
		}
		if err := fits(p, name, args[name]); err != nil {
			return nil, usage(err, []string{name})
		}
	}
	if err := missing(schema, "", args); err != nil {
		return nil, usage(err, schema.Required)
	}
	return json.Marshal(args)
}

// nearest returns the word that was probably meant, "" if there is none.
func nearest(given string, words []string) string {
	for _, w := range words {
		if _, ok := suggest.TypoDistance(given, w); ok {
			return w
		}
	}
	return ""
}

// normalise accepts what models often send: the argument names of other servers, null for an argument that they leave
// out, a string for a list of one string, and the list for the string.
func normalise(schema *jsonschema.Schema, args map[string]any) error {
	maps.DeleteFunc(args, func(name string, value any) bool { return value == nil && schema.Properties[name] != nil })
	for _, name := range slices.Sorted(maps.Keys(args)) {
		ours := aliases[name]
		if schema.Properties[name] != nil || schema.Properties[ours] == nil {
			continue
		}
		if _, both := args[ours]; both {
			return fmt.Errorf("set only one of %s and %s", ours, name)
		}
		args[ours] = args[name]
		delete(args, name)
	}
	for name, value := range args {
		p := schema.Properties[name]
		if p == nil {
			continue
		}
		switch v := value.(type) {
		case string:
			if p.Items != nil && p.Items.Type == "string" {
				args[name] = []any{v}
			}
		case []any:
			if p.Type == "string" && len(v) == 1 {
				args[name] = v[0]
			}
		}
	}
	return nil
}

// fits returns why v does not match a schema; nil if it does. It supports the schemas
// that [schemaFor] makes.
func fits(s *jsonschema.Schema, at string, v any) error {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	kind := kindOf(v)
	if n, ok := v.(json.Number); ok && slices.Contains(types, "integer") {
		f, err := n.Float64()
		switch {
		case err != nil || math.Abs(f) > maxInteger:
			return fmt.Errorf("%s: %s is too large (maximum %d)", at, excerpt(v), int64(maxInteger))
		case f < 0:
			return fmt.Errorf("%s: %s is negative", at, excerpt(v))
		case f == math.Trunc(f):
			kind = "integer"
		}
	}
	if len(types) > 0 && !slices.Contains(types, kind) {
		var wanted []string
		for _, t := range types {
			if t != "null" || len(types) > 2 {
				wanted = append(wanted, kinds[t])
			}
		}
		return fmt.Errorf("%s: want %s, got %s", at, strings.Join(wanted, " or "), excerpt(v))
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		var legal []string
		for _, e := range s.Enum {
			legal = append(legal, fmt.Sprint(e))
		}
		return fmt.Errorf("%s: want one of %s, got %s", at, strings.Join(legal, ", "), excerpt(v))
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if s.Items == nil {
				break
			}
			if err := fits(s.Items, at+"["+strconv.Itoa(i)+"]", item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			p, ok := s.Properties[name]
			switch {
			case ok:
			case s.Properties == nil:
				p = s.AdditionalProperties
			default:
				return fmt.Errorf("%s: unknown field %q (valid: %s)", at, name, strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "))
			}
			if p == nil {
				continue
			}
			if err := fits(p, at+"."+name, v[name]); err != nil {
				return err
			}
		}
		return missing(s, at+".", v)
	}
	return nil
}

// maxInteger is the largest integer that is exact in JSON and fits into an int.
const maxInteger = float64(min(math.MaxInt, 1<<53-1))

func missing(s *jsonschema.Schema, at string, v map[string]any) error {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return errors.New(at + name + " is missing")
		}
	}
	return nil
}

// kinds names the JSON types for errors.
var kinds = map[string]string{
	"null": "null", "array": "a list", "object": "an object", "string": "a string",
	"number": "a number", "integer": "an integer", "boolean": "true or false",
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case string:
		return "string"
	case json.Number:
		return "number"
	default:
		return "boolean"
	}
}

// excerpt formats a value as JSON on one line.
func excerpt(v any) string { return line(quoted(v)) }

// quoted formats a value as JSON.
func quoted(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}
