package local_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A merge that is killed at any write loses nothing, and the next merge completes it.
func TestMergeKilledAtEveryWrite(t *testing.T) {
	const calls = "pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat,rename,renameat,mkdir,mkdirat"
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatalf("these tests need strace (Debian: apt install strace): %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, texts := range [][]string{{"two"}, {"one", "two"}} { // without a database to merge into, and with one
		t.Run(fmt.Sprint(texts), func(t *testing.T) {
			t.Parallel()
			b := newSandbox(t)
			if len(texts) > 1 {
				b.write("one")
			}
			b.child("writes", "two")
			dir := filepath.Dir(b.common)
			saved := filepath.Join(t.TempDir(), "saved")
			if err := os.CopyFS(saved, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			for n := 1; ; n++ {
				if err := errors.Join(os.RemoveAll(b.common), os.RemoveAll(b.state), os.CopyFS(dir, os.DirFS(saved))); err != nil {
					t.Fatal(err)
				}
				cmd := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace="+calls,
					"-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", calls, n), self)
				cmd.Env = append(os.Environ(), childVerb+"=merges", childArg+"=two",
					childCommon+"="+b.common, childState+"="+b.state)
				out, killed := cmd.CombinedOutput()
				if killed != nil && cmd.ProcessState.ExitCode() == 1 && len(out) > 0 {
					t.Fatalf("at call %d: %v\n%s", n, killed, out)
				}
				s := b.outside()
				for _, text := range texts {
					if err := knows(s, text); err != nil {
						t.Fatalf("at call %d: %v", n, err)
					}
				}
				if b.pending() {
					t.Fatalf("at call %d: still pending", n)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if killed == nil {
					if n < 10 {
						t.Errorf("the process was killed only %d times", n)
					}
					return
				}
			}
		})
	}
}
