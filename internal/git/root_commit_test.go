package git

import (
	"strings"
	"testing"

	"ken/internal/fault"
)

func TestRootCommit(t *testing.T) {
	b := newBox(t)
	if id, err := b.open().RootCommit(ctx(t)); err == nil || !strings.Contains(err.Error(), "no commit yet") {
		t.Errorf("unborn: %v, %v", id, err)
	}
	first := b.commit("a", "1")
	b.commit("a", "2")
	root := func(what string) string {
		t.Helper()
		id, err := b.open().RootCommit(ctx(t))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return id.String()
	}
	if got := root("linear"); got != first.String() {
		t.Errorf("linear: %s, want %s", got, first)
	}

	// An older history that was merged in is where it begins.
	b.git("checkout", "-q", "--orphan", "older")
	t.Setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
	older := b.commit("b", "1")
	b.git("checkout", "-q", "main")
	t.Setenv("GIT_COMMITTER_DATE", "2027-01-01T00:00:00Z")
	b.git("merge", "-q", "--allow-unrelated-histories", "-m", "both", "older")
	if got := root("merged"); got != older.String() {
		t.Errorf("merged: %s, want %s", got, older)
	}

	shallow := b.clone("--depth", "1")
	if id, err := shallow.open().RootCommit(ctx(t)); err == nil || !strings.Contains(fault.HintOf(err), "--unshallow") {
		t.Errorf("shallow: %v, %v", id, err)
	}
}
