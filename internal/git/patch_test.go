package git

import (
	"maps"
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/testrepo"
)

func TestLinesAndPatch(t *testing.T) {
	r := testrepo.New(t)
	long := strings.Repeat("line\n", 20)
	r.Write(".spec/a/spec.md", long)
	r.Write("b.txt", "b\n")
	r.Commit("first")
	first := headOf(t, r, "HEAD")
	r.Git("config", "diff.noprefix", "true")
	r.Git("config", "diff.renames", "false")
	r.Git("config", "color.ui", "always")
	r.Git("config", "diff.external", "false")
	r.Git("mv", ".spec/a", ".spec/odd \"name")
	r.Write(".spec/odd \"name/spec.md", long+"more\n")
	r.Commit("moved")
	moved := headOf(t, r, "HEAD")
	r.Write("b.txt", "c\n")
	r.Commit("else")
	other := headOf(t, r, "HEAD")
	r.Git("checkout", "-q", "-b", "side", first.String())
	r.Write(".spec/a/spec.md", "side\n"+long)
	r.Commit("side")
	r.Git("checkout", "-q", "main")
	r.Git("merge", "-q", "--no-edit", "side")
	merge := headOf(t, r, "HEAD")

	g, err := Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	paths := []repo.Path{".spec/a/spec.md", ".spec/odd \"name/spec.md"}
	counts, err := g.Lines(t.Context(), []repo.ID{merge, other, moved, first}, paths)
	if err != nil {
		t.Fatal(err)
	}
	lines := func(path repo.Path, added int) map[repo.Path]repo.LineCount {
		return map[repo.Path]repo.LineCount{path: {Added: added}}
	}
	for id, want := range map[repo.ID]map[repo.Path]repo.LineCount{
		first: lines(paths[0], 20), moved: lines(paths[1], 1), merge: lines(paths[1], 1), other: nil,
	} {
		if !maps.Equal(counts[id], want) {
			t.Errorf("the line counts of %s are %+v; want %+v", id.Short(), counts[id], want)
		}
	}
	patch, err := g.Patch(t.Context(), moved, paths)
	if err != nil || !strings.Contains(patch, "rename to") || !strings.Contains(patch, "\n+more\n") || strings.Contains(patch, "\x1b") {
		t.Errorf("Patch returned the error %v and this patch; want a rename and an added line, without colours:\n%s", err, patch)
	}
	r.Write(".gitattributes", "*.md binary\n")
	if counts, err := g.Lines(t.Context(), []repo.ID{moved, first}, paths); err != nil || len(counts[moved])+len(counts[first]) > 0 {
		t.Errorf("counted the lines of a binary file: %v, %v", counts, err)
	}
	if patch, err := g.Patch(t.Context(), other, paths); err != nil || patch != "" {
		t.Errorf("Patch of a commit without these paths returned the error %v and this patch; want none:\n%s", err, patch)
	}
}

func FuzzNumstat(f *testing.F) {
	id := strings.Repeat("ab", 20)
	f.Add("\x00" + id + "\x00\n1\t2\tp\x003\t4\t\x00old\x00new\x00")
	f.Add("-\t-\tx\x00")
	f.Fuzz(func(_ *testing.T, out string) { _, _ = parseNumstat(out) })
}
