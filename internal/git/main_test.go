package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ken/internal/repo"
)

// testFilter is the history filter of the tests.
var testFilter = repo.HistoryFilter{
	Trailers: []string{"Session", "Spec-OK", "Spec-OK-Basis"}, Marker: "Spec-OK", MoveDir: ".spec", MoveName: "spec.md",
}

// openFiltered opens a repository and sets testFilter.
func openFiltered(ctx context.Context, dir string) (*Repo, error) {
	r, err := Open(ctx, dir)
	if err == nil {
		r.FilterHistory(testFilter)
	}
	return r, err
}

// Tests use only their own configuration, and commits get fixed ids.
func TestMain(m *testing.M) {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "KEN_") {
			os.Unsetenv(name)
		}
	}
	home, err := os.MkdirTemp("", "ken-git-home-")
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, "xdg"), "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_ATTR_NOSYSTEM": "1",
	} {
		os.Setenv(name, value)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// A box is a repository for a test.
type box struct {
	t   *testing.T
	dir string
}

func newBox(t *testing.T, initArgs ...string) *box {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, dir: filepath.Join(dir, "work")}
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.git(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	return b
}

var fixedEnv = []string{
	"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
	"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
	"GIT_ALLOW_PROTOCOL=file", "LC_ALL=C",
}

// try runs git in the box and returns its output.
func (b *box) try(args ...string) (string, error) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "git", args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), fixedEnv...)
	out, err := cmd.Output()
	return string(out), err
}

func (b *box) git(args ...string) string {
	b.t.Helper()
	out, err := b.try(args...)
	if err != nil {
		stderr := ""
		if e, ok := err.(*exec.ExitError); ok { //nolint:errorlint // straight from os/exec
			stderr = string(e.Stderr)
		}
		b.t.Fatalf("git %q: %v\n%s", args, err, stderr)
	}
	return strings.TrimSuffix(out, "\n")
}

// raw runs git and returns its output with the last newline.
func (b *box) raw(args ...string) string {
	b.t.Helper()
	out, err := b.try(args...)
	if err != nil {
		b.t.Fatalf("git %q: %v", args, err)
	}
	return out
}

func (b *box) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *box) write(name, text string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// commit writes files, given as pairs of name and text, and commits everything.
func (b *box) commit(nameText ...string) repo.ID {
	b.t.Helper()
	for i := 0; i+1 < len(nameText); i += 2 {
		b.write(nameText[i], nameText[i+1])
	}
	b.git("add", "-A")
	b.git("commit", "-q", "--allow-empty", "-m", "a commit")
	return b.id("HEAD")
}

func (b *box) id(rev string) repo.ID {
	b.t.Helper()
	id, err := repo.ParseID(b.git("rev-parse", rev))
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// age makes every file so old that no index entry is racy, and refreshes the index.
func (b *box) age() {
	b.t.Helper()
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if err == nil && d.Type().IsRegular() {
			return os.Chtimes(path, old, old)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.git("update-index", "-q", "--refresh")
}

func (b *box) open() *Repo {
	b.t.Helper()
	r, err := Open(b.t.Context(), b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *box) snapshot() *repo.Snapshot {
	b.t.Helper()
	s, err := b.open().Snapshot(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// sub returns a box for another directory.
func (b *box) sub(dir string) *box { return &box{t: b.t, dir: dir} }

func ctx(t *testing.T) context.Context {
	t.Helper()
	return t.Context()
}

// withoutGit makes git unavailable for the rest of the test, to prove that no process is started.
func withoutGit(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
}

// fakeGit replaces git by a shell script.
func fakeGit(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}
