//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// If the directory is read-only, ken install fails with a hint and leaves no partial files.
func TestHooksInReadOnlyDirectory(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("first")
	sandbox := asNobody()
	if os.Geteuid() == 0 {
		for _, dir := range []string{r.Dir, filepath.Join(r.Dir, ".git")} {
			if err := os.Chown(dir, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
	}
	closeOff(t, r.Dir, t.TempDir())
	o := ken(t, r, sandbox, "install", "git", "--hooks")
	if o.status != 1 || !strings.Contains(o.stderr, "\nhint: ") || !strings.Contains(o.stderr, "chmod u+w") {
		t.Errorf("exit %d\n%s%s", o.status, o.stdout, o.stderr)
	}
	left, err := os.ReadDir(filepath.Join(r.Dir, ".git", "hooks"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if !strings.HasSuffix(e.Name(), ".sample") {
			t.Errorf("ken install left %s", e.Name())
		}
	}
	if o := ken(t, r, sandbox, "install", "git", "--hooks", "--dry-run"); o.status != 0 || !strings.Contains(o.stdout, "would create") {
		t.Errorf("a dry run: exit %d\n%s%s", o.status, o.stdout, o.stderr)
	}
}
