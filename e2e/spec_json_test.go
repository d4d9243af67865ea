package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// The JSON documents of ken spec have exactly the fields that docs/formats/spec.md lists.
func TestSpecDocuments(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Write("c.go", "package a\n")
	r.Write(".spec/a/spec.md", "---\ntitle: A\ndesc: about a\nstatus: merged\ncode: [a.go]\nrelated: [b.go]\n---\n## v1\n\n## raw source\n\nasked\n\n## expanded spec\n\nmeant\n")
	r.Write(".spec/a/below/spec.md", "---\ncode: [a.go\n---\n")
	r.Commit("first\n\nSession: s-1")
	for _, name := range []string{"one", "two"} {
		w := r.Worktree(name)
		w.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\n"+name+"\n")
		w.Write("a.go", "package a // "+name+"\n")
		w.Commit(name)
	}
	r.Write("a.go", "package a // 1\n")
	r.Commit("code")

	const (
		unknown  = "[{what why}]"
		problem  = "[{fix line message rule}]"
		file     = "code[] declared desc id parent path problems" + problem + " related[] title"
		overlays = "[{committed dirty from op session to worktree}]"
		finding  = "[{fix line message node path rule}]"
		claim    = "[{desc entry id}]"
		node     = "code[] declared desc dirty drift drift_files[{behind file}] format grade id last_edited missing[] overlays" + overlays +
			" parent path problems" + problem + " related[] session status title touched unknown" + unknown + " version"
	)
	all := make(map[string]string)
	see := func(name string, args ...string) {
		t.Helper()
		all[name] = shapeOf(decode[any](t, mustKen(t, r, append(append([]string{"spec"}, args...), "--json")...)))
	}
	see("ls", "ls")
	see("history", "history", "a")
	see("overlay", "overlay")
	see("show", "show", "a")
	see("show, no parts", "show", "below")
	r.Write("b.go", "package a\n")
	see("owner", "owner", "a.go", "b.go")
	see("lint", "lint")
	see("new", "new", "fresh")
	r.Write(".git/refs/heads/main", "garbage\n")
	see("ls, nothing known", "ls")
	for name, want := range map[string]string{
		"ls":                "{head main{commit name} nodes[{" + strings.Replace(node, unknown, "[]", 1) + "}] unknown[]}",
		"ls, nothing known": "{head main{commit name} nodes[{" + strings.NewReplacer("[{behind file}]", "[]", overlays, "[]").Replace(node) + "}] unknown" + unknown + "}",
		"history":           "[{additions commit date deletions session subject}]",
		"overlay":           "[{branch code[{node paths[]}] collisions[{kind node paths[] with[]}] ops[{committed dirty from node op path to}] session unknown[] worktree}]",
		"show":              "{body " + strings.NewReplacer(unknown, "[]", problem, "[]").Replace(node) + " parts{expanded_spec raw_source}}",
		"show, no parts":    "{body " + strings.NewReplacer(unknown, "[]", "[{behind file}]", "[]", overlays, "[]").Replace(node) + " parts}",
		"owner":             "[{governing" + claim + " path related" + claim + " unknown[]}]",
		"lint":              "{errors" + finding + " warnings" + finding + "}",
		"new":               "{" + strings.Replace(file, problem, "[]", 1) + "}",
	} {
		if got := all[name]; sorted(got) != sorted(want) {
			t.Errorf("%s is\n%s, want\n%s", name, got, want)
		}
	}
}

// sorted sorts the words of a shape, so that the test can list them in any order.
func sorted(shape string) string {
	words := strings.Fields(strings.NewReplacer("{", " { ", "}", " } ", "[", " [ ", "]", " ] ").Replace(shape))
	slices.Sort(words)
	return strings.Join(words, " ")
}

// shapeOf returns the names of the fields of a document. For a list, it combines the fields of
// all elements.
func shapeOf(doc any) string {
	switch doc := doc.(type) {
	case map[string]any:
		var names []string
		for _, name := range slices.Sorted(maps.Keys(doc)) {
			names = append(names, name+shapeOf(doc[name]))
		}
		return "{" + strings.Join(names, " ") + "}"
	case []any:
		together := make(map[string]any)
		for _, e := range doc {
			obj, ok := e.(map[string]any)
			if !ok {
				return "[]"
			}
			for name, value := range obj {
				if old, seen := together[name]; !seen || len(shapeOf(value)) > len(shapeOf(old)) {
					together[name] = value
				}
			}
		}
		if len(together) == 0 {
			return "[]"
		}
		return "[" + shapeOf(together) + "]"
	case string, float64, bool, nil:
		return ""
	}
	panic(fmt.Sprintf("a %T in a document", doc))
}
