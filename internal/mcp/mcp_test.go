package mcp

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// listTools returns the answer to tools/list as a client sees it.
func listTools(t *testing.T) *mcp.ListToolsResult {
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
	return res
}

func tools(t *testing.T) []*mcp.Tool {
	t.Helper()
	return listTools(t).Tools
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

// maxToolList is the limit for the characters of the tool list. Every session pays for
// them.
const maxToolList = 9_000

// The whole answer to tools/list stays short: names, descriptions, schemas, annotations.
func TestToolListIsShort(t *testing.T) {
	list := listTools(t)
	if n := len(list.Tools); n > 12 {
		t.Errorf("%d tools, want at most 12", n)
	}
	whole, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	n := utf8.RuneCount(whole)
	t.Logf("%d characters", n)
	if n > maxToolList {
		t.Errorf("the tool list has %d characters, want at most %d", n, maxToolList)
		for _, tool := range list.Tools {
			b, _ := json.Marshal(tool)
			t.Logf("%s: %d", tool.Name, len(b))
		}
	}
}

// Tools answer in text: Claude Code and VS Code show a model only the structured part of
// an answer that has one. Every tool says whether it writes, and takes root and format.
func TestToolsAnswerInText(t *testing.T) {
	var names []string
	for _, tool := range tools(t) {
		names = append(names, tool.Name)
		if tool.OutputSchema != nil {
			t.Errorf("%s has an output schema", tool.Name)
		}
		if tool.Title == "" {
			t.Errorf("%s has no title", tool.Name)
		}
		a := tool.Annotations
		if a == nil || a.OpenWorldHint == nil || !a.ReadOnlyHint && a.DestructiveHint == nil {
			t.Errorf("%s does not say whether it destroys something or reaches beyond the repository", tool.Name)
		}
		schema := inputs(t)[tool.Name]
		for _, arg := range []string{"root", "format"} {
			if schema.Properties[arg] == nil {
				t.Errorf("%s has no argument %s", tool.Name, arg)
			}
		}
	}
	want := []string{
		"brief", "docs", "file_registry_update_summaries", "file_registry_verify", "find", "review",
		"spec", "spec_ack", "state", "survey_next", "survey_submit", "uses",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}
