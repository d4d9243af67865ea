package spec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/spec/parse"
)

func TestLint(t *testing.T) {
	tracked := []repo.Path{"a.go", "b.go", "dir/c.go", "dir/d.go", "lone.go"}
	for _, c := range []struct {
		name             string
		nodes            []*parse.Node
		errors, warnings []string
	}{
		{"no tree", nil, nil, nil},
		{
			"all is well",
			load(".spec/a/spec.md", "---\ncode: [a.go, dir/]\nrelated: ['*.go']\n---\nSee [[b]] and [[a]].\n", ".spec/b/spec.md", ""),
			nil, nil,
		},
		{
			"what is governed is gone",
			load(".spec/a/spec.md", "---\ncode:\n  - gone.go\n  - dir/*.rs\n  - a.go\nrelated: [di, dir/c.go/]\n---\n"),
			[]string{"integrity a 0", "integrity a 0", "integrity a 0", "integrity a 0"},
			[]string{"coverage"},
		},
		{
			"a history in the body",
			load(".spec/a/spec.md", "---\ncode: [a.go]\n---\n# A\n\n## v2\n\n```\n## v3\n```\n## V 1.2: later\n## vision\n## v\n## version 4\n### v5\n## v2x\n"),
			[]string{"living a 6", "living a 11", "living a 14"},
			[]string{"coverage"},
		},
		{
			"mentions",
			load(".spec/a/spec.md", "---\ncode: [a.go]\n---\nSee [[b]], [[nope]] and `[[sample]]`, ``[[`x`]]``.\n```\n[[fenced]]\n```\n[[<id>]] [[]] [[open\n\n    [[code]]\n`[[unclosed]] span\n", ".spec/b/spec.md", ""),
			[]string{"mention a 4", "mention a 11"},
			[]string{"coverage"},
		},
		{
			"names",
			load(".spec/a b/spec.md", "---\ncode: [a.go]\n---\n", ".spec/x/n/spec.md", "", ".spec/y/n/spec.md", "", ".spec/ok/spec.md", "", ".spec/spec.md", ""),
			nil,
			[]string{"id-format a-b", "id-format x_n", "id-format y_n", "coverage"},
		},
		{
			"too many owners",
			load(".spec/a/spec.md", "---\ncode: [a.go]\n---", ".spec/b/spec.md", "---\ncode: [a.go]\n---", ".spec/c/spec.md", "---\ncode: ['**']\n---",
				".spec/d/spec.md", "---\ncode: [a.go, b.go]\n---", ".spec/e/spec.md", "---\ncode: [b.go#x]\n---"),
			nil,
			[]string{"owners"},
		},
		{"nothing is governed", load(".spec/a/spec.md", "---\nrelated: ['**']\n---"), nil, []string{"nothing"}},
		{"a problem of the file", load(".spec/a/spec.md", "---\ncode: [a.go, /etc/passwd]\nrelated: ['**']\n---"), []string{"entry a 2"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sources []repo.Path
			if len(c.nodes) > 0 {
				sources = tracked
			}
			l, err := spec.Lint(t.Context(), c.nodes, spec.LintOptions{Tracked: tracked, Sources: sources})
			if err != nil {
				t.Fatal(err)
			}
			var errors, warnings []string
			for _, f := range l.Errors {
				errors = append(errors, fmt.Sprintf("%s %s %d", f.Rule, f.Node, f.Line))
			}
			for _, f := range l.Warnings {
				warnings = append(warnings, strings.TrimSpace(f.Rule+" "+f.Node))
			}
			if !slices.Equal(errors, c.errors) || !slices.Equal(warnings, c.warnings) {
				t.Errorf("errors %q, want %q; warnings %q, want %q", errors, c.errors, warnings, c.warnings)
			}
			for _, f := range slices.Concat(l.Errors, l.Warnings) {
				if f.Fix == "" || f.Message == "" {
					t.Errorf("finding without a fix: %+v", f)
				}
			}
		})
	}
}

// Owners returns the same nodes as a comparison with every entry.
func TestOwnersMatchNaiveSearch(t *testing.T) {
	element := rapid.SampledFrom([]string{"a", "b", "*", "**", "a?", "[ab]", "{a,b}", "ab", "c/"})
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		for range rapid.IntRange(0, 6).Draw(t, "nodes") {
			texts = append(texts, strings.Join(rapid.SliceOfN(element, 1, 4).Draw(t, "entry"), "/"))
		}
		path := repo.Path(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "[ab]", "c"}), 1, 4).Draw(t, "path"), "/"))
		var files []string
		for i, text := range texts {
			files = append(files, fmt.Sprintf(".spec/n%d/spec.md", i), fmt.Sprintf("---\ncode: [%q]\n---\n", text))
		}
		nodes := load(files...)
		var want, got []string
		for _, n := range nodes {
			if slices.ContainsFunc(n.Code, func(e parse.Entry) bool { return e.Matches(path) }) {
				want = append(want, n.ID)
			}
		}
		for _, c := range spec.Owners(nodes, []repo.Path{path})[0].Governing {
			got = append(got, c.ID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s is governed by %q, want %q", path, got, want)
		}
	})
}

func TestOwners(t *testing.T) {
	nodes := load(".spec/a/spec.md", "---\ndesc: about a\ncode: [src/]\nrelated: [go.mod]\n---", ".spec/b/spec.md", "---\ncode: ['src/**/*.go', src/x.go#New]\n---")
	o := spec.Owners(nodes, []repo.Path{"src/x.go"})[0]
	if len(o.Governing) != 2 || o.Governing[0] != (spec.Claim{ID: "a", Desc: "about a", Entry: "src/"}) || o.Governing[1].Entry != "src/**/*.go" || len(o.Related) != 0 {
		t.Errorf("Owners of src/x.go returned %+v; want it governed by a and b", o)
	}
	if o := spec.Owners(nodes, []repo.Path{"go.mod"})[0]; len(o.Governing) != 0 || len(o.Related) != 1 {
		t.Errorf("Owners of go.mod returned %+v; want it related to one spec", o)
	}
	if o := spec.Owners(nodes, []repo.Path{"none\xff"})[0]; o.Governing == nil || o.Related == nil || o.B64 == "" {
		t.Errorf("Owners of a path that is not UTF-8 returned %+v; want empty lists and the path in base64", o)
	}
}

// Lint accepts any tree.
func FuzzLint(f *testing.F) {
	f.Add("---\ncode: [a, 'b/**']\n---\n## v2\n[[x]] `[[y]]`\n")
	f.Add("``` ` `` [[a]] `\n[[")
	f.Fuzz(func(t *testing.T, content string) {
		nodes := load(".spec/a/spec.md", content, ".spec/b/a/spec.md", content)
		tracked := []repo.Path{"a", "b/c"}
		l, err := spec.Lint(t.Context(), nodes, spec.LintOptions{Tracked: tracked, Sources: tracked})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(content, "\n") + 1
		for _, f := range l.Errors {
			if f.Line < 0 || f.Line > lines {
				t.Fatalf("%q: line %d of %d: %+v", content, f.Line, lines, f)
			}
		}
	})
}
