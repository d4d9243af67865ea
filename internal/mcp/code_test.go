package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"ken/internal/fault"
	"ken/internal/ken"
)

// Errors outside of tools have JSON-RPC codes.
func TestErrorsHaveCodes(t *testing.T) {
	const hello = `"params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	read := func(why error) map[string]int {
		t.Helper()
		in := strings.Join([]string{
			`{"jsonrpc":"2.0","id":"early","method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":"first","method":"initialize",` + hello,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":"second","method":"initialize",` + hello,
			`{"jsonrpc":"2.0","id":"tool","method":"tools/call","params":{"name":"nosuch"}}`,
			`{"jsonrpc":"2.0","id":"brief","method":"resources/read","params":{"uri":"ken://brief"}}`,
			`{"jsonrpc":"2.0","id":"spec","method":"resources/read","params":{"uri":"ken://spec/a"}}`,
			`{"jsonrpc":"2.0","id":"nosuch","method":"resources/read","params":{"uri":"ken://nosuch"}}`,
		}, "\n")
		var out strings.Builder
		deps := Deps{Version: "test", Open: func(context.Context, string, string) (*ken.Repository, error) { return nil, why }}
		if err := ServeStdio(t.Context(), deps, io.NopCloser(strings.NewReader(in)), &out); err != nil {
			t.Fatal(err)
		}
		codes := make(map[string]int)
		for line := range strings.Lines(out.String()) {
			var answer struct {
				ID    string
				Error *struct {
					Code    int
					Message string
				}
			}
			if err := json.Unmarshal([]byte(line), &answer); err != nil {
				t.Fatalf("the answer %s is not JSON: %v", line, err)
			}
			if answer.Error != nil {
				codes[answer.ID] = answer.Error.Code
				if answer.ID == "tool" && !strings.Contains(answer.Error.Message, "brief, docs, file_registry_update_summaries, file_registry_verify, find, review") {
					t.Errorf("the error does not list the tools: %s", answer.Error.Message)
				}
			}
		}
		return codes
	}
	for _, c := range []struct {
		why  error
		read int
	}{
		{&fault.Error{Kind: fault.NoRepo, Err: errors.New("no repository")}, -32602},
		{errors.New("the disk is gone"), -32603},
	} {
		got := read(c.why)
		for id, want := range map[string]int{"early": -32600, "second": -32600, "tool": -32602, "brief": c.read, "spec": c.read, "nosuch": -32602} {
			if got[id] != want {
				t.Errorf("%v: %s has the code %d, want %d", c.why, id, got[id], want)
			}
		}
		if code, failed := got["first"]; failed {
			t.Errorf("the first initialize failed with %d", code)
		}
	}
}
