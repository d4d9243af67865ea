package docs_test

import (
	"strings"
	"testing"

	"ken/internal/config"
	"ken/internal/docs"
	"ken/internal/testrepo"
	"ken/internal/workspace"
)

// A document is excluded by a glob; an accepted mention need not be a glob.
func TestPolicy(t *testing.T) {
	var p docs.Policy
	if err := config.Parse([]byte("{ok: ['[a'], exclude: ['docs/**']}"), &p); err != nil || len(p.OK) != 1 || len(p.Exclude) != 1 {
		t.Errorf("Parse read %+v, %v", p, err)
	}
	for text, want := range map[string]string{
		"exclude: ['[a']":                          `.ken/config.yaml:1: glob "[a" is malformed`,
		"ok: ['" + strings.Repeat("{", 300) + "']": ".ken/config.yaml:1: glob",
	} {
		err := config.Parse([]byte(text), new(docs.Policy))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40s gives %v, want %s", text, err, want)
		}
	}
}

// An entry with a document accepts the mention there, letter by letter, and nothing in other documents.
func TestAcceptedInOneDocument(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.md", "`api/a.go`, `api/b.go`\n")
	r.Write("b.md", "`api/a.go`\n")
	r.Write("api/a.go", "package api\n")
	r.Write("api/b.go", "package api // b\n")
	r.Commit("first")
	r.Remove("api/a.go")
	r.Remove("api/b.go")
	r.Commit("second")
	for text, want := range map[string]string{
		"{}": "a.md:api/a.go a.md:api/b.go b.md:api/a.go",
		"ok: [{document: a.md, mention: api/a.go}]": "a.md:api/b.go b.md:api/a.go",
		"ok: [{document: a.md, mention: 'api/*'}]":  "a.md:api/a.go a.md:api/b.go b.md:api/a.go",
		"ok: ['api/*']": "",
	} {
		var p docs.Policy
		if err := config.Parse([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		ws, err := workspace.Open(t.Context(), workspace.Options{Dir: r.Dir, Program: "test"})
		if err != nil {
			t.Fatal(err)
		}
		rep, err := (&docs.Checker{Workspace: ws, Policy: p}).Check(t.Context(), docs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range rep.Stale() {
			got = append(got, string(m.File)+":"+m.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s lists %q, want %q", text, got, want)
		}
	}
}
