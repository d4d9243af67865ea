package git_test

import (
	"testing"

	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/testrepo"
)

// Commits have the committer date, since a rebase gives old changes a new commit.
func TestCommitsHaveTheDateOfTheCommitter(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a", "1")
	r.Git("add", "-A")
	r.Git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "a", "--date", "2001-02-03T04:05:06Z")
	g, err := git.Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	want := r.Git("show", "-s", "--format=%cI", "HEAD")
	id, err := repo.ParseID(r.Git("rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	err = g.Commits(t.Context(), []repo.ID{id}, func(c repo.Commit) error {
		if c.Date != want {
			t.Errorf("the commit has the date %s, want that of the committer, %s", c.Date, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
