//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ken/internal/testrepo"
)

// nobody is a user whom permission bits bind, which they do not root.
const nobody = 65534

// asNobody has a command run as a user whom permission bits bind, who calls every directory safe, with
// some more of the environment.
func asNobody(env ...string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		cmd.Env = append(append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"), env...)
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
	}
}

// An agent in a sandbox can read the git directory and not write it. It is
// answered all the same, sees what it wrote, and nothing of that is lost.
func TestReadOnlyGitDirectory(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("first")
	mustKen(t, r, "verify")
	mustKen(t, r, "summary", "set", "a.go", "-m", "from outside")

	state := t.TempDir()
	sandbox := asNobody("XDG_STATE_HOME=" + state)
	closeOff(t, r.Dir, state)

	o := ken(t, r, sandbox, "status", "--json")
	if rep := decode[report](t, o.stdout); o.status != 0 || rep.State != "trust" || rep.Counts["fresh"] != 1 {
		t.Fatalf("a read-only status: %+v", o)
	}
	if o := ken(t, r, sandbox, "summary", "set", "a.go", "-m", "from inside"); o.status != 0 {
		t.Fatalf("a write in the sandbox: %+v", o)
	}
	if o := ken(t, r, sandbox, "summary", "show", "a.go"); !strings.Contains(o.stdout, "from inside") {
		t.Fatalf("the sandbox does not see what it wrote: %+v", o)
	}
	if out := mustKen(t, r, "summary", "show", "a.go"); !strings.Contains(out, "from outside") {
		t.Fatalf("the sandbox got out: %s", out)
	}

	// The same user, where the git directory can be written again.
	open(t, r.Dir)
	if o := ken(t, r, sandbox, "summary", "show", "a.go"); !strings.Contains(o.stdout, "from inside") {
		t.Fatalf("merged: %+v", o)
	}
	if out := mustKen(t, r, "summary", "show", "a.go"); !strings.Contains(out, "from inside") {
		t.Fatalf("after the merge, the repository says %s", out)
	}
}

// closeOff gives a tree to nobody, without leave to write it, and the state
// directory with it.
func closeOff(t *testing.T, dir, state string) {
	t.Helper()
	walk(t, dir, 0o555, 0o444)
	for d := state; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		chmod(t, d, 0o777)
	}
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		chmod(t, d, 0o755)
	}
	t.Cleanup(func() { open(t, dir) })
}

func open(t *testing.T, dir string) {
	t.Helper()
	walk(t, dir, 0o777, 0o666)
}

func walk(t *testing.T, dir string, dirs, files os.FileMode) {
	t.Helper()
	chmod(t, dir, 0o777)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := filepath.Join(dir, e.Name()); e.IsDir() {
			walk(t, name, dirs, files)
		} else {
			chmod(t, name, files)
		}
	}
	chmod(t, dir, dirs)
}

func chmod(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}
