//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ken/internal/testrepo"
)

// ken streams a file of 512 MB: it computes a verdict and an md5 without loading the
// whole file into memory.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	const size = 512 << 20
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Write("large.dat", "")
	r.Commit("first")
	// Sparse, so that it costs no disk; and not committed, so that git need not
	// compress it.
	if err := os.Truncate(filepath.Join(r.Dir, "large.dat"), size); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "ken"), "verify", "--json")
	cmd.Dir, cmd.Env = r.Dir, r.Env()
	var stdout strings.Builder
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The system counts the memory of the test for its child too: the child shares it until the exec.
	most := 0
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		_, rest, found := strings.Cut(string(status), "VmHWM:")
		if err != nil || !found {
			break // a process that has ended has no memory
		}
		var kilobytes int
		if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
			t.Fatal(err)
		}
		most = max(most, kilobytes)
		time.Sleep(5 * time.Millisecond)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	rep := decode[report](t, stdout.String())
	for _, v := range rep.Verdicts {
		if v.Path == "large.dat" && (v.MD5 != "aa559b4e3523a6c931f08f4df52d58f2" || v.Summary != "excluded") {
			t.Errorf("the verdict of large.dat is %+v; want its md5, and no summary because it is excluded", v)
		}
	}
	if most == 0 || most > 100<<10 {
		t.Errorf("the resident size was %d KB; want more than 0 and at most 100 MB", most)
	}
}
