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

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"ken/internal/testrepo"
)

// The texts for agents name only existing tools and commands, and their files can be parsed.
func TestIntegrationsNameExistingTools(t *testing.T) {
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

// The commands in the skill for the command line work as they are written. Those with a placeholder are left out.
func TestSkillNamesWorkingCommands(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "integrations", "plugin", "skills", "ken", "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	r := testrepo.New(t)
	r.Write("AGENTS.md", "Read docs/guide.md.\n")
	r.Write("docs/guide.md", "See `src/lex.py`.\n")
	r.Write("src/lex.py", "class Lexer:\n    def next(self):\n        return self.peek_token()\n")
	r.Commit("one")
	tried := make(map[string]bool)
	for _, m := range regexp.MustCompile("`ken ([^`]*)`").FindAllStringSubmatch(string(text), -1) {
		if regexp.MustCompile(`\b[A-Z]+\b[^.]`).MatchString(m[1]+" ") || strings.Contains(m[1], "..") {
			continue
		}
		args := strings.Fields(strings.ReplaceAll(m[1], `"`, ""))
		tried[args[0]] = true
		mustKen(t, r, args...)
	}
	for _, name := range []string{"docs", "uses", "find", "brief", "review"} {
		if !tried[name] {
			t.Errorf("the skill has no example of ken %s", name)
		}
	}
}

// The plugin is one directory for two clients. The manifests name existing files, and the
// files in the format of Codex have the same content.
func TestPluginForTwoClients(t *testing.T) {
	read := func(path string) []byte {
		text, err := os.ReadFile(filepath.Join("..", "integrations", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	decode := func(path string, v any) {
		if err := json.Unmarshal(read(path), v); err != nil {
			t.Fatalf("%s is not the expected JSON: %v", path, err)
		}
	}
	var market struct {
		Plugins []struct{ Name, Source string }
	}
	decode(".claude-plugin/marketplace.json", &market)
	if len(market.Plugins) != 1 || market.Plugins[0].Source != "./plugin" {
		t.Fatalf("the marketplace is %+v; want one plugin from ./plugin", market)
	}
	type manifest struct {
		Name, Version, License    string
		Keywords                  []string
		Skills, McpServers, Hooks string
	}
	var claude, codex manifest
	decode("plugin/.claude-plugin/plugin.json", &claude)
	decode("plugin/.codex-plugin/plugin.json", &codex)
	if codex.Name != market.Plugins[0].Name || claude.Name != codex.Name || claude.Version != codex.Version ||
		claude.License != codex.License || !slices.Equal(claude.Keywords, codex.Keywords) {
		t.Errorf("%+v and %+v", claude, codex)
	}
	for _, path := range []string{codex.Skills, codex.McpServers, codex.Hooks} {
		if _, err := os.Stat(filepath.Join("..", "integrations", "plugin", path)); err != nil || !strings.HasPrefix(path, "./") {
			t.Errorf("the manifest names %q: %v", path, err)
		}
	}
	if string(read("plugin/hooks/codex.json")) != string(read("codex/hooks.json")) {
		t.Error("the plugin's hooks for Codex are not those of ken install codex")
	}
	for _, name := range []string{"architect", "swe"} {
		var role struct {
			Name, Description string
			Instructions      string `toml:"developer_instructions"`
		}
		if err := toml.Unmarshal(read("codex/agents/"+name+".toml"), &role); err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(strings.TrimPrefix(string(read("plugin/agents/"+name+".md")), "---\n"), "\n---\n")
		var agent struct{ Name, Description string }
		if err := yaml.Unmarshal([]byte(head), &agent); err != nil {
			t.Fatal(err)
		}
		if role.Name != agent.Name || role.Description != agent.Description || strings.TrimSpace(role.Instructions) != strings.TrimSpace(body) {
			t.Errorf("the role %s is not the agent", name)
		}
	}
}

// frontmatter checks that the head of a skill or an agent has the fields that clients need.
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
		t.Errorf("%s has the frontmatter %+v; want the name %s, a description of at most 1024 bytes, and a text", name, doc, want)
	}
	if len(text) > 4000 {
		t.Errorf("%s has %d bytes: every session that uses it pays for them", name, len(text))
	}
}

// fieldWords are fields and values of answers. The texts write them as code, but they are not tools.
var fieldWords = strings.Fields(`state reasons brief new trust verify bootstrap fresh stale none paths current_id updates path summary read keep
	grade interface body content superseded rejected item needs_summary content_id root unresolved broken unsure`)

var code = regexp.MustCompile("`([a-z][a-z_]+)`")

// namesTools reports words in code that are neither a tool nor a field or value of its answers.
func namesTools(t *testing.T, name, text string, tools []string) {
	t.Helper()
	for _, m := range code.FindAllStringSubmatch(text, -1) {
		if w := m[1]; !slices.Contains(tools, w) && !slices.Contains(fieldWords, w) && !slices.Contains([]string{"ken", "mcp", "architect", "swe", "refresh"}, w) {
			t.Errorf("%s names %s, which is not a tool", name, w)
		}
	}
}

var command = regexp.MustCompile(`\bken ((?:hook|install|mcp|init|doctor|spec|state|survey|summary|close|verify|brief|up|serve|docs|uses|find|review)(?: [a-z]+(?:-[a-z]+)*)?)`)

// runs reports commands of ken in a text that do not exist.
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

// The registry of MCP servers requires a name in the namespace of a reversed domain,
// and a description of at most a hundred characters.
func TestServerMeetsRegistryRules(t *testing.T) {
	var server struct{ Name, Description, Version string }
	text, err := os.ReadFile(filepath.Join("..", "server.json"))
	if err == nil {
		err = json.Unmarshal(text, &server)
	}
	if err != nil {
		t.Fatal(err)
	}
	namespace, name, _ := strings.Cut(server.Name, "/")
	if !strings.Contains(namespace, ".") || name == "" || strings.Contains(name, "/") {
		t.Errorf("no name in a namespace: %q", server.Name)
	}
	if n := len(server.Description); n == 0 || n > 100 || server.Version == "" {
		t.Errorf("a description of %d characters, version %q", n, server.Version)
	}
}

// Every hook for pre-commit runs, and stops a commit that it should stop.
func TestPreCommitHooks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", ".pre-commit-hooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct{ ID, Entry, Language string }
	if err := yaml.Unmarshal(text, &hooks); err != nil || len(hooks) != 2 {
		t.Fatalf("%d hooks, %v", len(hooks), err)
	}
	r := testrepo.New(t)
	r.Write("a.go", "package a\n\nfunc Run() {}\n")
	r.Write("README.md", "See `a.go`.\n")
	r.Write(".spec/p/spec.md", "---\ncode: [a.go]\n---\nRuns.\n")
	r.Commit("one")
	for _, hook := range hooks {
		args := strings.Fields(hook.Entry)
		if args[0] != "ken" || hook.Language != "golang" {
			t.Errorf("%s: %s runs %s", hook.ID, hook.Language, hook.Entry)
		}
		mustKen(t, r, args[1:]...)
	}
	for i := range 4 {
		r.Write("a.go", "package a\n\nfunc Run() { println("+strings.Repeat("1", i+1)+") }\n")
		r.Commit("change")
	}
	r.Git("mv", "a.go", "b.go")
	for _, hook := range hooks {
		if got := ken(t, r, nil, strings.Fields(hook.Entry)[1:]...); got.status != 3 {
			t.Errorf("%s: exit %d, want 3: %s", hook.ID, got.status, got.stdout)
		}
	}
}
