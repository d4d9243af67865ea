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

// Opening a pipe waits for its other end; reading a work tree must not.
func TestReadSpecials(t *testing.T) {
	root := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root) // a socket's address is short
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, name := range []string{"pipe", "socket"} {
		if f := stat(t, root, name)[0]; f.Presence != repo.Special {
			t.Errorf("%s: found %v", name, f)
		}
		if g := readOne(t, root, name, repo.ConvertNone); g.Found.Presence != repo.Special || g.Err == nil || !g.Found.Stat.IsZero() {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// A file that holds more than its size says, as those of /proc do, has no id
// that git would agree with.
func TestReadBeyondSize(t *testing.T) {
	if g := readOne(t, "/proc", "version", repo.ConvertNone); g.Err == nil || !g.Raw.ID.IsZero() {
		t.Errorf("%+v", g)
	}
}

// What may not be entered or opened is unreadable, which is neither absent nor
// an error of the batch; a directory that may be entered but not listed will do.
func TestUnreadable(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil { // the nobody below has to get here
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
		// Permissions don't bind root. This thread stops being root, for files;
		// one worker runs on the caller's thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		const nobody = 65534
		if _, err := unix.SetfsuidRetUid(nobody); err != nil {
			t.Fatal(err)
		}
		defer unix.SetfsuidRetUid(0)
		if now, _ := unix.SetfsuidRetUid(-1); now != nobody {
			t.Fatalf("still uid %d for files", now)
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
		{repo.File, repo.File},
		{repo.File, repo.Unreadable},
		{repo.File, repo.File},
	} {
		if found[i].Presence != want.stat || want.stat == repo.Unreadable && !errors.Is(found[i].Err, fs.ErrPermission) {
			t.Errorf("stat %s: %v", paths[i], found[i])
		}
		if got[i].Found.Presence != want.read || (want.read == repo.Unreadable) != errors.Is(got[i].Err, fs.ErrPermission) {
			t.Errorf("read %s: %+v", paths[i], got[i])
		}
	}
}

// Asking leaves no descriptor open, however deep the paths and however the
// asking ended.
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
	if f := stat(t, root, paths...); f[2].Presence != repo.File || f[3].Presence != repo.Directory {
		t.Errorf("deep: %v", f)
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

// A file that cannot be written is not there, nor are the directories that were made for
// it: the same can be done again.
func TestCreateLeavesNothingBehind(t *testing.T) {
	if root := os.Getenv(createInVariable); root != "" {
		os.Exit(createWithoutRoom(root))
	}
	root := t.TempDir()
	// What a process may not write, its tests' own log may not either: another one is limited.
	limited := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCreateLeavesNothingBehind$")
	limited.Env = append(os.Environ(), createInVariable+"="+root)
	if out, err := limited.CombinedOutput(); err != nil {
		t.Fatalf("no file may be larger than nothing: %v\n%s", err, out)
	}
	tree := content.Open(root, content.Options{})
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for i, want := range []bool{true, false} {
		if err := tree.Create(".spec/a/b/spec.md", []byte("text")); (err == nil) != want {
			t.Errorf("time %d: %v", i, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(root, ".spec/a/b")); err != nil || len(left) != 1 {
		t.Errorf("in the end there is %v, %v", left, err)
	}
}

// createInVariable names the tree in which a process that may write nothing creates a file.
const createInVariable = "KEN_TEST_CREATE_IN"

// createWithoutRoom is that process; it returns its exit status.
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
