package docs

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"
)

// A glob matches the same paths as if every path were tried.
func TestGlobs(t *testing.T) {
	c := censusOf("a", "b/a", "b/b/a.go", "b/b/b.go", "ab/a.go", "a.go", "b.go/a", "b-a/a", "c/[a]", "README.md")
	paths := []string{"b", "b/b", "ab", "b.go", "b-a", "c"}
	for p := range c.files {
		paths = append(paths, p)
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "/", "*", "**", ".go", "?", "[ab]", "{a,b}", "{a,b/}", "\\[", "README", "c/"}), 1, 6).Draw(t, "glob")
		glob := strings.Join(parts, "")
		want := slices.ContainsFunc(paths, func(p string) bool {
			ok, err := doublestar.Match(glob, p)
			return ok && err == nil && doublestar.ValidatePattern(glob)
		})
		if got := c.globs.match(glob); got != want || c.globs.skipped {
			t.Fatalf("the glob %q matches: %v; want %v", glob, got, want)
		}
	})
}

// A glob beyond the limits sets skipped.
func TestGlobsSpent(t *testing.T) {
	c := censusOf("a/a.go", "b/b.go")
	for _, glob := range []string{strings.Repeat("{a,b}", 9), strings.Repeat("*", maxGlob+1)} {
		if c.globs.match(glob) || !c.globs.skipped {
			t.Errorf("%s is tried", glob)
		}
		c.globs.skipped = false
	}
	if !c.globs.match("*/a.go") || c.globs.skipped {
		t.Error("*/a.go does not match")
	}
	c.globs.budget = 1
	for _, glob := range []string{"*/c.go", "*/d.go"} {
		if c.globs.match(glob) || !c.globs.skipped {
			t.Errorf("%s: the budget is spent, but the glob was tried", glob)
		}
		c.globs.skipped = false
	}
	if !c.globs.match("*/a.go") || c.globs.skipped {
		t.Error("what was tried is forgotten")
	}
}
