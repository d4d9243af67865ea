//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ken/internal/testrepo"
)

// A full disk and missing permissions end with the path and the next step.
func TestStateDiskHints(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system and run a program as another user")
	}
	t.Run("full disk", func(t *testing.T) {
		r := testrepo.New(t)
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
			t.Skipf("this machine does not allow a mount: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
		state := filepath.Join(dir, "state")
		mustKen(t, r, "state", "--dir", state, "update", "a=1")
		if err := os.WriteFile(filepath.Join(dir, "rest"), make([]byte, 64<<10), 0o644); err == nil {
			t.Fatal("the disk is not full")
		}
		o := ken(t, r, nil, "state", "--dir", state, "update", "a=2")
		if o.status != 1 || !strings.Contains(o.stderr, "no space left") || !strings.Contains(o.stderr, "hint: make room on the disk") || !strings.Contains(o.stderr, "df -h "+state) {
			t.Errorf("update on a full disk: %+v; want exit 1 and a hint with the directory", o)
		}
	})
	t.Run("another user's file", func(t *testing.T) {
		r := testrepo.New(t)
		r.Write("a.go", "package a\n")
		r.Commit("first")
		mustKen(t, r, "state", "put", "plan.md", "-m", "p")
		state := filepath.Join(r.Dir, ".ken", "state")
		closeOff(t, r.Dir, t.TempDir())
		open(t, r.Dir)
		chmod(t, filepath.Join(state, ".journal.jsonl"), 0o600)
		o := ken(t, r, asNobody(), "state", "put", "spec.md", "-m", "s")
		if o.status != 1 || !strings.Contains(o.stderr, ".journal.jsonl") || !strings.Contains(o.stderr, "permission denied") || !strings.Contains(o.stderr, "show the owner with: ls -la "+state) {
			t.Errorf("put beside another user's journal: %+v; want exit 1, the file, and a hint", o)
		}
	})
}
