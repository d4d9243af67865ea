package parse_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// check checks the properties of the node of any file: it has an id and a title, its problems have valid lines,
// and parsing it again gives the same node.
func check(t rapid.TB, content []byte) {
	t.Helper()
	files := []repo.LoadedFile{{Path: ".spec/a/spec.md", Content: content}, {Path: ".spec/spec.md"}}
	nodes := parse.Load(files)
	if len(nodes) != 2 {
		t.Fatalf("%d nodes of two files", len(nodes))
	}
	n := nodes[0]
	if n.ID != "a" || n.Parent != "root" || n.Title == "" || strings.Contains(n.Title, "\n") {
		t.Fatalf("the first node is %+v; want the id a, the parent root and a title of one line", n)
	}
	lines := strings.Count(string(content), "\n") + 1
	for _, p := range n.Problems {
		if p.Rule == "" || p.Message == "" || p.Fix == "" || p.Line < 1 || p.Line > lines {
			t.Fatalf("of %d lines: %+v", lines, p)
		}
		if strings.ContainsAny(p.Message, "\n\r") || !utf8.ValidString(p.Message) {
			t.Fatalf("a message is %q", p.Message)
		}
	}
	for _, e := range append(n.Code, n.Related...) {
		again, err := parse.ReadEntry(e.Text)
		if err != nil || again != e {
			t.Fatalf("%+v is read as %+v, %v", e, again, err)
		}
		e.Matches("src/a/b.go")
	}
	plain := strings.ReplaceAll(strings.TrimPrefix(string(content), "\uFEFF"), "\r\n", "\n")
	if !strings.HasSuffix(plain, n.Body) {
		t.Fatalf("the body is %q", n.Body)
	}
	if p := n.Parts; p != nil && (!strings.Contains(n.Body, p.RawSource) || !strings.Contains(n.Body, p.Expanded)) {
		t.Fatalf("the parts are %+v", p)
	}
	if _, err := json.Marshal(n); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(nodes, parse.Load(files)); d != "" {
		t.Fatalf("Load returns different nodes for the same files:\n%s", d)
	}
}

// Load returns a node for any content.
func FuzzLoad(f *testing.F) {
	for _, tt := range fronts {
		f.Add([]byte("---\n" + tt.text + "\n---\nbody\n"))
	}
	for _, tt := range bodies {
		f.Add([]byte(tt.body))
	}
	f.Add([]byte("\uFEFF---\r\ntitle: a\r\n---\r\n## raw source\r\n"))
	f.Add([]byte("\xff\xfe-\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		check(t, content[:min(len(content), 1<<16)]) // larger inputs test nothing new
	})
}

// TestLoadTakesAnything checks random files that are made of typical parts of specs.
func TestLoadTakesAnything(t *testing.T) {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{
			"---", "", "title: a", "title: a: b", "code:", "- a.go", "  - *.go", "\t- b", "related: [a, b", "code: a, {b,c}",
			"desc: |", "  text", "x: &x [*x]", "y: *x", "? [a]", "<<<<<<< HEAD", "...", "# c", "\"title\": x", "title:'", "- - -",
			"## raw source", "## expanded spec #", "```", "~~~~", "<!--", "-->", "# Title", "\r", "\xff", "\uFEFF", "%YAML 1.1",
		}),
		rapid.StringN(0, 12, -1),
	)
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(line, 0, 25).Draw(t, "lines")
		content := strings.Join(lines, "\n")
		if rapid.Bool().Draw(t, "front") {
			content = "---\n" + content
		}
		check(t, []byte(content))
	})
}
