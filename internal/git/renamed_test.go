package git

import (
	"reflect"
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/testrepo"
)

// Renamed follows files through the commits that HEAD reaches and the index.
func TestRenamed(t *testing.T) {
	r := testrepo.New(t)
	long := strings.Repeat("a line that is long enough to be found again\n", 20)
	renamed := func(gone ...repo.Path) map[repo.Path][]repo.Path {
		t.Helper()
		g := opened(t, r.Dir)
		snap, err := g.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		went, err := g.Renamed(t.Context(), snap, gone)
		if err != nil {
			t.Fatal(err)
		}
		return went
	}
	want := func(what string, got, want map[repo.Path][]repo.Path) {
		t.Helper()
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: renamed %q, want %q", what, got, want)
		}
	}
	r.Write("a.go", long)
	r.Write("other.go", "package other\n")
	want("before the first commit", renamed("a.go"), nil)
	first := idOf(t, r.Commit("first"))

	r.Git("mv", "a.go", "b.go")
	r.Write("b.go", long+"and more\n")
	want("staged", renamed("a.go"), map[repo.Path][]repo.Path{"a.go": {"b.go"}})
	r.Commit("second")
	want("committed", renamed("a.go", "never.go"), map[repo.Path][]repo.Path{"a.go": {"b.go"}})

	r.Git("mv", "b.go", "odd \xff\n.go")
	want("staged, after a commit", renamed("a.go", "b.go"), map[repo.Path][]repo.Path{
		"a.go": {"odd \xff\n.go"}, "b.go": {"odd \xff\n.go"},
	})
	r.Commit("third")
	third := idOf(t, r.Git("rev-parse", "HEAD"))
	want("twice", renamed("a.go", "b.go"), map[repo.Path][]repo.Path{
		"a.go": {"odd \xff\n.go"}, "b.go": {"odd \xff\n.go"},
	})

	// A branch that HEAD does not reach does not count, even if the history has it.
	r.Git("switch", "-q", "-c", "side", first.String())
	r.Git("mv", "other.go", "side.go")
	r.Commit("side")
	want("on the side", renamed("other.go", "b.go"), map[repo.Path][]repo.Path{"other.go": {"side.go"}})
	r.Git("switch", "-q", "main")
	r.Remove("other.go")
	r.Commit("removed")
	want("on main", renamed("other.go"), nil)
	r.Git("reset", "-q", "--hard", third.String())

	// A file that is less than half similar is another file.
	r.Git("mv", "other.go", "new.go")
	r.Write("new.go", "func main() { println(1, 2, 3) }\nfunc more() {}\n")
	r.Commit("other")
	want("another file", renamed("other.go"), nil)
}
