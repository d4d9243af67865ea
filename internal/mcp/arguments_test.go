package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An error about a wrong argument names it, the given and the wanted value. The call
// opens no repository.
func TestWrongArguments(t *testing.T) {
	here, there := mcp.NewInMemoryTransports()
	go func() { _ = Serve(t.Context(), Deps{Version: "test"}, there) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, c := range []struct{ tool, args, want string }{
		{"brief", `{"paths": 7}`, "paths: want a list, got 7\nhint: for example: {\"paths\": [\"src/main.go\", \"src\"]}"},
		{"brief", `{"paths": ["a", 7]}`, "paths[1]: want a string, got 7\nhint: for example: {\"paths\": [\"src/main.go\", \"src\"]}"},
		{"brief", `{"pahts": "a"}`, "brief: unknown argument \"pahts\"\nhint: did you mean paths? valid arguments: budget, format, paths, root"},
		{"brief", `{"nonsense": "a"}`, "brief: unknown argument \"nonsense\"\nhint: valid arguments: budget, format, paths, root"},
		{"brief", `{"path": "a", "paths": ["b"]}`, "brief: set only one of paths and path\nhint: for example: {}"},
		{"brief", `{"format": "xml"}`, "format: want one of text, json, got \"xml\"\nhint: for example: {\"format\": \"json\"}"},
		{"brief", `{"root": 1}`, "root: want a string, got 1\nhint: for example: {\"root\": \"/path/to/worktree\"}"},
		{"find", `{}`, "query is missing\nhint: for example: {\"query\": \"limiter tenant quota allow reject\"}"},
		{"find", `{"query": null}`, "query is missing\nhint: for example: {\"query\": \"limiter tenant quota allow reject\"}"},
		{"find", `{"query": "a", "words": "b"}`, "find: set only one of query and words\nhint: for example: {\"query\": \"limiter tenant quota allow reject\"}"},
		{"find", `{"limit": -1, "query": "a"}`, "limit: -1 is negative\nhint: for example: {\"limit\": 10}"},
		{"find", `{"query": []}`, "query is empty: give words\nhint: for example: {\"query\": \"limiter tenant quota allow reject\"}"},
		{"find", `{"words": ["a", 1]}`, "query[1]: want a string, got 1\nhint: for example: {\"query\": \"limiter tenant quota allow reject\"}"},
		{"find", `[]`, "arguments: want an object, got []\nhint: for example: {\"query\": \"limiter tenant quota allow reject\"}"},
		{"spec_ack", `{"ids": ["a"]}`, "reason is missing\nhint: for example: {\"ids\": [\"parser/lexer\"], \"reason\": \"Only names changed.\"}"},
		{"file_registry_verify", `{"limit": 100000000000000000000}`, "limit: 100000000000000000000 is too large (maximum 9007199254740991)\nhint: for example: {\"limit\": 200}"},
		{"file_registry_verify", `{"limit": 1e999}`, "limit: 1e999 is too large (maximum 9007199254740991)\nhint: for example: {\"limit\": 200}"},
		{"file_registry_verify", `{"limit": 1.5}`, "limit: want an integer, got 1.5\nhint: for example: {\"limit\": 200}"},
		{"file_registry_verify", `{"full": "yes"}`, "full: want true or false, got \"yes\"\nhint: for example: {\"full\": true}"},
		{
			"file_registry_update_summaries", `{"updates": [{"summary": "x"}]}`,
			"updates[0].path is missing\nhint: for example: {\"updates\": [{\"path\": \"src/main.go\", \"summary\": \"Starts the server.\", \"read\": \"CONTENT_ID\"}]}",
		},
		{
			"file_registry_update_summaries", `{"updates": [{"path": "x", "text": "x"}]}`,
			"updates[0]: unknown field \"text\" (valid: keep, path, read, summary)\nhint: for example: {\"updates\": [{\"path\": \"src/main.go\", \"summary\": \"Starts the server.\", \"read\": \"CONTENT_ID\"}]}",
		},
		{"state", `{"action": "jump"}`, "action: want one of get, update, put, check, got \"jump\"\nhint: for example: {\"action\": \"get\"}"},
		{"state", `{"action": "update", "set": {"a": [1]}}`, "set.a: want a string or a number or true or false or null, got [1]\nhint: for example: {\"set\": {\"phase\": \"implement\"}}"},
	} {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.args)})
		if err != nil {
			t.Errorf("calling %s with %s returned the error %v", c.tool, c.args, err)
			continue
		}
		if diff := cmp.Diff(c.want, res.Content[0].(*mcp.TextContent).Text); !res.IsError || diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.tool, c.args, diff)
		}
	}
}

// inputs returns the input schemas as a client reads them.
func inputs(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	all := make(map[string]*jsonschema.Schema)
	for _, tool := range tools(t) {
		b, err := json.Marshal(tool.InputSchema)
		if err == nil {
			all[tool.Name] = &jsonschema.Schema{}
			err = json.Unmarshal(b, all[tool.Name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// checkArguments accepts what the schemas allow.
func TestValidArguments(t *testing.T) {
	all := inputs(t)
	for _, c := range []struct{ tool, args string }{
		{"brief", ``},
		{"brief", `null`},
		{"brief", `{"budget": 1e3}`},
		{"brief", `{"budget": 60.0}`},
		{"brief", `{"format": null}`},
		{"brief", `{"paths": null}`},
		{"brief", `{"paths": "a.go", "format": "json"}`},
		{"brief", `{"path": "a.go"}`},
		{"brief", `{"symbol": "Lexer.Next"}`},
		{"docs", `{"path": "README.md"}`},
		{"uses", `{"paths": ["a.go"]}`},
		{"uses", `{"query": "Lexer.Next"}`},
		{"spec_ack", `{"id": "a", "reason": "x"}`},
		{"find", `{"query": "rate limit"}`},
		{"find", `{"query": ["rate limit", "quota per tenant"]}`},
		{"find", `{"words": "rate limit"}`},
		{"find", `{"words": ["rate", "limit"]}`},
		{"spec", `{"paths": null}`},
		{"state", `{"action": "put", "name": "a", "content": null}`},
		{"state", `{"action": "update", "set": {"a": 1.5, "b": true, "c": null, "d": "x"}}`},
	} {
		if _, err := checkArguments(c.tool, all[c.tool], json.RawMessage(c.args)); err != nil {
			t.Errorf("checkArguments rejected %s with %s: %v", c.tool, c.args, err)
		}
	}
}

// Each argument of each tool has an example, and the examples are valid.
func TestExamplesAreValid(t *testing.T) {
	all := inputs(t)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(examples))); diff != "" {
		t.Errorf("tools with examples (-want +got):\n%s", diff)
	}
	for tool, schema := range all {
		var given map[string]json.RawMessage
		if err := json.Unmarshal([]byte(examples[tool]), &given); err != nil {
			t.Errorf("the example of %s is not JSON: %v", tool, err)
		}
		for name, value := range commonExamples {
			given[name] = json.RawMessage(value)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(schema.Properties)), slices.Sorted(maps.Keys(given))); diff != "" {
			t.Errorf("arguments of %s with an example (-want +got):\n%s", tool, diff)
		}
		whole, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := checkArguments(tool, schema, whole); err != nil {
			t.Errorf("checkArguments rejected the example of %s: %v", tool, err)
		}
	}
}
