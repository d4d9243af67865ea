//go:build linux || darwin

package state

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ken/internal/fault"
)

// startChild starts such a process; its output is the caller's to read.
func startChild(t testing.TB, act, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, dir)
	cmd.Env = append(os.Environ(), childEnv+"="+act)
	return cmd
}

// patience turns a wait without end into a failure.
const patience = 5 * time.Minute

// tryOnce says how an attempt to lock ended that may wait for so long.
func tryOnce(t testing.TB, dir string, wait time.Duration) error {
	t.Helper()
	h, err := openDir(t, dir, Options{Wait: wait}).Lock(t.Context(), "try")
	if err != nil {
		return err
	}
	return h.Unlock()
}

func lockFile(dir string) string { return filepath.Join(dir, testNames.Lock) }

// holdInChild returns a process that holds the lock, and a function that ends it.
func holdInChild(t testing.TB, dir string) (cmd *exec.Cmd, release func()) {
	t.Helper()
	cmd = startChild(t, "hold", dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	return cmd, func() {
		in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}
}

func TestLockFileNamesTheProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x", "y")
	h := lockDirectory(t, dir)
	b, err := os.ReadFile(lockFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		PID          int       `json:"pid"`
		Host         string    `json:"host"`
		ProcessStart time.Time `json:"process_start"`
		Command      string    `json:"command"`
		Since        time.Time `json:"since"`
	}
	if err := json.Unmarshal(b, &got); err != nil || bytes.Count(b, []byte("\n")) != 1 {
		t.Fatalf("the lock file is %s: %v; want one line of JSON", b, err)
	}
	host, _ := os.Hostname()
	if got.PID != os.Getpid() || got.Host != host || got.Command != "test" || !got.Since.Equal(now) {
		t.Errorf("the lock file names the holder %+v; want this process", got)
	}
	if age := time.Since(got.ProcessStart); age < 0 || age > time.Hour {
		t.Errorf("this process is %v old", age)
	}
	unlockDirectory(t, h)
	if _, err := os.Lstat(lockFile(dir)); err == nil {
		t.Error("the lock file was not removed")
	}
}

func TestLockedErrorNamesTheHolder(t *testing.T) {
	dir := t.TempDir()
	cmd, release := holdInChild(t, dir)
	start := time.Now()
	err := tryOnce(t, dir, 50*time.Millisecond)
	if took := time.Since(start); took < 50*time.Millisecond {
		t.Errorf("waited %v, want 50 ms", took)
	}
	if fault.KindOf(err) != fault.Locked || !strings.Contains(fault.HintOf(err), "--wait") {
		t.Errorf("error %v, hint %q", err, fault.HintOf(err))
	}
	for _, part := range []string{fmt.Sprintf("process %d", cmd.Process.Pid), "(hold on)", "since 20"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
	if err := tryOnce(t, dir, -1); fault.KindOf(err) != fault.Locked {
		t.Errorf("without waiting: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := openDir(t, dir, Options{Wait: patience}).Lock(ctx, "x"); err == nil || fault.KindOf(err) == fault.Locked {
		t.Errorf("with a context that ended: %v", err)
	}
	stop, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openDir(t, dir, Options{}).Lock(stop, "x"); fault.KindOf(err) != fault.Interrupted {
		t.Errorf("with a context that was cancelled: %v", err)
	}
	release()
	if err := tryOnce(t, dir, patience); err != nil {
		t.Error(err)
	}
}

// The lock of a killed process is free at once.
func TestKilledProcessReleasesTheLock(t *testing.T) {
	dir := t.TempDir()
	cmd, release := holdInChild(t, dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := os.Lstat(lockFile(dir)); err != nil {
		t.Fatal("the killed process left no lock file; the test would prove nothing")
	}
	if err := tryOnce(t, dir, -1); err != nil {
		t.Error(err)
	}
}

// Only one goroutine has the lock at a time, and all of them get it.
func TestLockExcludes(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	var inside, most atomic.Int32
	for range 50 {
		wg.Go(func() {
			h, err := openDir(t, dir, Options{Wait: patience}).Lock(t.Context(), "goroutine")
			if err != nil {
				t.Error(err)
				return
			}
			most.Store(max(most.Load(), inside.Add(1)))
			if err := h.Append("log", []byte("line")); err != nil {
				t.Error(err)
			}
			inside.Add(-1)
			if err := h.Unlock(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if b, _ := os.ReadFile(filepath.Join(dir, "log")); most.Load() != 1 || string(b) != strings.Repeat("line\n", 50) {
		t.Errorf("%d goroutines had the lock at once; the log has %d bytes", most.Load(), len(b))
	}
}

func TestHundredProcesses(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if out, err := startChild(t, "count", dir).CombinedOutput(); err != nil {
				t.Errorf("the child failed with %v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if b, _ := os.ReadFile(filepath.Join(dir, "counter")); string(b) != "100" {
		t.Errorf("the counter is %s", b)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("files remain: %v", left)
	}
}

// A lock file without a kernel lock is a leftover, unless it has only the pid of a
// running process that can have written it.
func TestLeftoverLockFiles(t *testing.T) {
	dead := exec.CommandContext(t.Context(), "true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	live := exec.CommandContext(t.Context(), "sleep", "3600")
	if err := live.Start(); err != nil {
		t.Fatal(err)
	}
	defer live.Wait()
	defer live.Process.Kill()
	pid := strconv.Itoa(live.Process.Pid)
	for _, c := range []struct {
		name, content string
		age           time.Duration
		held          bool
	}{
		{"empty", "", 0, false},
		{"dead", strconv.Itoa(dead.Process.Pid), 0, false},
		{"live", pid, 0, true},
		{"live with newline", pid + "\n", 0, true},
		{"live, clocks a little apart", pid, time.Second, true},
		{"reused", pid, time.Hour, false},
		{"our own", strconv.Itoa(os.Getpid()), 0, false},
		{"of another user", "1", 0, true},
		{"group", "-" + pid, 0, false},
		{"zero", "0", 0, false},
		{"no number", "99999999999999999999", 0, false},
		{"not decimal", "0x1", 0, false},
		{"live in JSON", `{"pid":` + pid + `,"host":"h","command":"ken","since":"2026-01-01T00:00:00Z"}`, 0, false},
		{"other host", `{"pid":1,"host":"elsewhere","command":"ken","since":"2026-01-01T00:00:00Z"}`, 0, false},
		{"binary", "\x00\xff", 0, false},
		{"long", strings.Repeat("1", 1<<20), 0, false},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(lockFile(dir), []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-c.age)
		if err := os.Chtimes(lockFile(dir), at, at); err != nil {
			t.Fatal(err)
		}
		err := tryOnce(t, dir, 20*time.Millisecond)
		if got := fault.KindOf(err) == fault.Locked; got != c.held || !got && err != nil {
			t.Errorf("%s: tryOnce returned the error %v; held should be %t", c.name, err, c.held)
		}
		if c.held && (!strings.Contains(fault.HintOf(err), "rm ") || !strings.Contains(err.Error(), "process "+strings.TrimSpace(c.content))) {
			t.Errorf("%s: the error is %v with the hint %s; want the process, and how to remove the lock", c.name, err, fault.HintOf(err))
		}
		if b, _ := os.ReadFile(lockFile(dir)); c.held && string(b) != c.content {
			t.Errorf("%s: the lock file was overwritten with %s", c.name, b)
		}
	}
}

// A process that waits for another program gets the lock when that removes its file.
func TestLockAfterAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(lockFile(dir), []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(60*time.Millisecond, func() { os.Remove(lockFile(dir)) })
	if err := tryOnce(t, dir, patience); err != nil {
		t.Error(err)
	}
}

// If another program removes the lock file, two processes still cannot have the lock.
func TestRemovedLockFileStillLocks(t *testing.T) {
	dir := t.TempDir()
	_, release := holdInChild(t, dir)
	waiting := make(chan error, 1)
	go func() { waiting <- tryOnce(t, dir, patience) }()
	time.Sleep(20 * time.Millisecond)
	if err := os.Remove(lockFile(dir)); err != nil {
		t.Fatal(err)
	}
	if err := tryOnce(t, dir, 20*time.Millisecond); fault.KindOf(err) != fault.Locked || !strings.Contains(err.Error(), "an unknown program") {
		t.Errorf("got %v, want the error that the directory is locked", err)
	}
	select {
	case err := <-waiting:
		t.Errorf("a waiting process got the lock: %v", err)
	default:
	}
	// What another puts there meanwhile is not ours to remove.
	if err := os.WriteFile(lockFile(dir), []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	release()
	time.Sleep(30 * time.Millisecond)
	if b, _ := os.ReadFile(lockFile(dir)); string(b) != "1" {
		t.Errorf("the file of the other program was changed to %q", b)
	}
	os.Remove(lockFile(dir))
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

// Lock also waits for a program that locks only the file, as ken does where directories
// cannot be locked. A file that the program removes is not the lock any more.
func TestLockedFile(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(lockFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := tryLock(f); err != nil {
		t.Fatal(err)
	}
	if err := tryOnce(t, dir, 20*time.Millisecond); fault.KindOf(err) != fault.Locked {
		t.Errorf("tryOnce returned the error %v; want that the directory is locked", err)
	}
	time.AfterFunc(50*time.Millisecond, func() { os.Remove(lockFile(dir)) })
	if err := tryOnce(t, dir, patience); err != nil {
		t.Error(err)
	}
}

// A lock file that is removed between opening and locking is not the lock.
func TestLockFileRemovedBeforeLocking(t *testing.T) {
	dir := t.TempDir()
	d := openDir(t, dir, Options{})
	unlinked := false
	d.step = func(what string) error {
		if what == "lock "+testNames.Lock && !unlinked {
			unlinked = true
			return os.Remove(lockFile(dir))
		}
		return nil
	}
	h, err := d.Lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer unlockDirectory(t, h)
	mine, err := h.lock.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if now, err := os.Lstat(lockFile(dir)); err != nil || !unlinked || !os.SameFile(mine, now) {
		t.Errorf("another file than the lock file is locked: %v", err)
	}
}

// Lock creates the directory again if it is deleted while waiting.
func TestDirectoryReplacedWhileWaiting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	h := lockDirectory(t, dir)
	waiting := make(chan error, 1)
	go func() {
		h, err := openDir(t, dir, Options{Wait: patience}).Lock(t.Context(), "wait")
		if err == nil {
			err = h.Replace("a", nil)
		}
		waiting <- err
	}()
	time.Sleep(20 * time.Millisecond)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	unlockDirectory(t, h)
	if err := <-waiting; err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "a")); err != nil {
		t.Error(err)
	}
}

func TestLockFileMustBeAFile(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"link":      func(path string) error { return os.Symlink("elsewhere", path) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o644) },
	} {
		dir := t.TempDir()
		put(t, dir, map[string]string{"elsewhere": "e"})
		if err := make(lockFile(dir)); err != nil {
			t.Fatal(err)
		}
		before := image(t, dir)
		err := tryOnce(t, dir, patience)
		if err == nil || fault.KindOf(err) == fault.Locked || !strings.Contains(fault.HintOf(err), lockFile(dir)) {
			t.Errorf("%s: tryOnce returned the error %v with the hint %s; want a hint that names the lock file", name, err, fault.HintOf(err))
		}
		if d := diff(image(t, dir), before); d != "" {
			t.Errorf("%s: the directory changed:\n%s", name, d)
		}
	}
}

// After a real kill at any moment and the next Lock, all files are in the directory or
// in one snapshot.
func TestRealKill(t *testing.T) {
	dir := t.TempDir()
	files := make(map[string]string)
	for _, name := range churned {
		files[name] = "content of " + name
	}
	put(t, dir, files)
	before := image(t, dir)
	for range 25 {
		cmd := startChild(t, "churn", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(out)
		if line, err := r.ReadString('\n'); line != "done\n" {
			t.Fatalf("the child says %q, %v", line, err)
		}
		time.Sleep(rand.N(15 * time.Millisecond))
		_ = cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, r)
		_ = cmd.Wait()

		if err := tryOnce(t, dir, -1); err != nil {
			t.Fatal(err)
		}
		where := dir
		switch all := snapshots(t, dir); len(all) {
		case 0:
		case 1:
			where = filepath.Join(dir, ".archive", all[0].Name, "files")
		default:
			t.Fatalf("the snapshots are %+v; want at most one", all)
		}
		got := image(t, where)
		delete(got, ".archive")
		if d := diff(got, before); d != "" {
			t.Fatalf("the files in %s differ from those before:\n%s", where, d)
		}
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "state")
	put(t, dir, map[string]string{"a": "a"})
	cmd := startChild(t, "count", dir)
	if os.Getuid() == 0 { // whom no mode stops: it is tried as somebody else
		exe := filepath.Join(base, "child")
		b, err := os.ReadFile(cmd.Path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(exe, b, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{base, filepath.Dir(base)} {
			if err := os.Chmod(p, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Path = exe
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "cannot write to the state directory") || !strings.Contains(string(out), "hint: make it writable") {
		t.Errorf("the child ended with %v: %s; want an error about the directory, with a hint", err, out)
	}
}
