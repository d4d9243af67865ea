package git

import (
	"strings"
	"testing"

	"ken/internal/testrepo"
)

func TestCommitEmpty(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a", "1")
	r.Commit("first")
	r.Write("a", "dirty")
	r.Write("b", "staged")
	r.Git("add", "b")
	before := r.Git("status", "--porcelain")
	t.Setenv("GIT_AUTHOR_NAME", "Grace")
	t.Setenv("GIT_AUTHOR_EMAIL", "grace@example.org")
	t.Setenv("GIT_COMMITTER_NAME", "Grace")
	t.Setenv("GIT_COMMITTER_EMAIL", "grace@example.org")
	g, err := Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	first := headOf(t, r, "HEAD")
	id, err := g.CommitEmpty(t.Context(), first, "it holds\n\nSpec-OK: a\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(r.Git("log", "-1", "--format=%H %P %an %s %(trailers:key=Spec-OK,valueonly,separator=)")); got != id.String()+" "+first.String()+" Grace it holds a" {
		t.Errorf("the new commit is %q; want %s on %s, with its trailer", got, id, first)
	}
	if after := r.Git("status", "--porcelain"); after != before {
		t.Errorf("status was %q and is %q", before, after)
	}
	if branch := strings.TrimSpace(r.Git("rev-parse", "main")); branch != id.String() {
		t.Errorf("the branch is at %s", branch)
	}
	if _, err := g.CommitEmpty(t.Context(), first, "late\n"); err == nil {
		t.Error("CommitEmpty committed on top of a commit that is no longer HEAD")
	}
	if strings.TrimSpace(r.Git("rev-parse", "HEAD")) != id.String() {
		t.Error("HEAD moved")
	}
}
