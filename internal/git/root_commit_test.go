package git

import (
	"os"
	"os/exec"
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

	// Of histories that were merged, the oldest is where it begins; of two of one time, the one
	// with the smallest id.
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
	if id, err := shallow.open().RootCommit(ctx(t)); err == nil || !strings.Contains(fault.HintOf(err), "--unshallow") {
		t.Errorf("shallow: %v, %v", id, err)
	}
}
