package spec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/repo"
	"ken/internal/spec"
)

// set parses spec files given as name=content; a content is one letter.
func set(text string) spec.FileIDs {
	s := make(spec.FileIDs)
	for pair := range strings.FieldsSeq(text) {
		name, content, _ := strings.Cut(pair, "=")
		s[specPath(name)] = contentID(content)
	}
	return s
}

func specPath(name string) repo.Path { return repo.Path(".spec/" + name + "/spec.md") }

func contentID(letter string) repo.ID { return repo.IDFromBytes([]byte(strings.Repeat(letter, 20))) }

func mainOf(specs spec.FileIDs, had string) spec.MainBranch {
	return spec.MainBranch{
		Specs: specs,
		Had: func(_ *spec.Checkout, path repo.Path, content repo.ID) bool {
			return set(had)[path] == content && !content.IsZero()
		},
		Now: func(_ *spec.Checkout, path repo.Path) repo.Path { return path },
		ID:  func(path repo.Path) string { return path.Dir().Base() },
	}
}

func TestOverlay(t *testing.T) {
	for _, c := range []struct {
		name                       string
		main, had, fork, head, now string
		want                       string
	}{
		{"nothing", "a=1 b=1", "", "a=1 b=1", "a=1 b=1", "a=1 b=1", ""},
		{"merely behind main", "a=2 b=1 c=1", "", "a=1 b=1", "a=1 b=1", "a=1 b=1", ""},
		{"edited and committed", "a=1", "", "a=1", "a=2", "a=2", "edited a c"},
		{"edited and not committed", "a=1", "", "a=1", "a=1", "a=2", "edited a d"},
		{"both", "a=1", "", "a=1", "a=2", "a=3", "edited a cd"},
		{"edited here, and otherwise on main", "a=9", "", "a=1", "a=2", "a=2", "edited a c"},
		{"landed, and main is there", "a=2", "", "a=1", "a=2", "a=2", ""},
		{"landed, and main moved on", "a=3", "a=2", "a=1", "a=2", "a=2", ""},
		{"edited, then put back and committed", "a=1", "", "a=1", "a=1", "a=1", ""},
		{"edited, and put back in the files alone", "a=1", "", "a=1", "a=2", "a=1", "edited a cd"},
		{"added, and removed in the files alone", "", "", "", "a=1", "", "added a cd"},
		{"deleted, and restored in the files alone", "a=1", "", "a=1", "", "a=1", "deleted a cd"},
		{"landed, and put back in the files alone", "a=2", "", "a=1", "a=2", "a=1", ""},
		{"added", "", "", "", "a=1", "a=1", "added a c"},
		{"added, untracked", "", "", "", "", "a=1", "added a d"},
		{"added here and on main alike", "a=1", "", "", "a=1", "a=1", ""},
		{"deleted", "a=1 b=1", "", "a=1 b=1", "b=1", "b=1", "deleted a c"},
		{"deleted, not committed", "a=1", "", "a=1", "a=1", "", "deleted a d"},
		{"deleted here and on main", "", "", "a=1", "", "", ""},
		{"moved", "a=1", "", "a=1", "b=1", "b=1", "moved a>b c"},
		{"moved, not committed", "a=1", "", "a=1", "a=1", "b=1", "moved a>b d"},
		{"moved with an edit is another", "a=1", "", "a=1", "b=2", "b=2", "deleted a c, added b c"},
		{"one of two moved", "a=1 b=1", "", "a=1 b=1", "c=1", "c=1", "deleted b c, moved a>c c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkout := &spec.Checkout{Forked: true, Fork: set(c.fork), Head: set(c.head), Now: set(c.now)}
			var got []string
			for _, op := range spec.Overlay(mainOf(set(c.main), c.had), checkout) {
				what := op.Path.Dir().Base()
				if op.Op == spec.OpMoved {
					what = op.From.Dir().Base() + ">" + op.To.Dir().Base()
				}
				where := ""
				if op.Committed {
					where += "c"
				}
				if op.Dirty {
					where += "d"
				}
				got = append(got, fmt.Sprintf("%s %s %s", op.Op, what, where))
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("proposes %q, want %q", strings.Join(got, ", "), c.want)
			}
		})
	}
	foreign := &spec.Checkout{Fork: set(""), Head: set("a=1"), Now: set("a=2")}
	if ops := spec.Overlay(mainOf(set(""), ""), foreign); ops == nil || len(ops) != 0 {
		t.Errorf("a checkout without a fork proposes %v", ops)
	}
}

// A checkout proposes a change of a path exactly if its content, or else its committed content, differs from the
// fork and from main. It never proposes a path that it did not change.
func TestOverlayProposesOwnWorkOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) spec.FileIDs {
			s := make(spec.FileIDs)
			for _, name := range []string{"a", "b", "c", "d"} {
				if letter := rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, label+name); letter != "" {
					s[specPath(name)] = contentID(letter)
				}
			}
			return s
		}
		main, fork := draw("main"), draw("fork")
		c := &spec.Checkout{Forked: true, Fork: fork, Head: draw("head"), Now: draw("now")}
		proposedPaths := make(map[repo.Path]bool)
		for _, op := range spec.Overlay(mainOf(main, ""), c) {
			proposedPaths[op.Path] = true
			if op.Op == spec.OpMoved {
				proposedPaths[op.From] = true
				if c.Fork[op.From] != c.Now[op.To] {
					t.Fatalf("move %+v of another content", op)
				}
			}
			if !op.Committed && !op.Dirty {
				t.Fatalf("op %+v is neither committed nor dirty", op)
			}
		}
		for _, name := range []string{"a", "b", "c", "d"} {
			p := specPath(name)
			is := c.Now[p]
			if is == fork[p] {
				is = c.Head[p]
			}
			if own := is != fork[p] && is != main[p]; own != proposedPaths[p] {
				t.Fatalf("%s: changed by the checkout %v, proposed %v", name, own, proposedPaths[p])
			}
		}
	})
}

func TestCollisions(t *testing.T) {
	nodes := load(".spec/a/spec.md", "---\ncode: [a.go, shared/]\n---", ".spec/b/spec.md", "---\ncode: [shared/]\n---", ".spec/c/spec.md", "")
	proposal := func(name, edits string, changed ...repo.Path) spec.Proposal {
		p := spec.Proposal{Checkout: &spec.Checkout{Worktree: name, Changed: changed}}
		for id := range strings.FieldsSeq(edits) {
			p.Ops = append(p.Ops, spec.Op{Node: id, Path: specPath(id), Op: spec.OpEdited})
		}
		return p
	}
	got := spec.Collisions(nodes, []spec.Proposal{
		proposal("one", "a", "shared/x.go"),
		proposal("two", "a"),
		proposal("three", "", "a.go"),
		proposal("four", "c", "else.go"),
		proposal("idle", ""),
		proposal("five", "a", "shared/y.go"),
	})
	text := func(cs []spec.Collision) string {
		var out []string
		for _, c := range cs {
			out = append(out, fmt.Sprintf("%s %s %v %v", c.Node, c.Kind, c.With, c.Paths))
		}
		return strings.Join(out, "; ")
	}
	want := []string{
		"a spec [two] [.spec/a/spec.md]; a code [three] [shared/x.go]; a spec+code [five] [.spec/a/spec.md shared/x.go]; b code [five] [shared/x.go]",
		"a spec [five one] [.spec/a/spec.md]; a spec+code [three] [.spec/a/spec.md]",
		"a code [five one] [a.go]; a spec+code [two] [a.go]",
		"", "",
		"a spec [two] [.spec/a/spec.md]; a code [three] [shared/y.go]; a spec+code [one] [.spec/a/spec.md shared/y.go]; b code [one] [shared/y.go]",
	}
	for i, cs := range got {
		if text(cs) != want[i] {
			t.Errorf("proposal %d has collisions %q, want %q", i, text(cs), want[i])
		}
	}
	if !slices.EqualFunc(spec.Collisions(nodes, nil), [][]spec.Collision{}, func(a, b []spec.Collision) bool { return len(a) == len(b) }) {
		t.Error("Collisions without proposals returned some")
	}
}
