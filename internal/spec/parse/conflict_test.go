package parse

import (
	"slices"
	"testing"

	"ken/internal/repo"
)

func TestConflicts(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []int
	}{
		"none":                     {"a\nb\n", nil},
		"one":                      {"a\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> x\n", []int{2}},
		"two":                      {"<<<<<<< HEAD\n>>>>>>> x\n<<<<<<< HEAD\n>>>>>>> x\n", []int{1, 3}},
		"nothing behind the mark":  {"<<<<<<<\n", []int{1}},
		"only the end was left":    {"x\n=======\n>>>>>>> x\n", []int{3}},
		"a heading":                {"Heading\n=======\n", nil},
		"longer":                   {"<<<<<<<< HEAD\n========\n>>>>>>>> x\n", []int{1}},
		"not where a line begins":  {" <<<<<<< HEAD\nsee <<<<<<< HEAD\n", nil},
		"in a fence":               {"```\n<<<<<<< HEAD\n>>>>>>> x\n```\n", nil},
		"all of one in a fence":    {"```\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> x\n```\n", []int{2}},
		"of three in a fence":      {"``` go\n<<<<<<< HEAD\nx\n||||||| base\n=======\n>>>>>>> x\n```\n", []int{2}},
		"in a fence of samples":    {"~~~ Diff title=x\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> x\n~~~\n", nil},
		"backwards in a fence":     {"```\n>>>>>>> x\n=======\n<<<<<<< HEAD\n```\n", nil},
		"a sample within one":      {"<<<<<<< HEAD\n```diff\n>>>>>>> y\n```\n=======\n>>>>>>> x\n", []int{1}},
		"not where one begins":     {"- x\n  ```\n  <<<<<<< HEAD\n  =======\n  >>>>>>> x\n  ```\n", nil},
		"over the end of a fence":  {"```\n<<<<<<< HEAD\nx\n```\n=======\ny\n```\n>>>>>>> x\n", []int{2}},
		"behind one of samples":    {"```conflict\n<<<<<<< HEAD\n=======\n>>>>>>> x\n```\n<<<<<<< HEAD\n", []int{6}},
		"behind a fence":           {"~~~ go\n```\n~~~\n<<<<<<< HEAD\n", []int{4}},
		"no newline at the end":    {"<<<<<<< HEAD", []int{1}},
		"a fence within one of it": {"<<<<<<< HEAD\n```\n>>>>>>> x\n```\n", []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := conflicts(c.text); !slices.Equal(got, c.want) {
				t.Errorf("conflicts on lines %d, want %d", got, c.want)
			}
		})
	}
}

// Conflict markers in the frontmatter are found, too.
func TestConflictInFrontmatter(t *testing.T) {
	n := Load([]repo.LoadedFile{{Path: ".spec/a/spec.md", Content: []byte("---\n<<<<<<< HEAD\ntitle: a\n=======\ntitle: b\n>>>>>>> x\n---\n")}})[0]
	if !HasConflict(n.Problems) {
		t.Errorf("the problems are %v; want a conflict", n.Problems)
	}
}
