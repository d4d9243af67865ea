package testrepo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// The same steps give the same ids, on any machine and on any day.
func TestHashesAreStable(t *testing.T) {
	for _, c := range []struct {
		name   string
		opts   []testrepo.Option
		first  string
		second string
	}{
		{name: "sha1", first: "3a0fc1a152e90839110041d3d45bdf40ae0fc37e", second: "d7564190b9c56a4c84ec0e953371afe8ebc7d4d9"},
		{name: "sha256", opts: []testrepo.Option{testrepo.SHA256}, first: "555ad52ebb143534efa98a05cab7712cbdf66f5c89d4b9079435a25bd6fd9929", second: "6e710ca7ea37648b475d518db80673b75fd1e6cd5bfd67a2385e7736c33a453a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := testrepo.New(t, c.opts...)
			r.Write("api/server.go", "package api\n")
			first := r.Commit("serve")
			r.Git("status") // looking around moves no clock
			r.Remove("api")
			r.Write("tool", "#!/bin/sh\n")
			r.Chmod("tool", 0o755)
			second := r.Commit("replace")
			if first != c.first || second != c.second {
				t.Errorf("commits %s, %s, want %s, %s", first, second, c.first, c.second)
			}
			if got := r.Git("show", "-s", "--format=%ad %cd", "--date=iso-strict"); got != "2024-01-02T03:05:05+00:00 2024-01-02T03:05:05+00:00" {
				t.Errorf("second commit dated %s, want a minute after the first", got)
			}
		})
	}
}

// Nothing of the caller's own git set-up shows inside.
func TestIsolation(t *testing.T) {
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "elsewhere"))
	t.Setenv("GIT_AUTHOR_NAME", "Somebody Else")
	r := testrepo.New(t)
	r.Commit("empty")
	if got := r.Git("log", "--format=%an"); got != "Ada Example" {
		t.Errorf("author %q", got)
	}
	r.Git("config", "--global", "alias.hello", "status") // writes to the repository's own home
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	origins := r.Git("config", "--list", "--show-origin")
	for line := range strings.Lines(origins) {
		file, _, _ := strings.Cut(strings.TrimPrefix(line, "file:"), "\t")
		if filepath.IsAbs(file) && !strings.HasPrefix(file, temp) {
			t.Errorf("configuration from %s", file)
		}
	}
}

func TestIsolate(t *testing.T) {
	t.Setenv("GIT_DIR", "elsewhere")
	undo := testrepo.Isolate()
	out, err := exec.CommandContext(t.Context(), "git", "config", "user.name").CombinedOutput()
	undo()
	if err != nil || string(out) != "Ada Example\n" {
		t.Errorf("git config user.name = %q, %v", out, err)
	}
	if os.Getenv("GIT_DIR") != "elsewhere" {
		t.Error("the environment was not put back")
	}
}

func TestCloneAndWorktree(t *testing.T) {
	origin := testrepo.New(t)
	origin.Write("a", "1\n")
	origin.Commit("one")
	tip := origin.Commit("two")

	shallow := origin.Clone("--depth=1")
	if got := shallow.Git("rev-list", "--count", "HEAD"); got != "1" {
		t.Errorf("shallow clone has %s commits, want 1", got)
	}
	bare := origin.Clone("--bare")
	if got := bare.Git("rev-parse", "--is-bare-repository"); got != "true" {
		t.Errorf("bare clone: is-bare-repository = %s", got)
	}
	if got := testrepo.New(t, testrepo.Bare).Git("rev-parse", "--is-bare-repository"); got != "true" {
		t.Errorf("bare: is-bare-repository = %s", got)
	}

	side := origin.Worktree("side")
	side.Write("a", "2\n")
	side.Commit("three")
	if got := origin.Git("rev-parse", "side^"); got != tip {
		t.Errorf("worktree's commit stands on %s, want %s", got, tip)
	}
	if got := origin.Read("a"); got != "1\n" {
		t.Errorf("the main worktree holds %q", got)
	}
}

// A command that fails says so and hands its output over.
func TestTry(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a", "base\n")
	r.Commit("base")
	side := r.Worktree("side")
	side.Write("a", "side\n")
	side.Commit("side")
	r.Write("a", "main\n")
	r.Commit("main")
	out, err := r.Try("merge", "side")
	if err == nil || !strings.Contains(out, "CONFLICT") {
		t.Errorf("merge: %v, output %q, want a conflict", err, out)
	}
}

// After Age no entry shares its tick with the index; an edit stays visible.
func TestAge(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a", "1\n")
	r.Symlink("a", "link")
	r.Commit("one")
	r.Write("a", "2\n")
	r.Age()
	index, err := os.Stat(r.Path(".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Stat(r.Path("a"))
	if err != nil {
		t.Fatal(err)
	}
	if !file.ModTime().Before(index.ModTime()) {
		t.Errorf("file of %v, index of %v", file.ModTime(), index.ModTime())
	}
	if got := r.Git("status", "--porcelain"); got != " M a" {
		t.Errorf("status %q, want the edit", got)
	}
}
