package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/sqlite"
	"ken/internal/store/storetest"
)

// With these environment variables, the test binary runs as another process that uses a store.
const (
	childVerb = "KEN_STORE_CHILD"
	childPath = "KEN_STORE_PATH"
	childName = "KEN_STORE_NAME"
)

// The exit status of the child.
const (
	childDone   = 0
	childFailed = 10
	childFull   = 11
)

func TestMain(m *testing.M) {
	switch os.Getenv(childVerb) {
	case "":
		os.Exit(m.Run())
	case "change":
		os.Exit(childChange())
	case "many":
		os.Exit(childMany())
	case "settle":
		os.Exit(childSettle())
	}
}

// crashRows is large enough for several pages.
const crashRows = 60

func crashChange(to string) store.FileChanges {
	c := store.FileChanges{Verification: &store.Verification{Head: storetest.ID(to)}}
	for i := range crashRows {
		text := fmt.Sprintf("%s %d", to, i)
		c.Put = append(c.Put, storetest.Row(repo.Path(fmt.Sprintf("dir/file%03d", i)), text))
		c.Records = append(c.Records, storetest.Record("about "+text, text, i))
	}
	return c
}

func childChange() int {
	// strace counts system calls by thread.
	runtime.LockOSThread()
	s := sqlite.Open(os.Getenv(childPath), sqlite.Options{})
	c := crashChange("new")
	now, _, err := s.LastVerification(context.Background(), "")
	if err == nil {
		c.Verification.Generation = now.Generation
		err = s.Commit(context.Background(), "", c, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if strings.Contains(err.Error(), "disk is full") && strings.Contains(fault.HintOf(err), "df -h") {
			return childFull
		}
		return childFailed
	}
	// The commit succeeded, so an error of Close loses nothing.
	if err := os.WriteFile(os.Getenv(childPath)+".acknowledged", nil, 0o666); err != nil {
		return childDone
	}
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return childDone
}

// checkWhole verifies that the store has the complete old or new state, and can be written. It returns the state.
func checkWhole(t *testing.T, path, old string) (state string) {
	t.Helper()
	s := open(t, path)
	defer s.Close()
	b, ok, err := s.LastVerification(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case !ok:
		state = ""
	case b.Head == storetest.ID("new"):
		state = "new"
	case b.Head == storetest.ID("old"):
		state = "old"
	}
	if state != old && state != "new" {
		t.Fatalf("the database has the state %q; want %q or \"new\"", state, old)
	}
	rows := storetest.Rows(t, s, "")
	tally, err := s.Counts(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var want store.FileCounts
	if state != "" {
		want = store.FileCounts{Files: crashRows, Fresh: crashRows}
	}
	if tally != want || len(rows) != want.Files {
		t.Fatalf("state %q: %d rows, tally %+v", state, len(rows), tally)
	}
	for i, r := range rows {
		if r.Content != storetest.Content(fmt.Sprintf("%s %d", state, i)) {
			t.Fatalf("state %q has a row of the other state", state)
		}
		known, err := s.Newest(t.Context(), []repo.Content{r.Content})
		if err != nil || known[r.Content].Text != fmt.Sprintf("about %s %d", state, i) {
			t.Fatalf("state %q, row %d: %v, %v", state, i, known, err)
		}
	}
	newRecords, err := s.NewestBases(t.Context(), []repo.Content{storetest.Content("new 0")})
	if err != nil || (len(newRecords) == 1) != (state == "new") {
		t.Fatalf("state %q: new records %v, %v", state, newRecords, err)
	}
	storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("after", "the crash")}})
	if n := len(storetest.Rows(t, s, "")); n != want.Files+1 {
		t.Fatalf("%d rows after one more", n)
	}
	if _, err := os.Stat(path + ".acknowledged"); err == nil && state != "new" {
		t.Fatal("a committed change is lost")
	}
	return state
}

// inject runs the child and injects a fault into the nth of some system calls, and into all later ones if forever
// is set. It returns the exit status, -1 if the child was killed.
func inject(t *testing.T, verb, path, calls, accident string) int {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatalf("these tests need strace (Debian: apt install strace): %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-o", "/dev/null",
		"-e", "trace="+calls, "-e", "inject="+calls+":"+accident, self)
	cmd.Env = append(os.Environ(), childVerb+"="+verb, childPath+"="+path)
	out, err := cmd.CombinedOutput()
	status := cmd.ProcessState.ExitCode()
	if err != nil && status > 0 && status != childFailed && status != childFull && status < 128 {
		t.Fatalf("strace failed with %v\n%s", err, out)
	}
	if status != childDone && status != childFailed && status != childFull {
		status = -1
	}
	return status
}

// prepare creates a store with the state old. If old is "", it creates none.
func prepare(t *testing.T, old string) (path string) {
	t.Helper()
	path = dbPath(t)
	if old != "" {
		s := open(t, path)
		storetest.Commit(t, s, "", crashChange(old))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// everyFault runs the child with a fault at its first write, its second, and so on until there are no more writes.
func everyFault(t *testing.T, calls, accident string, check func(t *testing.T, old, path string, status int)) {
	t.Helper()
	for _, old := range []string{"", "old"} {
		t.Run("from "+strconv.Quote(old), func(t *testing.T) {
			t.Parallel()
			met := 0
			for n := 1; ; n++ {
				path := prepare(t, old)
				status := inject(t, "change", path, calls, fmt.Sprintf(accident, n))
				check(t, old, path, status)
				if t.Failed() {
					t.Fatalf("at call %d", n)
				}
				// A fault after the commit, while closing, does not count.
				if status == childDone {
					if met < 5 {
						t.Errorf("only %d faults; does the child still write with %s?", met, calls)
					}
					return
				}
				met++
				if n > 2000 {
					t.Fatal("too many writes")
				}
			}
		})
	}
}

// If the process is killed at any write, the store has the old or the new state, and works.
func TestKilledAtEveryWrite(t *testing.T) {
	everyFault(t, "pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat,rename,renameat,mkdir,mkdirat", "signal=SIGKILL:when=%d",
		func(t *testing.T, old, path string, status int) {
			t.Helper()
			if status == childFailed || status == childFull {
				t.Errorf("exit status %d", status)
			}
			checkWhole(t, path, old)
		})
}

// If the disk becomes full at any write, Commit returns an error, and the old state stays.
func TestFullDisk(t *testing.T) {
	everyFault(t, "pwrite64,ftruncate,fallocate", "error=ENOSPC:when=%d+",
		func(t *testing.T, old, path string, status int) {
			t.Helper()
			if status == -1 {
				t.Error("the child crashed")
			}
			state := checkWhole(t, path, old)
			if status != childDone && state == "new" {
				t.Error("the store has a change that failed")
			}
		})
}

// settleSize is large enough for several pages.
const settleSize = 20_000

func settled() (store.Lease, *store.DirRecord) {
	r := storetest.Directory("a", "new", 1)
	r.Text = strings.Repeat("x", settleSize)
	return storetest.Lease("a", "token", 10), r
}

func childSettle() int {
	runtime.LockOSThread() // strace counts system calls by thread
	s := sqlite.Open(os.Getenv(childPath), sqlite.Options{})
	l, r := settled()
	if ok, err := s.Complete(context.Background(), "", l, r); !ok || err != nil {
		fmt.Fprintln(os.Stderr, ok, err)
		return childFailed
	}
	if err := os.WriteFile(os.Getenv(childPath)+".acknowledged", nil, 0o666); err != nil {
		return childDone
	}
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return childDone
}

// If the process is killed at any write, the lease is settled or still held.
func TestCompleteKilledAtEveryWrite(t *testing.T) {
	l, r := settled()
	for n, met := 1, 0; ; n++ {
		path := dbPath(t)
		s := open(t, path)
		storetest.SaveDirRecords(t, s, storetest.Directory("a", "old", 0))
		if ok, err := s.Acquire(t.Context(), "", l, storetest.Epoch); !ok || err != nil {
			t.Fatalf("Take returned %t, %v; want true", ok, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		status := inject(t, "settle", path, "pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat,rename,renameat",
			fmt.Sprintf("signal=SIGKILL:when=%d", n))
		latest, err := s.Latest(t.Context())
		if err != nil || len(latest["a"]) != 1 {
			t.Fatalf("at call %d: %v, %v", n, latest, err)
		}
		held, err := s.Leases(t.Context(), "")
		if err != nil {
			t.Fatalf("at call %d: %v", n, err)
		}
		done := latest["a"][0].Text == r.Text
		if done == (len(held) == 1) || !done && latest["a"][0].Text != "about old" {
			t.Fatalf("at call %d: %.20s, %d leases", n, latest["a"][0].Text, len(held))
		}
		if _, err := os.Stat(path + ".acknowledged"); err == nil && !done {
			t.Fatalf("at call %d: a settled record is lost", n)
		}
		// A lease that is still held can be settled once.
		if ok, err := s.Complete(t.Context(), "", l, r); ok == done || err != nil {
			t.Fatalf("at call %d: settling again: %v, %v", n, ok, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if status == childFailed {
			t.Fatalf("at call %d: it failed", n)
		}
		if status == childDone {
			if met < 5 {
				t.Errorf("only %d faults", met)
			}
			return
		}
		met++
	}
}

// childMany is a child of TestTwoProcesses. It makes many small commits. Some conflict with those of other processes.
func childMany() int {
	s := sqlite.Open(os.Getenv(childPath), sqlite.Options{})
	defer s.Close()
	name := os.Getenv(childName)
	for i := range 40 {
		text := fmt.Sprintf("%s %d", name, i)
		err := s.Commit(context.Background(), name, store.FileChanges{
			Put:     []store.FileRow{storetest.Row(repo.Path(text), text), storetest.Row("shared", "shared")},
			Records: []fresh.Record{storetest.Record("about "+text, text, i), storetest.Record("shared", fmt.Sprint(i), 0)},
		}, nil)
		if err == nil {
			_, err = s.Counts(context.Background(), name)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return childFailed
		}
	}
	return childDone
}

func TestTwoProcesses(t *testing.T) {
	path := dbPath(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	names := []string{"a", "b", "c"}
	for _, name := range names {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), childVerb+"=many", childPath+"="+path, childName+"="+name)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("child %s failed with %v\n%s", name, err, out)
			}
		})
	}
	wg.Wait()
	s := open(t, path)
	for _, name := range names {
		tally, err := s.Counts(t.Context(), name)
		if want := (store.FileCounts{Files: 41, Fresh: 40, None: 1}); err != nil || tally != want {
			t.Errorf("Counts(%q) returned %+v, %v; want %+v", name, tally, err, want)
		}
	}
	all, _, err := s.Since(t.Context(), "", 1000)
	if err != nil || len(all) != 3*40+40 {
		t.Errorf("Since returned %d records, %v; want %d", len(all), err, 3*40+40)
	}
	if got := shell(t, path, "PRAGMA integrity_check"); got != "ok" {
		t.Errorf("PRAGMA integrity_check returned %q; want ok", got)
	}
	if entries, err := filepath.Glob(path + "*"); err != nil || len(entries) > 3 {
		t.Errorf("remaining files: %v, %v", entries, err)
	}
}

// The error of a directory that cannot be written is ErrReadOnly.
func TestErrReadOnly(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ken"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(dir, "ken", "ken.db"))
	err := s.Commit(t.Context(), "", crashChange("x"), nil)
	if err == nil || errors.Is(err, sqlite.ErrReadOnly) {
		t.Errorf("a file in the way: %v", err)
	}
	ro := openWith(t, dbPath(t), sqlite.Options{ReadOnly: true})
	if err := ro.Commit(t.Context(), "", crashChange("x"), nil); !errors.Is(err, sqlite.ErrReadOnly) {
		t.Errorf("Commit returned the error %v; want %v", err, sqlite.ErrReadOnly)
	}
}
