package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"ken/internal/testrepo"
)

// Many processes write summaries and verify at once. All succeed, and no acknowledged summary is lost.
func TestConcurrentWriters(t *testing.T) {
	const writers, each = 8, 6
	r := testrepo.New(t)
	for w := range writers {
		for i := range each {
			r.Write(fmt.Sprintf("w%d/f%d.go", w, i), fmt.Sprintf("package w%d // %d\n", w, i))
		}
	}
	r.Commit("first")
	var processes sync.WaitGroup
	for w := range writers {
		processes.Go(func() {
			for i := range each {
				path := fmt.Sprintf("w%d/f%d.go", w, i)
				if o := ken(t, r, nil, "summary", "set", path, "-m", "words about "+path); o.status != 0 {
					t.Errorf("ken summary set %s failed: %+v", path, o)
				}
				if o := ken(t, r, nil, "verify"); o.status != 0 {
					t.Errorf("concurrent verify: %+v", o)
				}
			}
		})
	}
	processes.Wait()
	mustKen(t, r, "verify", "--check")
	rep := decode[report](t, mustKen(t, r, "status", "--json"))
	if rep.State != "trust" || rep.Counts["fresh"] != writers*each {
		t.Fatalf("after all writers: %+v", rep)
	}
}

// A command that finds the store locked names the holder, and does not hang.
func TestStoreLocked(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("first")
	mustKen(t, r, "verify")
	holder := exec.CommandContext(t.Context(), "sqlite3", r.Dir+"/.git/ken/ken.db")
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, "begin immediate; select 'locked';")
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	o := ken(t, r, nil, "summary", "set", "a.go", "-m", "words")
	if o.status != 5 || !strings.Contains(o.stderr, fmt.Sprintf("process %d (sqlite3)", holder.Process.Pid)) || !strings.Contains(o.stderr, "hint: ") {
		t.Errorf("while locked: %+v", o)
	}
	// Reading does not wait for a writer.
	if o := ken(t, r, nil, "status", "--json"); o.status != 0 {
		t.Errorf("status while locked: %+v", o)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := holder.Wait(); err != nil {
		t.Fatal(err)
	}
	mustKen(t, r, "summary", "set", "a.go", "-m", "words")
}
