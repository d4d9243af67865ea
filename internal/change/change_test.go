package change

import (
	"slices"
	"testing"

	"ken/internal/outline"
	"ken/internal/repo"
)

// fileOf returns a changed file with two contents; nil means that the file did not exist.
func fileOf(t *testing.T, from, to repo.Path, before, after []byte) File {
	t.Helper()
	parse := func(p repo.Path, content []byte) *outline.Outline {
		if content == nil {
			return nil
		}
		o, err := outline.Parse(p, content)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	f := File{FileChange: repo.FileChange{Change: repo.Change{Path: to}}, Before: parse(from, before), After: parse(to, after)}
	switch {
	case before == nil:
		f.Kind = repo.Added
	case after == nil:
		f.Kind = repo.Deleted
	case from != to:
		f.From = from
	}
	return f
}

// A change removes the symbols that a file no longer declares under the same name, wherever the file is now.
func TestCompareSymbols(t *testing.T) {
	python := "class Task:\n    @property\n    def app(self):\n        return 1\n\n    @app.setter\n    def app(self, value):\n        pass\n\n\ndef run(a):\n    pass\n"
	for _, tt := range []struct {
		name                string
		from, to            repo.Path
		before, after       string
		removed, signatures []string
	}{
		{"nothing", "a.py", "a.py", python, python + "\n\ndef more():\n    pass\n", nil, nil},
		{"renamed symbol", "a.py", "a.py", python, "class Task:\n    pass\n\n\ndef start(a):\n    pass\n", []string{"Task.app", "run"}, nil},
		{"one of two symbols", "a.py", "a.py", python, python[:len("class Task:\n    @property\n    def app(self):\n        return 1\n")], []string{"run"}, nil},
		{"signature", "a.go", "a.go", "package a\n\nfunc F(n int) {}\n", "package a\n\nfunc F(s string) {}\n", nil, []string{"F"}},
		{"deleted file", "a.go", "a.go", "package a\n\nfunc F() {}\n\ntype T int\n", "", []string{"F", "T"}, nil},
		{"renamed file", "a.go", "b.go", "package a\n\nfunc F() {}\n\ntype T int\n", "package a\n\nfunc F() {}\n", []string{"T"}, nil},
		{"headings", "a.md", "a.md", "# One\n\n## Two\n", "# Other\n", nil, nil},
		{"new file", "a.go", "a.go", "", "package a\n\nfunc F() {}\n", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &Change{Files: []File{fileOf(t, tt.from, tt.to, bytesOf(tt.before), bytesOf(tt.after))}}
			c.compareSymbols()
			var removed, signatures []string
			for _, s := range c.Removed {
				removed = append(removed, s.Symbol.FullName())
				if s.Path != tt.from {
					t.Errorf("%s was removed from %s, want %s", s.Symbol.FullName(), s.Path, tt.from)
				}
			}
			for _, s := range c.Signatures {
				signatures = append(signatures, s.After.FullName())
			}
			if !slices.Equal(removed, tt.removed) || !slices.Equal(signatures, tt.signatures) {
				t.Errorf("the change removes %v and alters the signatures of %v; want %v and %v", removed, signatures, tt.removed, tt.signatures)
			}
		})
	}
}

func bytesOf(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// Users of a renamed file must name it otherwise, except in Go within one directory.
func TestLeftPath(t *testing.T) {
	for _, tt := range []struct {
		from, to      repo.Path
		before, after string
		want          bool
	}{
		{"a.go", "a.go", "package a\n", "package a\n\nvar X int\n", false},
		{"a.go", "a.go", "package a\n", "", true},
		{"a.go", "b.go", "package a\n", "package a\n", false},
		{"a/a.go", "b/a.go", "package a\n", "package a\n", true},
		{"a.py", "b.py", "x = 1\n", "x = 1\n", true},
		{"a.py", "a.py", "", "x = 1\n", false},
	} {
		f := fileOf(t, tt.from, tt.to, bytesOf(tt.before), bytesOf(tt.after))
		if got := f.LeftPath(); got != tt.want {
			t.Errorf("%s to %s with %q: users must name it otherwise: %t, want %t", tt.from, tt.to, tt.after, got, tt.want)
		}
	}
}
