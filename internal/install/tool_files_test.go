package install

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ken/internal/content"
	"ken/internal/repo"
)

func TestFindToolFiles(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{
		".aider.chat.history.md", ".claude-plugin/x", ".claude/a", ".claude/b", ".claude0", ".github/prompts/p.md",
		".github/workflows/ci.yml", "app/.cursor/rules/x", "app/.roo/x", "app/memory-bank/x", "memory-bank/x", "src/.claude.go",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tracked := []repo.Path{".claude/a", ".claude0", ".github/prompts/p.md", "app/.cursor/rules/x", "app/memory-bank/x"}
	found, err := FindToolFiles(t.Context(), content.Open(root, content.Options{}), GitPaths{Tracked: tracked, Loose: []repo.Path{".claude/b", "memory-bank/x"}})
	if err != nil {
		t.Fatal(err)
	}
	type fact struct {
		path           repo.Path
		tool           string
		files, tracked int
		loose          bool
	}
	var got []fact
	for _, f := range found {
		got = append(got, fact{f.Path, f.Tool, f.Usage.Files, f.Tracked, f.Loose})
	}
	want := []fact{
		{".aider.chat.history.md", "Aider", 1, 0, false},
		{".claude", "Claude Code", 2, 1, true},
		{".github/prompts", "Copilot", 1, 1, false},
		{"app/.cursor", "Cursor", 1, 1, false},
		{"memory-bank", "Cline", 1, 0, true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%v, want\n%v", got, want)
	}
}

func TestToolNamesAreUnique(t *testing.T) {
	whose := map[string]string{}
	for _, tool := range AgentTools {
		for _, p := range tool.Paths {
			if other, taken := whose[p]; taken {
				t.Errorf("%s belongs to %s and to %s, want one tool", p, other, tool.Name)
			}
			whose[p] = tool.Name
		}
	}
}
