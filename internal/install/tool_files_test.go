package install

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"ken/internal/repo"
)

// A fileList is a work tree with these files.
type fileList []repo.Path

func (t fileList) Names(_ context.Context, dir repo.Path) ([]string, error) {
	names := map[string]bool{}
	for _, p := range t {
		rest := string(p)
		if dir != "" {
			var in bool
			if rest, in = strings.CutPrefix(rest, string(dir)+"/"); !in {
				continue
			}
		}
		name, _, _ := strings.Cut(rest, "/")
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func (t fileList) Usage(_ context.Context, at repo.Path) (repo.DiskUsage, error) {
	var w repo.DiskUsage
	for _, p := range t {
		if p == at || strings.HasPrefix(string(p), string(at)+"/") {
			w.Files++
		}
	}
	return w, nil
}

func TestFindToolFiles(t *testing.T) {
	files := fileList{
		".aider.chat.history.md", ".claude-plugin/x", ".claude/a", ".claude/b", ".claude0", ".github/prompts/p.md",
		".github/workflows/ci.yml", "app/.cursor/rules/x", "app/.roo/x", "app/memory-bank/x", "memory-bank/x", "src/.claude.go",
	}
	tracked := []repo.Path{".claude/a", ".claude0", ".github/prompts/p.md", "app/.cursor/rules/x", "app/memory-bank/x"}
	found, err := FindToolFiles(t.Context(), files, GitPaths{Tracked: tracked, Loose: []repo.Path{".claude/b", "memory-bank/x"}})
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
