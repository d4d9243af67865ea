package git

import (
	"testing"

	"ken/internal/testrepo"
)

func TestMainline(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a", "1")
	first := r.Commit("first")
	main := func(r *testrepo.Repo, given string) (string, string, error) {
		t.Helper()
		g, err := Open(t.Context(), r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		name, id, err := g.Mainline(t.Context(), given)
		return name, id.String(), err
	}
	expect := func(r *testrepo.Repo, given, name, commit string) {
		t.Helper()
		if n, c, err := main(r, given); n != name || c != commit || err != nil {
			t.Errorf("%q: %s at %s, %v; want %s at %s", given, n, c, err, name, commit)
		}
	}
	expect(r, "", "main", first)

	// A checkout in another worktree does not change the main branch.
	tree := r.Worktree("topic")
	tree.Write("a", "2")
	topic := tree.Commit("topic")
	expect(tree, "", "main", first)
	expect(tree, "topic", "topic", topic)
	expect(r, "refs/heads/topic", "topic", topic)
	if _, _, err := main(r, "none"); err == nil {
		t.Error("Mainline found a branch that does not exist")
	}
	r.Git("checkout", "-q", "-b", "other")
	expect(r, "", "other", first)
	expect(tree, "", "other", first)

	// In a clone origin decides, and the local branch takes precedence.
	c := r.Clone()
	c.Git("checkout", "-q", "-b", "mine")
	expect(c, "", "other", first)
	c.Git("checkout", "-q", "other")
	c.Write("a", "3")
	ahead := c.Commit("ahead")
	c.Git("checkout", "-q", "mine")
	expect(c, "", "other", ahead)
	c.Git("branch", "-q", "-D", "other")
	expect(c, "", "other", first)
	c.Git("pack-refs", "--all")
	expect(c, "", "other", first)
	c.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
	expect(c, "", "mine", first)

	empty := testrepo.New(t)
	if n, _, err := main(empty, ""); n != "main" || err != nil {
		t.Errorf("an empty repository: %s, %v", n, err)
	}
}
