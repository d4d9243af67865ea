//go:build linux || darwin

package state

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An entry that cannot be inspected has the error, and a missing one is omitted.
func TestUninspected(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	long := strings.Repeat("x", 300)
	if e, there := statEntry(root, ".", long); !there || e.Err == nil || e.Name != long || e.Kind != Uninspected {
		t.Errorf("statEntry returned %+v; want the long name and an error", e)
	}
	if _, there := statEntry(root, ".", "gone"); there {
		t.Error("a missing entry was listed")
	}
}

// A pipe is listed as special, and reading it does not block.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "workflow.yaml")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	d := openDir(t, dir, Options{})
	if e, err := d.Entries(t.Context()); len(e) != 1 || e[0].Kind != Special || err != nil {
		t.Errorf("Entries returned %v, %v; want one special file", e, err)
	}
	if _, err := d.Read("workflow.yaml"); !errors.Is(err, errSpecial) {
		t.Errorf("Read of a pipe returned the error %v; want %v", err, errSpecial)
	}
	h := lockDirectory(t, dir)
	if err := h.Append("workflow.yaml", []byte("x")); !errors.Is(err, errSpecial) {
		t.Errorf("Append to a pipe returned the error %v; want %v", err, errSpecial)
	}
	if err := h.SetAside("workflow.yaml"); !errors.Is(err, errSpecial) {
		t.Errorf("SetAside of a pipe returned the error %v; want %v", err, errSpecial)
	}
	if err := h.Replace("workflow.yaml", []byte("now a file")); err != nil {
		t.Errorf("Replace of a pipe returned the error %v", err)
	}
	unlockDirectory(t, h)
	if b, err := d.Read("workflow.yaml"); string(b) != "now a file" {
		t.Errorf("Read returned %q, %v; want \"now a file\"", b, err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "p"), 0o644); err != nil {
		t.Fatal(err)
	}
	if e, err := openDir(t, filepath.Join(dir, "p"), Options{}).Entries(t.Context()); err == nil {
		t.Errorf("a pipe has the entries %v", e)
	}
	// It is moved like anything else.
	out := apply(t, dir, Change{Verb: "reset", Moves: moves("p", "workflow.yaml"), Keep: 5})
	s := snapshots(t, dir)
	if len(out.Failed) > 0 || len(s) != 1 || s[0].Manifest.Files[0].Kind != "special" {
		t.Errorf("apply returned %+v and left the snapshots %+v; want one, with a special file", out, s)
	}
}
