//go:build linux

package content_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"ken/internal/content"
	"ken/internal/repo"
)

// Read does not wait for the other end of a pipe.
func TestReadSpecialFiles(t *testing.T) {
	root := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root) // a socket's address must be short
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, name := range []string{"pipe", "socket"} {
		if f := stat(t, root, name)[0]; f.Presence != repo.Special {
			t.Errorf("Stat of the %s returned %v; want a special file", name, f)
		}
		if g := readOne(t, root, name, repo.ConvertNone); g.Found.Presence != repo.Special || g.Err == nil || !g.Found.Stat.IsZero() {
			t.Errorf("reading the %s gave %+v; want a special file and an error", name, g)
		}
	}
}

// A file with more bytes than its stat shows, as in /proc, is an error: it would not have git's id.
func TestReadBeyondSize(t *testing.T) {
	if g := readOne(t, "/proc", "version", repo.ConvertNone); g.Err == nil || !g.Raw.ID.IsZero() {
		t.Errorf("reading /proc/version gave %+v; want an error and no id", g)
	}
}

// A path without permissions is Unreadable. It is neither Absent nor an error of Stat. A directory needs no
// permission to list it.
func TestUnreadable(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil { // the user nobody needs access
		t.Fatal(err)
	}
	write(t, root, "closed/deep/file", "x")
	write(t, root, "unlisted/file", "x")
	write(t, root, "secret", "x")
	write(t, root, "plain", "x")
	for name, mode := range map[string]fs.FileMode{"closed": 0o600, "unlisted": 0o711, "secret": 0} {
		if err := os.Chmod(filepath.Join(root, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getuid() == 0 {
		// Permissions do not apply to root. This thread gives up root for file access. A single worker runs
		// on the caller's thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		const nobody = 65534
		if _, err := unix.SetfsuidRetUid(nobody); err != nil {
			t.Fatal(err)
		}
		defer unix.SetfsuidRetUid(0)
		if now, _ := unix.SetfsuidRetUid(-1); now != nobody {
			t.Fatalf("the file system uid is still %d", now)
		}
	}
	paths := []repo.Path{"closed/deep/file", "closed/deep/other", "plain", "secret", "unlisted/file"}
	var entries []repo.Entry
	var wants []repo.ReadRequest
	for _, p := range paths {
		entries, wants = append(entries, repo.Entry{Path: p}), append(wants, repo.ReadRequest{Path: p})
	}
	tree := content.Open(root, content.Options{Workers: 1})
	found, err := tree.Stat(t.Context(), entries)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.Read(t.Context(), wants)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ stat, read repo.Presence }{
		{repo.Unreadable, repo.Unreadable},
		{repo.Unreadable, repo.Unreadable},
		{repo.RegularFile, repo.RegularFile},
		{repo.RegularFile, repo.Unreadable},
		{repo.RegularFile, repo.RegularFile},
	} {
		if found[i].Presence != want.stat || want.stat == repo.Unreadable && !errors.Is(found[i].Err, fs.ErrPermission) {
			t.Errorf("Stat(%q) returned %v; want the presence %v", paths[i], found[i], want.stat)
		}
		if got[i].Found.Presence != want.read || (want.read == repo.Unreadable) != errors.Is(got[i].Err, fs.ErrPermission) {
			t.Errorf("Read(%q) returned %+v; want the presence %v", paths[i], got[i], want.read)
		}
	}
}

// No method leaves a descriptor open, for any depth of paths, with or without an error.
func TestDescriptors(t *testing.T) {
	root := t.TempDir()
	deep := "d"
	for range 200 {
		deep += "/d"
	}
	write(t, root, deep+"/file", "x")
	write(t, root, "a/b/c", "x")
	before := descriptors(t)
	paths := []string{"a/b/c", "a/b/none/x", deep + "/file", deep, "../x", deep + "/file/x"}
	if f := stat(t, root, paths...); f[2].Presence != repo.RegularFile || f[3].Presence != repo.Directory {
		t.Errorf("Stat of deep paths returned %v; want a file and a directory", f)
	}
	for _, p := range paths {
		readOne(t, root, p, repo.ConvertAuto)
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors open, %d before", after, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// If Create cannot write the file, it removes the directories that it created.
func TestFailedCreateRemovesDirs(t *testing.T) {
	if root := os.Getenv(createInVariable); root != "" {
		os.Exit(createWithoutRoom(root))
	}
	root := t.TempDir()
	// A file size limit would apply to the log of this test as well, so a child process gets the limit.
	limited := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFailedCreateRemovesDirs$")
	limited.Env = append(os.Environ(), createInVariable+"="+root)
	if out, err := limited.CombinedOutput(); err != nil {
		t.Fatalf("child process without file space: %v\n%s", err, out)
	}
	tree := content.Open(root, content.Options{})
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("remaining files: %v, %v", left, err)
	}
	for i, want := range []bool{true, false} {
		if err := tree.Create(".spec/a/b/spec.md", []byte("text")); (err == nil) != want {
			t.Errorf("Create, call %d, returned the error %v; it should succeed: %t", i, err, want)
		}
	}
	if left, err := os.ReadDir(filepath.Join(root, ".spec/a/b")); err != nil || len(left) != 1 {
		t.Errorf("final files are %v, %v", left, err)
	}
}

// createInVariable is the environment variable with the tree in which the child process creates a file.
const createInVariable = "KEN_TEST_CREATE_IN"

// createWithoutRoom is the child process. It returns its exit status.
func createWithoutRoom(root string) int {
	signal.Ignore(unix.SIGXFSZ)
	err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{})
	if err == nil {
		err = content.Open(root, content.Options{}).Create(".spec/a/b/spec.md", []byte("text"))
	}
	if errors.Is(err, unix.EFBIG) {
		return 0
	}
	fmt.Println(err)
	return 1
}
