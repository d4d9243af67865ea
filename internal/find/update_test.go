package find

import (
	"testing"

	"ken/internal/repo"
)

// Edges are computed again for all Go files if a module is named or replaced differently, but not if it requires
// another version.
func TestUpdateAfterRequiredVersion(t *testing.T) {
	tree := &memoryTree{files: map[repo.Path]string{
		"go.mod":   "module shop\n\nrequire example.com/x v1.0.0\n",
		"a/a.go":   "package a\n\nimport \"shop/b\"\n\nfunc A() { b.B() }\n",
		"b/b.go":   "package b\n\nfunc B() {}\n",
		"c/c.go":   "package c\n",
		"d/d.go":   "package d\n",
		"notes.md": "# Notes\n",
	}}
	x := newIndex(t)
	update(t, x, tree)
	for _, step := range []struct {
		mod string
		all bool
	}{
		{"module shop\n\nrequire (\n\texample.com/x v1.1.0\n\texample.com/y v1.0.0 // indirect\n)\n", false},
		{"module shop\n\ngo 1.26\n\nrequire example.com/x v1.1.0\n\nreplace example.com/x => ./b\n", true},
		{"module store\n\nreplace example.com/x => ./b\n", true},
	} {
		tree.files["go.mod"] = step.mod
		tree.again = 0
		update(t, x, tree)
		if all := tree.again == len(tree.files)-1; all != step.all { // notes.md is not in Go
			t.Errorf("after %q the edges of %d of %d files were computed again, want all in Go: %v", step.mod, tree.again, len(tree.files), step.all)
		}
		users, err := x.Users(t.Context(), "b/b.go")
		if err != nil {
			t.Fatal(err)
		}
		if used := len(users) > 0; used != (step.mod[:11] == "module shop") {
			t.Errorf("after %q: b/b.go is used: %v", step.mod, used)
		}
	}
}
