package survey

import (
	"slices"
	"testing"

	"ken/internal/repo"
)

// A file is left out exactly when no directory that is described has it.
func TestLeftOutIsWhatDirectoriesLeaveOut(t *testing.T) {
	var files []File
	for _, p := range []repo.Path{"a/b/c/x.go", "a/b/x.go", "a/x.go", "b/c/x.go", "b/y.md", "x.go", "y.md"} {
		files = append(files, File{Path: p})
	}
	for name, opts := range map[string]Options{
		"nothing":         {},
		"files":           {Exclude: []string{"**/*.md"}},
		"a directory":     {Exclude: []string{"a/b"}},
		"by a name":       {Exclude: []string{"**/c"}},
		"skipped":         {Ranks: map[repo.Path]Rank{"a": RankSkip, "a/b": RankPriority}},
		"skipped below":   {Ranks: map[repo.Path]Rank{"a": RankPriority, "a/b": RankSkip}},
		"the root":        {Ranks: map[repo.Path]Rank{"": RankSkip, "b": RankNormal}},
		"several at once": {Exclude: []string{"b/*"}, Ranks: map[repo.Path]Rank{"a/b/c": RankSkip, "a": RankShallow}},
	} {
		var kept []repo.Path
		for _, d := range directories(files, opts) {
			for _, f := range d.Files {
				if d.Excluded == "" {
					kept = append(kept, f.Path)
				}
			}
		}
		for _, f := range files {
			if got, want := opts.LeftOut(f.Path), !slices.Contains(kept, f.Path); got != want {
				t.Errorf("%s: %s left out is %v, want %v", name, f.Path, got, want)
			}
		}
	}
}
