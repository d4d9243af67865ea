//go:build linux || darwin

package state

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"ken/internal/contract"
)

// A pipe by the name of a file is seen for what it is, and not waited for.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "workflow.yaml")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	d := openDir(t, dir, Options{})
	if e, err := d.Entries(t.Context()); len(e) != 1 || e[0].Kind != contract.Special || err != nil {
		t.Errorf("entries %v, %v", e, err)
	}
	if _, err := d.Read("workflow.yaml"); !errors.Is(err, errSpecial) {
		t.Errorf("read: %v", err)
	}
	h := lockDirectory(t, dir)
	if err := h.Append("workflow.yaml", []byte("x"), 0); !errors.Is(err, errSpecial) {
		t.Errorf("append: %v", err)
	}
	if err := h.SetAside("workflow.yaml"); !errors.Is(err, errSpecial) {
		t.Errorf("set aside: %v", err)
	}
	if err := h.Replace("workflow.yaml", []byte("now a file")); err != nil {
		t.Errorf("replace: %v", err)
	}
	unlockDirectory(t, h)
	if b, err := d.Read("workflow.yaml"); string(b) != "now a file" {
		t.Errorf("%q, %v", b, err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "p"), 0o644); err != nil {
		t.Fatal(err)
	}
	if e, err := openDir(t, filepath.Join(dir, "p"), Options{}).Entries(t.Context()); err == nil {
		t.Errorf("a pipe holds %v", e)
	}
	// It is moved like anything else.
	out := apply(t, dir, reset("p", "workflow.yaml"))
	s := snapshots(t, dir)
	if len(out.Failed) > 0 || len(s) != 1 || s[0].Manifest.Files[0].Kind != "special" {
		t.Errorf("%+v, %+v", out, s)
	}
}
