package survey

import (
	"slices"
	"testing"

	"ken/internal/repo"
)

// leftOut is a naive model: it judges one path alone. It reports whether a file is left out by globs, by rank or by
// default: itself, or with a directory that it is in.
func (o Options) leftOut(p repo.Path) bool {
	if p == configFile || matches(o.Exclude, p) {
		return true
	}
	ranks := o.withDefaults().Ranks
	for d := p.Dir(); ; d = d.Dir() {
		// A skipped directory skips everything below it, whatever rank that has.
		if ranks[d] == RankSkip || d != "" && matches(o.Exclude, d) {
			return true
		}
		if d == "" {
			return false
		}
	}
}

// A file is left out exactly when no described directory has it.
func TestLeftOutMatchesDirectories(t *testing.T) {
	var files []repo.File
	for _, p := range []repo.Path{"a/b/c/x.go", "a/b/x.go", "a/x.go", "b/c/x.go", "b/y.md", "x.go", "y.md"} {
		files = append(files, repo.File{Path: p})
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
			if got, want := opts.leftOut(f.Path), !slices.Contains(kept, f.Path); got != want {
				t.Errorf("%s: %s left out is %v, want %v", name, f.Path, got, want)
			}
		}
	}
}

// The directories of ken's own files are left out, unless a rank names one of them or a
// directory below. The configuration is left out always.
func TestOwnDirectoriesAreLeftOut(t *testing.T) {
	var files []repo.File
	for _, p := range []repo.Path{".ken/config.yaml", ".ken/notes/n.md", ".spec/a/spec.md", ".spec/spec.md", "src/.spec/x.go", "x.go"} {
		files = append(files, repo.File{Path: p})
	}
	for name, c := range map[string]struct {
		ranks map[repo.Path]Rank
		want  []repo.Path
	}{
		"by default":        {nil, []repo.Path{"src/.spec/x.go", "x.go"}},
		"a rank of .spec":   {map[repo.Path]Rank{".spec": RankNormal}, []repo.Path{".spec/a/spec.md", ".spec/spec.md", "src/.spec/x.go", "x.go"}},
		"a rank below":      {map[repo.Path]Rank{".spec/a": RankPriority}, []repo.Path{".spec/a/spec.md", ".spec/spec.md", "src/.spec/x.go", "x.go"}},
		"a rank of .ken":    {map[repo.Path]Rank{".ken": RankShallow}, []repo.Path{".ken/notes/n.md", "src/.spec/x.go", "x.go"}},
		"a rank of another": {map[repo.Path]Rank{"src": RankPriority}, []repo.Path{"src/.spec/x.go", "x.go"}},
	} {
		opts := New(nil, nil, Options{Ranks: c.ranks}).opts
		var counted, left []repo.Path
		for _, d := range directories(files, opts) {
			for _, f := range d.Files {
				if d.Excluded == "" {
					counted = append(counted, f.Path)
				}
			}
			if d.Path == ".spec" && c.ranks == nil && d.Excluded != "left out by default" {
				t.Errorf("%s: .spec is excluded because %q, want %q", name, d.Excluded, "left out by default")
			}
		}
		slices.Sort(counted)
		for _, f := range files {
			if !(Options{Ranks: c.ranks}).leftOut(f.Path) {
				left = append(left, f.Path)
			}
		}
		if !slices.Equal(counted, c.want) || !slices.Equal(left, c.want) {
			t.Errorf("%s: the survey has %q, and leftOut leaves %q; want %q", name, counted, left, c.want)
		}
	}
}
