//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ken/internal/testrepo"
)

// stateWriters are the verbs that take the lock.
var stateWriters = [][]string{
	{"update", "a=2"},
	{"put", "plan.md", "-m", "x"},
	{"init", "--type", "dev"},
	{"cleanup", "--apply"},
	{"evict"},
	{"reset"},
	{"defer", "add", "t"},
}

// stateRepo creates a repository with a state directory in which every sweep finds something.
func stateRepo(t *testing.T) (r *testrepo.Repo, dir string) {
	t.Helper()
	r = testrepo.New(t)
	r.Write("a.txt", "a\n")
	r.Commit("first")
	mustKen(t, r, "state", "update", "a=1")
	dir = filepath.Join(r.Dir, ".ken", "state")
	for _, name := range []string{"consolidator-ran.txt", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return r, dir
}

// hold locks a file or directory in the kernel until the test ends or it is called
// again.
func hold(t *testing.T, path string, flags int) (letGo func()) {
	t.Helper()
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func announce(t *testing.T, dir, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, ".lock"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A command that finds the directory locked waits as long as --wait says, and then names
// the holder and the time. Readers do not wait.
func TestStateLockHeld(t *testing.T) {
	for _, c := range []struct {
		name, what string
		flags      int
	}{
		{"directory", ".", os.O_RDONLY},
		{"file", ".lock", os.O_RDWR},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, dir := stateRepo(t)
			announce(t, dir, fmt.Sprintf(`{"pid":%d,"host":"far.example","command":"ken state reset","since":"2026-01-02T03:04:05Z"}`+"\n", os.Getpid()))
			letGo := hold(t, filepath.Join(dir, c.what), c.flags)
			for _, args := range stateWriters {
				o := ken(t, r, nil, append([]string{"state", "--wait", "50ms"}, args...)...)
				for _, fact := range []string{fmt.Sprint("process ", os.Getpid()), "ken state reset", "far.example", "2026-01-02T03:04:05Z", "hint: "} {
					if o.status != 5 || !strings.Contains(o.stderr, fact) {
						t.Errorf("%q while locked: %+v lacks %q", args, o, fact)
					}
				}
			}
			for _, args := range [][]string{{"get"}, {"audit", "--json"}, {"check"}, {"cleanup"}, {"evict", "--dry-run"}, {"defer", "list"}, {"archive", "ls"}} {
				if o := ken(t, r, nil, append([]string{"state", "--wait", "50ms"}, args...)...); o.status != 0 {
					t.Errorf("%q while locked: %+v", args, o)
				}
			}
			letGo()
			mustKen(t, r, "state", "--wait", "50ms", "update", "a=2")
			if _, err := os.Lstat(filepath.Join(dir, ".lock")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the lock file remains: %v", err)
			}
		})
	}
}

// A waiting command gets the lock as soon as it is free.
func TestStateLockWaits(t *testing.T) {
	r, dir := stateRepo(t)
	letGo := hold(t, dir, os.O_RDONLY)
	done := make(chan outcome)
	go func() { done <- ken(t, r, nil, "state", "--wait", "1m", "update", "a=2") }()
	awaitWaiter(t, dir, done)
	letGo()
	if o := <-done; o.status != 0 {
		t.Fatalf("after waiting: %+v", o)
	}
}

// awaitWaiter returns when the kernel reports a process that waits for the lock of a directory.
func awaitWaiter(t *testing.T, dir string, done <-chan outcome) {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	waits := fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
	for tick := time.NewTicker(time.Millisecond); ; {
		select {
		case o := <-done:
			t.Fatalf("the command did not wait: %+v", o)
		case <-t.Context().Done():
			t.Fatal("no process waits for the lock")
		case <-tick.C:
		}
		locks, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(locks)) {
			if strings.Contains(line, "-> ") && strings.Contains(line, waits) {
				return
			}
		}
	}
}

// A lock file without a kernel lock is a leftover, unless it has only the pid of a
// running process, which is how devt locks.
func TestStateLeftoverLock(t *testing.T) {
	dead := exec.CommandContext(t.Context(), "true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	live := exec.CommandContext(t.Context(), "sleep", "600")
	if err := live.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = live.Process.Kill()
		_ = live.Wait()
	})
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, content string
		old, held     bool
	}{
		{name: "of a dead process", content: fmt.Sprintf(`{"pid":%d,"host":%q,"command":"ken state update"}`, dead.Process.Pid, host)},
		{name: "of a live process that has not locked", content: fmt.Sprintf(`{"pid":%d,"host":%q,"command":"ken state update"}`, live.Process.Pid, host)},
		{name: "of another host", content: `{"pid":1,"host":"far.example","command":"ken state update","since":"2026-01-02T03:04:05Z"}`},
		{name: "empty"},
		{name: "torn", content: `{"pid":`},
		{name: "nonsense", content: "\x00\xff\n"},
		{name: "long", content: strings.Repeat("9", 1<<20)},
		{name: "a dead bare number", content: fmt.Sprint(dead.Process.Pid)},
		{name: "a bare number older than its process", content: fmt.Sprint(live.Process.Pid), old: true},
		{name: "zero", content: "0"},
		{name: "negative", content: "-1"},
		{name: "a live bare number", content: fmt.Sprint(live.Process.Pid), held: true},
		{name: "a live bare number and a newline", content: fmt.Sprintln(live.Process.Pid), held: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, dir := stateRepo(t)
			announce(t, dir, c.content)
			if c.old {
				at := stamped(t, "2020-01-02T03:04:05Z")
				if err := os.Chtimes(filepath.Join(dir, ".lock"), at, at); err != nil {
					t.Fatal(err)
				}
			}
			o := ken(t, r, nil, "state", "--wait", "50ms", "update", "a=2")
			switch {
			case c.held && (o.status != 5 || !strings.Contains(o.stderr, fmt.Sprint("process ", live.Process.Pid)) || !strings.Contains(o.stderr, "hint: ")):
				t.Errorf("held: %+v", o)
			case !c.held && o.status != 0:
				t.Errorf("left: %+v", o)
			}
		})
	}
}

// as runs a command as a user without the privileges of root.
func as(uid uint32) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		}
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	}
}

// In a read-only directory, commands that read work, and commands that write fail with a
// hint and change nothing.
func TestStateReadOnly(t *testing.T) {
	r, dir := stateRepo(t)
	mustKen(t, r, "state", "reset")
	mustKen(t, r, "state", "update", "a=1")
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "consolidator-ran.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := listed(t, dir)
	closeOff(t, r.Dir, t.TempDir())
	for _, args := range [][]string{{"get"}, {"audit", "--json"}, {"check", "--check"}, {"cleanup"}, {"evict", "--dry-run"}, {"reset", "--dry-run"}, {"defer", "list"}, {"archive", "ls"}, {"contract"}} {
		if o := ken(t, r, as(nobody), append([]string{"state"}, args...)...); o.status != 0 {
			t.Errorf("ken state %q without the right to write failed: %+v", args, o)
		}
	}
	for _, args := range stateWriters {
		if o := ken(t, r, as(nobody), append([]string{"state", "--wait", "50ms"}, args...)...); o.status != 1 || !strings.Contains(o.stderr, "hint: ") || !strings.Contains(o.stderr, ".ken/state") {
			t.Errorf("ken state %q without the right to write: %+v; want status 1 and a hint", args, o)
		}
	}
	if after := listed(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("before %q, after %q", before, after)
	}
}

// Files that cannot be read are counted and reported, and do not block commands.
func TestStateUnreadable(t *testing.T) {
	r, dir := stateRepo(t)
	open(t, r.Dir)
	for _, name := range []string{"review.json", "research.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"status":"DONE"}`), 0o000); err != nil {
			t.Fatal(err)
		}
		chmod(t, filepath.Join(dir, name), 0o000)
	}
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		chmod(t, d, 0o777)
	}
	found := decode[struct{ Problems []struct{ File string } }](t, ken(t, r, as(nobody), "state", "check", "--json").stdout)
	if len(found.Problems) != 2 {
		t.Errorf("check: %+v", found)
	}
	if o := ken(t, r, as(nobody), "state", "audit", "--json"); o.status != 0 {
		t.Errorf("audit: %+v", o)
	}
	if o := ken(t, r, as(nobody), "state", "reset", "--json"); o.status != 0 {
		t.Errorf("reset: %+v", o)
	}
	if left := listed(t, dir); len(left) != 3 { // the archive, the journal and .gitignore
		t.Errorf("files remain: %q", left)
	}
}

// needsTwoUsers fails if the test cannot run ken as another user.
func needsTwoUsers(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("run the tests as root: this one runs ken as another user")
	}
}

// Entries that cannot be inspected are counted as unknown, and cleanup does not move
// them.
func TestStateUninspected(t *testing.T) {
	needsTwoUsers(t)
	r, dir := stateRepo(t)
	open(t, r.Dir)
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		chmod(t, d, 0o777)
	}
	names := listed(t, dir)
	chmod(t, dir, 0o444)
	t.Cleanup(func() { chmod(t, dir, 0o777) })
	o := ken(t, r, as(nobody), "state", "audit", "--json")
	if o.status != 0 {
		t.Fatalf("audit: %+v", o)
	}
	a := decode[struct{ Counts map[string]int }](t, o.stdout)
	if a.Counts["unknown"] != len(names) || a.Counts["total"] != len(names) {
		t.Errorf("audit of %q: %v", names, a.Counts)
	}
	if o := ken(t, r, as(nobody), "state", "audit", "--check"); o.status != 3 {
		t.Errorf("audit --check: %+v", o)
	}
	if o := ken(t, r, as(nobody), "state", "cleanup", "--json"); o.status != 0 || !strings.Contains(o.stdout, `"moves": []`) {
		t.Errorf("cleanup: %+v", o)
	}
}

// An entry that cannot be moved is reported, and the others move.
func TestStateImmovable(t *testing.T) {
	needsTwoUsers(t)
	r, dir := stateRepo(t)
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	open(t, r.Dir)
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		chmod(t, d, 0o777)
	}
	chmod(t, sub, 0o555) // its parent entry cannot be changed
	o := ken(t, r, as(nobody), "state", "cleanup", "--apply", "--json")
	done := decode[struct {
		Moves []struct{ Name, Status, Error string }
	}](t, o.stdout)
	if o.status != 1 || !strings.Contains(o.stderr, "hint: ") || len(done.Moves) != 2 {
		t.Fatalf("cleanup: %+v", o)
	}
	for _, m := range done.Moves {
		if m.Name == "sub" && (m.Status != "error" || m.Error == "") || m.Name == "notes.txt" && m.Status != "archived" {
			t.Errorf("cleanup returned the move %+v; want sub to fail and notes.txt to be archived", m)
		}
	}
	if _, err := os.Stat(sub); err != nil {
		t.Error(err)
	}
}

// A lock file of another user that cannot be opened is reported or harmless, and is never
// ignored while the lock is held.
func TestStateLockOfAnotherUser(t *testing.T) {
	needsTwoUsers(t)
	r, dir := stateRepo(t)
	open(t, r.Dir)
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		chmod(t, d, 0o777)
	}
	for _, mode := range []os.FileMode{0o600, 0o644, 0o666} {
		announce(t, dir, `{"pid":1,"host":"here","command":"ken state update"}`)
		chmod(t, filepath.Join(dir, ".lock"), mode)
		o := ken(t, r, as(nobody), "state", "--wait", "50ms", "update", "a=2")
		if o.status != 0 && (!strings.Contains(o.stderr, ".lock") || !strings.Contains(o.stderr, "hint: ")) {
			t.Errorf("mode %v: %+v", mode, o)
		}
		announce(t, dir, `{"pid":1,"host":"here","command":"ken state update"}`)
		letGo := hold(t, filepath.Join(dir, ".lock"), os.O_RDWR)
		if o := ken(t, r, as(nobody), "state", "--wait", "50ms", "update", "a=3"); o.status == 0 {
			t.Errorf("mode %v, held: %+v", mode, o)
		}
		letGo()
		if err := os.Remove(filepath.Join(dir, ".lock")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}
