package git

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"ken/internal/fault"
	"ken/internal/repo"
)

func TestRootCommit(t *testing.T) {
	b := newBox(t)
	if id, err := b.open().RootCommit(ctx(t), RootCommit{}); err == nil || !strings.Contains(err.Error(), "no commit yet") {
		t.Errorf("RootCommit without commits returned %v, %v; want an error", id, err)
	}
	first := b.commit("a", "1")
	b.commit("a", "2")
	// An earlier result does not change the answer.
	var known RootCommit
	root := func(what string) string {
		t.Helper()
		anew, err := b.open().RootCommit(ctx(t), RootCommit{})
		if err != nil {
			t.Fatalf("%s: RootCommit returned the error %v", what, err)
		}
		if known, err = b.open().RootCommit(ctx(t), known); known != anew || err != nil {
			t.Errorf("%s: with an earlier result RootCommit returned %v, %v; without one %v", what, known, err, anew)
		}
		return anew.Root.String()
	}
	if got := root("linear"); got != first.String() {
		t.Errorf("linear: %s, want %s", got, first)
	}

	// Of several root commits RootCommit returns the oldest, and of two with the same time the one with the smaller
	// id.
	merge := func(at string) string {
		t.Helper()
		cmd := exec.CommandContext(ctx(t), "git", "commit-tree", "-m", "of "+at, b.git("rev-parse", "HEAD^{tree}"))
		cmd.Dir = b.dir
		cmd.Env = append(append(os.Environ(), fixedEnv...), "GIT_COMMITTER_DATE="+at)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSpace(string(out))
		b.git("merge", "-q", "--allow-unrelated-histories", "-m", "both", id)
		return id
	}
	merge("1800000000 +0000")
	if got := root("a younger one"); got != first.String() {
		t.Errorf("a younger one: %s, want %s", got, first)
	}
	same := merge("1700000000 +0000")
	if got, want := root("of one time"), min(same, first.String()); got != want {
		t.Errorf("of one time: %s, want %s", got, want)
	}
	older := merge("1600000000 +0000")
	if got := root("an older one"); got != older {
		t.Errorf("an older one: %s, want %s", got, older)
	}

	shallow := b.clone("--depth", "1")
	if id, err := shallow.open().RootCommit(ctx(t), RootCommit{}); err == nil || !strings.Contains(fault.HintOf(err), "--unshallow") {
		t.Errorf("RootCommit of a shallow clone returned %v, %v; want a hint to unshallow it", id, err)
	}
	if got, err := shallow.open().RootCommit(ctx(t), known); got != known || err != nil {
		t.Errorf("shallow, and known before: %v, %v", got, err)
	}

	// The checked out branch of a clone does not matter.
	clone := shallow
	clone.git("fetch", "-q", "--unshallow")
	clone.git("checkout", "-q", "--orphan", "pages")
	clone.git("commit", "-q", "--allow-empty", "-m", "another beginning")
	if got, err := clone.open().RootCommit(ctx(t), RootCommit{}); got.Root.String() != older || err != nil {
		t.Errorf("on another branch: %v, %v, want %s", got, err, older)
	}

	// A recreated main branch has a new root commit, even with an earlier result.
	b.git("checkout", "-q", "--orphan", "anew")
	b.git("commit", "-q", "--allow-empty", "-m", "anew")
	b.git("branch", "-q", "-M", "anew", "main")
	if got, want := root("anew"), b.git("rev-parse", "HEAD"); got != want {
		t.Errorf("after the branch was recreated: %s, want %s", got, want)
	}
	// The same is true if the old commits are gone.
	gone, err := repo.ParseID(strings.Repeat("12", len(first.String())/2))
	if err != nil {
		t.Fatal(err)
	}
	known = RootCommit{Root: first, Tip: gone}
	root("gone")
}
