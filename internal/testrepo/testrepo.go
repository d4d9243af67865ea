// Package testrepo builds real git repositories for the tests of every package.
//
// Author, dates, branch name and configuration are fixed, and the git configuration
// of the machine is ignored, so the same steps give the same object ids everywhere.
// Each commit is a minute later than the one before it.
//
// It uses the command line of git and does not depend on ken.
package testrepo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// epoch is the date of a repository's first commit.
var epoch = time.Date(2024, time.January, 2, 3, 4, 5, 0, time.UTC)

// An Option is a flag of git init.
type Option string

// The options.
const (
	SHA256 Option = "--object-format=sha256"
	Bare   Option = "--bare"
)

// A Repo is a repository in a temporary directory of the test. A step that fails
// ends the test with the message of git. Only one goroutine may use a Repo, but all
// may use [Repo.Env].
type Repo struct {
	Dir string // the work tree, or the git directory of a bare one; no symbolic links in it

	tb    testing.TB
	home  string
	clock *time.Time // of the next commit; shared with clones and worktrees
}

// New creates an empty repository with the branch main.
func New(tb testing.TB, opts ...Option) *Repo {
	tb.Helper()
	clock := epoch
	r := &Repo{Dir: tempDir(tb), tb: tb, home: newHome(tb), clock: &clock}
	args := []string{"init", "--quiet"}
	for _, o := range opts {
		args = append(args, string(o))
	}
	r.Git(args...)
	return r
}

// Clone clones r into a new directory, with args for git clone (--bare,
// --depth=1). It uses file://, because git ignores --depth for local paths.
func (r *Repo) Clone(args ...string) *Repo {
	r.tb.Helper()
	c := r.at(filepath.Join(tempDir(r.tb), "clone"))
	r.Git(append(append([]string{"clone", "--quiet"}, args...), "--", r.URL(), c.Dir)...)
	return c
}

// Worktree adds a linked worktree on a new branch of that name, at HEAD.
func (r *Repo) Worktree(branch string) *Repo {
	r.tb.Helper()
	w := r.at(filepath.Join(tempDir(r.tb), branch))
	r.Git("worktree", "add", "--quiet", "-b", branch, w.Dir)
	return w
}

// SetClock sets the date of the next commit. Each commit is a minute later than the last.
func (r *Repo) SetClock(t time.Time) { *r.clock = t }

// URL returns the address under which git fetches from and pushes to r.
func (r *Repo) URL() string { return "file://" + filepath.ToSlash(r.Dir) }

func (r *Repo) at(dir string) *Repo {
	return &Repo{Dir: dir, tb: r.tb, home: r.home, clock: r.clock}
}

// Git runs git in the repository and returns its output without the last
// newline. A failure ends the test; see [Repo.Try].
func (r *Repo) Git(args ...string) string {
	r.tb.Helper()
	out, err := r.Try(args...)
	if err != nil {
		r.tb.Fatal(err)
	}
	return out
}

// Try is [Repo.Git] for commands that may fail, such as a merge that conflicts.
// It returns the output in both cases.
func (r *Repo) Try(args ...string) (string, error) {
	r.tb.Helper()
	cmd := exec.CommandContext(r.tb.Context(), "git", args...)
	cmd.Dir = r.Dir
	date := r.clock.Format(time.RFC3339)
	cmd.Env = r.Env("GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if makesCommits(args) {
		*r.clock = r.clock.Add(time.Minute)
	}
	out := strings.TrimSuffix(stdout.String(), "\n")
	if err != nil {
		err = fmt.Errorf("git %s: %w\n%s%s", strings.Join(args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return out, err
}

// makesCommits reports whether a command advances the clock. Commands that only read do
// not, so that they change no hash.
func makesCommits(args []string) bool {
	for len(args) > 1 && args[0] == "-c" {
		args = args[2:]
	}
	if len(args) == 0 {
		return false
	}
	switch args[0] {
	case "commit", "commit-tree", "merge", "rebase", "cherry-pick", "revert", "am", "stash", "pull":
		return true
	}
	return false
}

// Commit commits everything in the work tree, even without a change, and
// returns the commit's id.
func (r *Repo) Commit(message string) string {
	r.tb.Helper()
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "--message", message)
	return r.Git("rev-parse", "HEAD")
}

// Path returns the place on disk of a path in the repository.
func (r *Repo) Path(path string) string { return filepath.Join(r.Dir, filepath.FromSlash(path)) }

// Write writes a file, replacing an existing one, and creates the directories that it
// needs.
func (r *Repo) Write(path, content string) {
	r.tb.Helper()
	name := r.Path(path)
	r.must(os.MkdirAll(filepath.Dir(name), 0o755))
	r.must(os.WriteFile(name, []byte(content), 0o644))
}

// Symlink puts a symbolic link to target at path.
func (r *Repo) Symlink(target, path string) {
	r.tb.Helper()
	name := r.Path(path)
	r.must(os.MkdirAll(filepath.Dir(name), 0o755))
	r.must(os.Symlink(target, name))
}

// Read returns the content of path.
func (r *Repo) Read(path string) string {
	r.tb.Helper()
	b, err := os.ReadFile(r.Path(path))
	r.must(err)
	return string(b)
}

// Remove deletes a file, or a directory with all that is in it. It must exist.
func (r *Repo) Remove(path string) {
	r.tb.Helper()
	_, err := os.Lstat(r.Path(path))
	r.must(err)
	r.must(os.RemoveAll(r.Path(path)))
}

// Chmod sets the mode of a file.
func (r *Repo) Chmod(path string, mode os.FileMode) {
	r.tb.Helper()
	r.must(os.Chmod(r.Path(path), mode))
}

// Age sets the modification time of every tracked file to an hour ago and refreshes the
// index, so that no entry is racy. Otherwise files that a test just wrote have the same
// clock tick as the index, and git does not trust their stats.
func (r *Repo) Age() {
	r.tb.Helper()
	old := time.Now().Add(-time.Hour)
	for path := range strings.SplitSeq(r.Git("ls-files", "-z"), "\x00") {
		// The time of a symbolic link itself cannot be set portably, and its target may be
		// outside of the repository.
		if info, err := os.Lstat(r.Path(path)); path != "" && err == nil && info.Mode().IsRegular() {
			r.must(os.Chtimes(r.Path(path), old, old))
		}
	}
	// Status 1 means that a file differs from the index, which is not an error here.
	_, err := r.Try("update-index", "-q", "--refresh")
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		r.must(err)
	}
}

func (r *Repo) must(err error) {
	r.tb.Helper()
	if err != nil {
		r.tb.Fatal(err)
	}
}

// Env returns the environment in which r's own git commands run, with extra
// NAME=value pairs, for starting ken or git beside them.
func (r *Repo) Env(extra ...string) []string { return append(isolated(r.home), extra...) }
