package brief_test

import (
	"testing"

	"ken/internal/brief"
	"ken/internal/repo"
)

// Files that change with everything say nothing about what belongs together.
func TestIsCompanion(t *testing.T) {
	for path, want := range map[repo.Path]bool{
		"src/a.go":                true,
		"docs/guide.md":           true,
		"internal/changes.go":     true,
		"src/history.ts":          true,
		"CHANGELOG.md":            false,
		"CHANGES.rst":             false,
		"docs/release-notes.md":   false,
		".changeset/brave-cat.md": false,
		"newsfragments/12.bugfix": false,
		"package.json":            false,
		"web/go.mod":              false,
		"requirements-dev.txt":    false,
		"a/__snapshots__/x.md":    false,
	} {
		if got := brief.IsCompanion(path, repo.KindDoc); got != want {
			t.Errorf("IsCompanion(%s) = %v, want %v", path, got, want)
		}
	}
}

// Product code comes first, then scripts and tools, then tests, examples and documents.
func TestPartRank(t *testing.T) {
	for dir, want := range map[repo.Path]int{
		"src": 0, "packages/vite": 0, "internal/test_tools": 0,
		"scripts": 1, "hack": 1, "crates/fuzz": 1,
		"playground": 2, "examples/a": 2, "packages/a/__tests__": 2, "docs": 2, "tests": 2,
	} {
		if got := brief.PartRank(dir); got != want {
			t.Errorf("PartRank(%s) = %d, want %d", dir, got, want)
		}
	}
}
