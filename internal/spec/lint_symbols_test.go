package spec

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// The locator finds the same files as a comparison with every path.
func TestLocator(t *testing.T) {
	name := rapid.StringMatching(`[ab](/[ab]|0|-|\.go){0,3}`)
	pattern := rapid.StringMatching(`([ab*]|\*\*|\[ab\]|\{a,b\})(/([ab*]|\*\*)|0|-|\.go){0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		var paths []repo.Path
		for _, s := range rapid.SliceOf(rapid.OneOf(name, pattern)).Draw(t, "paths") {
			paths = append(paths, repo.Path(s))
		}
		slices.Sort(paths)
		paths = slices.Compact(paths)
		e, err := parse.ReadEntry(pattern.Draw(t, "entry") + "#Symbol")
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(slices.Clone(paths), func(p repo.Path) bool { return !e.Matches(p) })
		if got := newLocator(paths).files(e); !slices.Equal(got, want) {
			t.Errorf("%s: %q among %q, want %q", e, got, paths, want)
		}
		if e.MatchesAny(paths) != (len(want) > 0) {
			t.Errorf("%s names some of %q: %t", e, paths, e.MatchesAny(paths))
		}
	})
}

func TestLocatorLimit(t *testing.T) {
	var paths []repo.Path
	for i := range derive.MaxOutlined + 1 {
		paths = append(paths, repo.Path(fmt.Sprintf("a/%04d.go", i)))
	}
	for text, want := range map[string]int{"a#X": 0, "a/**#X": 0, "a/000?.go#X": 10, "a/0000.go#X": 1, "a/0000.go": 0} {
		e, err := parse.ReadEntry(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := newLocator(paths).files(e); len(got) != want {
			t.Errorf("%s: %d files, want %d", text, len(got), want)
		}
	}
}
