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

// nobody is a user without the privileges of root, so that permission bits apply.
const nobody = 65534

// asNobody makes a command run as the user nobody, with every directory declared safe and with
// additional environment variables.
func asNobody(env ...string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		cmd.Env = append(append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"), env...)
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
	}
}

// An agent in a sandbox can read the git directory but not write to it. ken still answers,
// shows the summaries that the agent wrote, and loses none of them.
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
		t.Fatalf("ken does not show the summary that the sandbox wrote: %+v", o)
	}
	if out := mustKen(t, r, "summary", "show", "a.go"); !strings.Contains(out, "from outside") {
		t.Fatalf("the sandbox wrote to the git directory: %s", out)
	}

	// The same user, with a git directory that is writable again.
	open(t, r.Dir)
	if o := ken(t, r, sandbox, "summary", "show", "a.go"); !strings.Contains(o.stdout, "from inside") {
		t.Fatalf("merged: %+v", o)
	}
	if out := mustKen(t, r, "summary", "show", "a.go"); !strings.Contains(out, "from inside") {
		t.Fatalf("after the merge, ken prints %s", out)
	}
}

// closeOff makes nobody the owner of a tree and of the state directory, and makes the tree
// read-only.
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
