package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ken/internal/testrepo"
)

// writes are the system calls that change files.
const writes = "write,pwrite64,pwritev,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat"

// A command that is killed before any of its writes leaves the old state or the new one.
// Acknowledged summaries remain, and the next command works.
func TestKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
	}{
		{"bootstrap", []string{"verify"}},
		{"summary", []string{"summary", "set", "a.go", "-m", "new words"}},
		{"close", []string{"summary", "close", "-F", "updates.json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inject(t, c.args, "signal=SIGKILL", c.name != "bootstrap")
		})
	}
}

// If the disk becomes full at any write, the command fails with a message and nothing is lost.
func TestDiskFullAtEveryWrite(t *testing.T) {
	inject(t, []string{"summary", "set", "a.go", "-m", "new words"}, "error=ENOSPC", true)
}

// inject runs a command repeatedly in copies of one repository, with a failure
// at its first, second, … write, until the command succeeds.
func inject(t *testing.T, args []string, accident string, known bool) {
	t.Helper()
	proto := prepare(t, known)
	accidents := 0
	for n := 1; ; n++ {
		if n > 500 {
			t.Fatal("the command never succeeded; does it write without end?")
		}
		dir := filepath.Join(t.TempDir(), "copy")
		r := clone(t, proto, dir)
		trace := fmt.Sprintf("inject=%s:%s:when=%d", writes, accident, n)
		if accident != "signal=SIGKILL" {
			trace += "+" // a full disk stays full
		}
		out, err := r.run(t, "strace", append([]string{"-f", "-qq", "-o", os.DevNull, "-e", trace, filepath.Join(bin, "ken")}, args...)...)
		acknowledged := err == nil
		if !acknowledged {
			accidents++
		}
		r.mustHold(t, n, known, acknowledged, args, out)
		if acknowledged {
			break
		}
	}
	if accidents == 0 {
		t.Fatal("nothing was ever written, so nothing was tested")
	}
	t.Logf("%d failures survived", accidents)
}

type copied struct {
	dir string
	env []string
}

func prepare(t *testing.T, known bool) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Write("b.go", "package b\n")
	r.Write(".gitignore", "updates.json\n")
	r.Write("updates.json", `[{"path": "a.go", "summary": "new words"}]`)
	r.Commit("first")
	if known {
		c := &copied{r.Dir, r.Env()}
		for _, args := range [][]string{{"verify"}, {"summary", "set", "a.go", "-m", "old words"}, {"summary", "set", "b.go", "-m", "of b"}} {
			if out, err := c.run(t, filepath.Join(bin, "ken"), args...); err != nil {
				t.Fatalf("ken %v failed with %v\n%s", args, err, out)
			}
		}
	}
	return r
}

func clone(t *testing.T, r *testrepo.Repo, dir string) *copied {
	t.Helper()
	c := &copied{r.Dir, r.Env()}
	if out, err := c.run(t, "cp", "-a", r.Dir, dir); err != nil {
		t.Fatalf("cp failed with %v\n%s", err, out)
	}
	c.dir = dir
	return c
}

func (c *copied) run(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok && err != nil {
		t.Fatalf("%s %v did not run: %v", name, args, err)
	} else if ok && exit.ExitCode() == 2 && len(out) > 0 {
		// Without a word it is Go's runtime: it wakes itself by writes too, and ends when they fail.
		t.Fatalf("%s %v exited with 2: %s", name, args, out)
	}
	return string(out), err
}

// mustHold checks the state that a reader finds after failure n.
func (c *copied) mustHold(t *testing.T, n int, known, acknowledged bool, args []string, out string) {
	t.Helper()
	ken := filepath.Join(bin, "ken")
	if strings.Contains(out, "panic") || strings.Contains(out, "goroutine") {
		t.Fatalf("failure %d: %s", n, out)
	}
	for _, next := range [][]string{{"status"}, {"verify"}, {"status", "--check"}} {
		if out, err := c.run(t, ken, next...); err != nil {
			t.Fatalf("failure %d in %v, then %v: %v\n%s", n, args, next, err, out)
		}
	}
	if out, err := c.run(t, "sqlite3", filepath.Join(".git", "ken", "ken.db"), "pragma integrity_check"); err != nil || strings.TrimSpace(out) != "ok" {
		t.Fatalf("failure %d in %v: the integrity check of the store says %q, %v", n, args, out, err)
	}
	if !known {
		return
	}
	var k []struct{ Path, Text, Verdict string }
	shown, err := c.run(t, ken, "summary", "show", "a.go", "b.go", "--json")
	if err == nil {
		err = json.Unmarshal([]byte(shown), &k)
	}
	if err != nil {
		t.Fatalf("failure %d in %v: %v\n%s", n, args, err, shown)
	}
	a, b := k[0], k[1]
	if b.Text != "of b" || b.Verdict != "fresh" || a.Verdict != "fresh" {
		t.Fatalf("failure %d in %v: %+v", n, args, k)
	}
	if a.Text != "new words" && (acknowledged || a.Text != "old words") {
		t.Fatalf("failure %d in %v, acknowledged %v: the summary of a.go is %q", n, args, acknowledged, a.Text)
	}
}
