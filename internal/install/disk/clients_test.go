package disk

import (
	"os"
	"path/filepath"
	"testing"

	"ken/internal/install"
	"ken/internal/testrepo"
)

// Install neither overwrites nor removes a file that changed after ken read it.
func TestInstallKeepsChangedClientFile(t *testing.T) {
	c, err := install.FindClient("claude")
	if err != nil {
		t.Fatal(err)
	}
	file := c.In(install.Project)[0]
	made, err := file.Install(nil)
	if err != nil {
		t.Fatal(err)
	}
	const theirs = "{\"mine\": 1}\n"
	for name, tt := range map[string]struct {
		before []byte // nil when it is not there
		decide func([]byte) (install.FileChange, error)
	}{
		"one that is made":     {nil, file.Install},
		"one that is added to": {[]byte("{}\n"), file.Install},
		"one that is removed":  {made.Text, file.Uninstall},
	} {
		r := testrepo.New(t)
		path := r.Path(file.Path)
		if tt.before != nil {
			r.Write(file.Path, string(tt.before))
		}
		seen, err := Clients{Root: r.Dir}.file(file)
		if err != nil {
			t.Fatal(err)
		}
		change, err := tt.decide(seen.text)
		if err != nil || change.Op == install.Nothing {
			t.Fatalf("%s: the planned change is %q, %v; want a change", name, change.Action, err)
		}
		r.Write(file.Path, theirs)
		if err := seen.apply(change); err == nil {
			t.Errorf("%s: %s, want an error", name, change.Action)
		}
		if got := r.Read(file.Path); got != theirs {
			t.Errorf("%s: it has %q", name, got)
		}
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp")); err != nil || len(left) > 0 {
			t.Errorf("%s: it leaves %v, %v", name, left, err)
		}
	}
}

// Only the user can read a file that ken creates in the home directory. Files in a work tree
// have the usual mode.
func TestModeOfClientFiles(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	r := testrepo.New(t)
	space := Clients{Root: r.Dir}
	c, err := install.FindClient("claude")
	if err != nil {
		t.Fatal(err)
	}
	for scope, group := range map[install.Scope]os.FileMode{install.User: 0, install.Project: 0o044} {
		if _, err := space.Install(t.Context(), c, install.Options{Scope: scope}); err != nil {
			t.Fatal(err)
		}
		for _, f := range c.In(scope) {
			at, err := space.file(f)
			if err != nil || at.text == nil {
				t.Fatalf("%s was not installed: %v", f.Path, err)
			}
			if at.mode&0o077 != group {
				t.Errorf("%s has the mode %v; want the bits %v for others", at.shown, at.mode, group)
			}
		}
	}
}
