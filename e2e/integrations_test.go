package e2e

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ken/internal/testrepo"
)

// What agents are given names tools and commands that are there, in files that can be
// read.
func TestIntegrationsHold(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("one")
	list, err := connect(t, r).session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var tools []string
	for _, tool := range list.Tools {
		tools = append(tools, tool.Name)
	}
	files := []string{filepath.Join("..", "server.json")}
	err = filepath.WalkDir(filepath.Join("..", "integrations"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.ToSlash(path)
		switch filepath.Ext(path) {
		case ".json":
			if !json.Valid(text) {
				t.Errorf("%s is not JSON", name)
			}
		case ".md":
			if strings.Contains(name, "/skills/") || strings.Contains(name, "/agents/") {
				frontmatter(t, name, string(text))
			}
			namesTools(t, name, string(text), tools)
		}
		runs(t, r, name, string(text))
	}
}

// frontmatter holds the head of a skill or an agent to what clients want of it.
func frontmatter(t *testing.T, name, text string) {
	t.Helper()
	rest, ok := strings.CutPrefix(text, "---\n")
	head, body, closed := strings.Cut(rest, "\n---\n")
	var doc struct{ Name, Description string }
	if !ok || !closed || yaml.Unmarshal([]byte(head), &doc) != nil {
		t.Errorf("%s has no head", name)
		return
	}
	want := strings.TrimSuffix(filepath.Base(name), ".md")
	if want == "SKILL" {
		want = filepath.Base(filepath.Dir(name))
	}
	if doc.Name != want || doc.Description == "" || len(doc.Description) > 1024 || strings.TrimSpace(body) == "" {
		t.Errorf("%s: %+v", name, doc)
	}
	if len(text) > 4000 {
		t.Errorf("%s has %d bytes: every session that uses it pays for them", name, len(text))
	}
}

// fieldWords stand in code in these texts and are no tools: fields and values of answers.
var fieldWords = strings.Fields(`state reasons brief new trust verify bootstrap fresh stale none paths current_id updates path summary read keep
	grade interface body content superseded rejected item receipt needs_summary content_id root`)

var code = regexp.MustCompile("`([a-z][a-z_]+)`")

// namesTools says which words in code are neither a tool nor a word of its answers.
func namesTools(t *testing.T, name, text string, tools []string) {
	t.Helper()
	for _, m := range code.FindAllStringSubmatch(text, -1) {
		if w := m[1]; !slices.Contains(tools, w) && !slices.Contains(fieldWords, w) && !slices.Contains([]string{"ken", "mcp", "architect", "swe", "refresh"}, w) {
			t.Errorf("%s names %s, which is no tool", name, w)
		}
	}
}

var command = regexp.MustCompile(`\bken ((?:hook|install|mcp|init|doctor|spec|state|survey|summary|close|verify|brief|up|serve)(?: [a-z]+(?:-[a-z]+)*)?)`)

// runs says which commands of ken in a text are none.
func runs(t *testing.T, r *testrepo.Repo, name, text string) {
	t.Helper()
	asked := make(map[string]bool)
	for _, m := range command.FindAllStringSubmatch(text, -1) {
		args := strings.Fields(m[1])
		if len(args) > 1 && args[0] != "hook" && args[0] != "spec" && args[0] != "state" {
			args = args[:1]
		}
		key := strings.Join(args, " ")
		if asked[key] {
			continue
		}
		asked[key] = true
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "ken"), append(args, "--help")...)
		cmd.Dir, cmd.Env = r.Dir, r.Env()
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "ken "+key) {
			t.Errorf("%s names ken %s: %v\n%s", name, key, err, out)
		}
	}
}
