package docs

import (
	"slices"
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/testrepo"
)

// A change breaks the mentions of what it removes, and no others: not those that were broken
// before, not those of a thing that exists elsewhere.
func TestBrokenBy(t *testing.T) {
	r := testrepo.New(t)
	r.Write("README.md", "Read `api/a.go` and `b.go`. `RunAll` runs it, `StopAll` stops it. `api/older.go` is old.\n\n"+
		"```sh\nmake serve\nmake check\n```\n")
	r.Write("docs/page.md", "Nothing of interest.\n")
	r.Write("api/a.go", "package api\n\n// RunAll runs.\nfunc RunAll() {}\n\nfunc StopAll() {}\n")
	r.Write("api/b.go", "package api\n\nvar B = 1\n")
	r.Write("api/older.go", "package api\n")
	r.Write("Makefile", "serve:\n\ttrue\ncheck:\n\ttrue\n")
	r.Commit("first")
	r.Git("rm", "-q", "api/older.go")
	parse := func(s string) repo.ID {
		t.Helper()
		id, err := repo.ParseID(s)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	from := parse(r.Commit("second"))
	r.Git("mv", "api/b.go", "api/c.go")
	r.Git("rm", "-q", "api/a.go")
	r.Write("Makefile", "check:\n\ttrue\n")
	r.Write("api/stop.go", "package api\n\nfunc StopAll() {}\n")
	to := parse(r.Commit("third"))

	change := Change{
		From: from, Removed: []repo.Path{"api/a.go", "api/b.go"}, Moved: map[repo.Path]repo.Path{"api/b.go": "api/c.go"},
		Edited: []repo.Path{"Makefile"},
	}
	want := []string{"api/a.go gone", "b.go moved api/c.go", "RunAll gone", "serve gone"}
	for name, at := range map[string]repo.ID{"of the work tree": {}, "of a commit": to} {
		t.Run(name, func(t *testing.T) {
			change.To = at
			rep, err := checker(t, r.Dir).BrokenBy(t.Context(), change)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range rep.Shown() {
				got = append(got, strings.TrimSpace(m.Name+" "+string(m.Verdict)+" "+string(m.To)))
			}
			if !slices.Equal(got, want) {
				t.Errorf("broken mentions: %q, want %q", got, want)
			}
			if len(rep.Documents) != 1 {
				t.Errorf("%d documents judged, want README.md alone", len(rep.Documents))
			}
		})
	}
}
