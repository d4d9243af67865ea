package app

import (
	"testing"
	"time"

	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/testrepo"
)

// The newest change of a file is its last commit, or the time of the file if its content is
// not committed. That of a directory is the last commit below it.
func TestChanges(t *testing.T) {
	r := testrepo.New(t)
	r.Write("committed.go", "package a\n")
	r.Write("edited.go", "package a\n")
	r.Write("staged.go", "package a\n")
	r.Write("lib/a.go", "package lib\n")
	r.Commit("begin")
	r.Write("committed.go", "package a\n\nfunc A() {}\n")
	r.Commit("change one file")
	r.Write("lib/a.go", "package lib\n\nfunc A() {}\n")
	r.Commit("change the library")
	r.Write("edited.go", "package a\n\nfunc B() {}\n")
	r.Write("staged.go", "package a\n\nfunc C() {}\n")
	r.Git("add", "staged.go")
	g, err := git.Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := g.Checkouts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, err := openWorktree(t.Context(), all[0])
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	got, err := webSource{}.source(all[0], w).Changes(t.Context(), []repo.Path{"committed.go", "edited.go", "staged.go", "lib", "never.go"})
	if err != nil {
		t.Fatal(err)
	}
	for path, subject := range map[repo.Path]string{"committed.go": "change one file", "lib": "change the library"} {
		if c := got[path]; c.Subject != subject || c.Commit.IsZero() || c.At.IsZero() {
			t.Errorf("%s: %+v, want the commit %q", path, c, subject)
		}
	}
	for _, path := range []repo.Path{"edited.go", "staged.go"} {
		if c := got[path]; !c.Commit.IsZero() || time.Since(c.At) > time.Hour {
			t.Errorf("%s: %+v, want the time of the file", path, c)
		}
	}
	if c, ok := got["never.go"]; ok {
		t.Errorf("never.go: %+v, want nothing", c)
	}
}
