package mcp

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// tools lists the server's tools as a client sees them.
func tools(t *testing.T) []*mcp.Tool {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	go func() { _ = Serve(t.Context(), Deps{Version: "test"}, there) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	res, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res.Tools
}

// The schemas of the tools match the golden files: a changed schema is a changed
// promise.
func TestToolSchemas(t *testing.T) {
	for _, tool := range tools(t) {
		got, err := json.MarshalIndent(tool, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		file := filepath.Join("testdata", tool.Name+".json")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-promised +now):\n%s", tool.Name, diff)
		}
	}
}

// Every session pays for the list of tools: at most ten, with names, descriptions and
// input schemas within 2,000 tokens.
func TestToolListIsShort(t *testing.T) {
	list := tools(t)
	if len(list) > 10 {
		t.Errorf("%d tools, want at most 10", len(list))
	}
	bytes := 0
	for _, tool := range list {
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		bytes += len(tool.Name) + len(tool.Description) + len(schema)
	}
	if tokens := bytes / 4; tokens > 2000 {
		t.Errorf("about %d tokens, want at most 2,000", tokens)
	} else {
		t.Logf("about %d tokens", tokens)
	}
}
