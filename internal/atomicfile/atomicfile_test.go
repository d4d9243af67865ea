package atomicfile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ken/internal/atomicfile"
)

func TestWriteReplacesContentAndMode(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, strings.Repeat("n", 255))
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for what, write := range map[string]func(content string) error{
		"Write":      func(c string) error { return atomicfile.Write(name, []byte(c), 0o755) },
		"WriteIn":    func(c string) error { return atomicfile.WriteIn(root, filepath.Base(name), []byte(c), 0o755) },
		"WriteCache": func(c string) error { return atomicfile.WriteCache(name, []byte(c)) },
	} {
		if err := write(what); err != nil {
			t.Fatalf("%s returned the error %v", what, err)
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != what {
			t.Errorf("after %s the file holds %q (%v), want %q", what, got, err, what)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); runtime.GOOS != "windows" && what != "WriteCache" && mode != 0o755 {
			t.Errorf("after %s the mode is %o, want 755", what, mode)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v (%v), want the file alone", entries, err)
	}
}

// The next write of a file removes what a killed process left of it, and nothing else.
func TestWriteInRemovesWhatIsLeft(t *testing.T) {
	dead := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	left := fmt.Sprintf(".a.json.%d.abc.tmp", dead.Process.Pid)
	stays := []string{
		fmt.Sprintf(".a.json.%d.abc.tmp", os.Getpid()), // it is being written
		fmt.Sprintf(".b.json.%d.abc.tmp", dead.Process.Pid),
		".a.json.notes.tmp",
	}
	for _, name := range append(stays, left) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := atomicfile.WriteIn(root, "a.json", []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, left)); err == nil {
		t.Errorf("%s is there, which a dead process left", left)
	}
	for _, name := range stays {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}

// A write that fails leaves the old file, and nothing beside it.
func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(name, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(name, []byte("new"), 0o644); err == nil {
		t.Error("Write replaced a directory, want an error")
	}
	if err := atomicfile.Write(filepath.Join(dir, "missing", "name"), nil, 0o644); err == nil {
		t.Error("Write made a file in a directory that does not exist, want an error")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v (%v), want the old entry alone", entries, err)
	}
}
