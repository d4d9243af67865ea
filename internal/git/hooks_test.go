package git

import (
	"os"
	"path/filepath"
	"testing"
)

func (b *box) hooksDir() HooksDir {
	b.t.Helper()
	r, err := Open(b.t.Context(), b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	d, err := r.HooksDir(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

func TestHooksDir(t *testing.T) {
	b := newBox(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	check := func(want HooksDir) {
		t.Helper()
		if got := b.hooksDir(); got != want {
			t.Errorf("HooksDir returned %+v, want %+v", got, want)
		}
	}
	check(HooksDir{Path: b.path(".git/hooks")})

	b.git("config", "--global", "core.hooksPath", "~/my hooks")
	check(HooksDir{Path: filepath.Join(home, "my hooks"), Scope: "global"})
	b.git("config", "core.hooksPath", ".githooks")
	check(HooksDir{Path: b.path(".githooks"), Scope: "local"})

	b.git("commit", "-q", "--allow-empty", "-m", "first")
	linked := filepath.Join(filepath.Dir(b.dir), "linked")
	b.git("worktree", "add", "-q", linked)
	main := b.dir
	b.dir = linked
	check(HooksDir{Path: filepath.Join(linked, ".githooks"), Scope: "local"})
	b.git("config", "--unset", "core.hooksPath")
	b.git("config", "--global", "--unset", "core.hooksPath")
	check(HooksDir{Path: filepath.Join(main, ".git/hooks")})

	b.git("config", "core.hooksPath", "")
	r, err := Open(t.Context(), b.dir)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := r.HooksDir(t.Context()); err == nil {
		t.Errorf("HooksDir returned %+v for an empty core.hooksPath, want an error", d)
	}
}

func TestRebaseInProgress(t *testing.T) {
	b := newBox(t)
	b.git("commit", "-q", "--allow-empty", "-m", "first")
	replaying := func() bool {
		t.Helper()
		r, err := Open(t.Context(), b.dir)
		if err != nil {
			t.Fatal(err)
		}
		is, err := r.RebaseInProgress(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if replaying() {
		t.Error("RebaseInProgress is true in a repository without a rebase")
	}
	b.git("update-ref", "CHERRY_PICK_HEAD", "HEAD")
	if !replaying() {
		t.Error("RebaseInProgress is false during a cherry-pick")
	}
	b.git("update-ref", "-d", "CHERRY_PICK_HEAD")
	if err := os.Mkdir(b.path(".git/rebase-merge"), 0o755); err != nil {
		t.Fatal(err)
	}
	if !replaying() {
		t.Error("RebaseInProgress is false during a rebase")
	}
}

func TestCommentChar(t *testing.T) {
	b := newBox(t)
	check := func(want string) {
		t.Helper()
		r, err := Open(t.Context(), b.dir)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.CommentChar(t.Context()); err != nil || got != want {
			t.Errorf("CommentChar returned %q, %v; want %q", got, err, want)
		}
	}
	check("")
	b.git("config", "core.commentChar", ";")
	check(";")
	b.git("config", "core.commentString", "//")
	check("//")
	// Git passes settings to a hook in these variables.
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.commentChar")
	t.Setenv("GIT_CONFIG_VALUE_0", "%")
	check("%")
	t.Setenv("GIT_CONFIG_PARAMETERS", b.git("-c", "core.commentChar=@", "-c", "alias.told=!printenv GIT_CONFIG_PARAMETERS", "told"))
	check("@")
}
