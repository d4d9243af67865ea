package parse_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// load parses files given as path, content, path, content.
func load(pairs ...string) []*parse.Node {
	var files []repo.LoadedFile
	for i := 0; i < len(pairs); i += 2 {
		files = append(files, repo.LoadedFile{Path: repo.Path(pairs[i]), Content: []byte(pairs[i+1])})
	}
	return parse.Load(files)
}

// one loads a single spec.
func one(t *testing.T, content string) *parse.Node {
	t.Helper()
	nodes := load(".spec/app/node/spec.md", content)
	if len(nodes) != 1 {
		t.Fatalf("%d nodes of one file", len(nodes))
	}
	return nodes[0]
}

// problemsOf returns the problems of a node with rule and line only.
func problemsOf(n *parse.Node) []parse.Problem {
	var list []parse.Problem
	for _, p := range n.Problems {
		list = append(list, parse.Problem{Rule: p.Rule, Line: p.Line})
	}
	return list
}

func TestNoFiles(t *testing.T) {
	if got := parse.Load(nil); len(got) != 0 {
		t.Errorf("Load without files returned %v", got)
	}
}

// The parent of a node is the nearest ancestor directory with a spec.md.
func TestTree(t *testing.T) {
	nodes := load(
		".spec/app/web/deep/er/spec.md", "",
		".spec/spec.md", "# The whole",
		".spec/app/spec.md", "",
		".spec/.plugins/x/spec.md", "",
		".spec/app/web/spec.md", "",
		".spec/app/web/spec.md", "# given again",
		".spec/app/notes.md", "",
		"docs/.spec/a/spec.md", "",
		"spec.md", "",
		".spec", "",
	)
	var got []string
	for _, n := range nodes {
		got = append(got, strings.Join([]string{string(n.Path), n.ID, n.Parent, n.Title}, " "))
	}
	want := []string{
		".spec/.plugins/x/spec.md x root x",
		".spec/app/spec.md app root app",
		".spec/app/web/deep/er/spec.md er web er",
		".spec/app/web/spec.md web app web",
		".spec/spec.md root  The whole",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("nodes (-want +got):\n%s", d)
	}
}

func TestNoRoot(t *testing.T) {
	nodes := load(".spec/a/b/spec.md", "", ".spec/root/spec.md", "")
	for i, want := range []string{"b", "root"} {
		if nodes[i].ID != want || nodes[i].Parent != "" {
			t.Errorf("node %d is %q below %q", i, nodes[i].ID, nodes[i].Parent)
		}
	}
	if got := nodes[0].Dir(); got != ".spec/a/b" {
		t.Errorf("Dir is %s", got)
	}
}

// Load neither reorders the caller's files nor keeps their contents.
func TestCallerKeepsItsFiles(t *testing.T) {
	files := []repo.LoadedFile{
		{Path: ".spec/b/spec.md", Content: []byte("---\r\ntitle: b\r\n---\r\nbody\r\n")},
		{Path: ".spec/a/spec.md", Content: []byte("\xef\xbb\xbfa")},
	}
	before := slices.Clone(files)
	nodes := parse.Load(files)
	if !reflect.DeepEqual(before, files) {
		t.Errorf("Load changed the files %v to %v", before, files)
	}
	clear(files[0].Content)
	if n := nodes[1]; n.Title != "b" || n.Body != "body\n" {
		t.Errorf("title %q, body %q", n.Title, n.Body)
	}
}
