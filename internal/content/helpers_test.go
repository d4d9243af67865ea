package content_test

import (
	"bytes"
	"crypto/md5"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ken/internal/content"
	"ken/internal/repo"
)

// write creates a file and its parent directories.
func write(t testing.TB, root, name, text string) {
	t.Helper()
	full := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// git runs git in root without the user's configuration.
func git(t testing.TB, root, stdin string, args ...string) string {
	t.Helper()
	args = append([]string{"-C", root, "-c", "core.autocrlf=false", "-c", "core.safecrlf=false"}, args...)
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, &stderr)
	}
	return string(out)
}

// gitIDs returns git's blob ids of files, with attributes applied.
func gitIDs(t testing.TB, root string, paths []string) []repo.ID {
	t.Helper()
	out := git(t, root, strings.Join(paths, "\n")+"\n", "hash-object", "--stdin-paths")
	var ids []repo.ID
	for line := range strings.Lines(out) {
		ids = append(ids, id(t, strings.TrimSpace(line)))
	}
	if len(ids) != len(paths) {
		t.Fatalf("git returned %d ids for %d paths", len(ids), len(paths))
	}
	return ids
}

func id(t testing.TB, s string) repo.ID {
	t.Helper()
	id, err := repo.ParseID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// blob returns git's id of a text without conversion.
func blob(t testing.TB, root, text string) repo.ID {
	t.Helper()
	return id(t, strings.TrimSpace(git(t, root, text, "hash-object", "--no-filters", "--stdin")))
}

func sumOf(text string) repo.MD5 { return md5.Sum([]byte(text)) }

// readOne reads one file. Its clock is in the future, so that no file is racy.
func readOne(t testing.TB, root, name string, c repo.Convert) repo.Reading {
	t.Helper()
	got, err := content.Open(root, content.Options{Now: later}).Read(t.Context(), []repo.ReadRequest{{Path: repo.Path(name), Convert: c}})
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

func later() time.Time { return time.Now().Add(time.Hour) }

// stat returns the result of Stat for paths.
func stat(t testing.TB, root string, paths ...string) []repo.FileStat {
	t.Helper()
	entries := make([]repo.Entry, len(paths))
	for i, p := range paths {
		entries[i].Path = repo.Path(p)
	}
	found, err := content.Open(root, content.Options{}).Stat(t.Context(), entries)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
