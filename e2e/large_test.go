//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"ken/internal/testrepo"
)

// A file of 2 GB is streamed: it has a verdict and an md5, and it is never in
// memory as a whole.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	const size = 2 << 30
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Write("large.dat", "")
	r.Commit("first")
	// Sparse, so that it costs no disk; and not committed, so that git need not
	// compress it.
	if err := os.Truncate(filepath.Join(r.Dir, "large.dat"), size); err != nil {
		t.Fatal(err)
	}
	var cmd *exec.Cmd
	o := ken(t, r, func(c *exec.Cmd) { cmd = c }, "verify", "--json")
	if o.status != 0 {
		t.Fatalf("%+v", o)
	}
	rep := decode[report](t, o.stdout)
	for _, v := range rep.Verdicts {
		if v.Path == "large.dat" && (v.MD5 != "a981130cf2b7e09f4686dc273cf7187e" || v.Summary != "excluded") {
			t.Errorf("%+v", v)
		}
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); !ok || usage.Maxrss > 100<<10 {
		t.Errorf("%d KB resident", usage.Maxrss)
	}
}
