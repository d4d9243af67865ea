package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Several hooks can add to a session file at the same time. Its size is limited, and no
// session id leads out of the directory.
func TestSessionFile(t *testing.T) {
	dir := t.TempDir()
	const limit = 1 << 20
	line := func(i int) string { return fmt.Sprintf("seen f%d\n", i) }
	f := LogIn(dir, "../../etc/passwd\x00")
	if rel, err := filepath.Rel(filepath.Join(dir, "ken", "cache", "sessions"), string(f)); err != nil || strings.Contains(rel, string(filepath.Separator)) {
		t.Fatalf("the session file is %s, want it in the directory of sessions", f)
	}
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if err := f.Append(line(i), limit); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	lines := string(f.Read(limit))
	for i := range 50 {
		if !strings.Contains(lines, line(i)) {
			t.Errorf("line %d is missing", i)
		}
	}

	// A file that is too large counts as empty, and the next line starts it again.
	if err := os.WriteFile(string(f), []byte(strings.Repeat("x", limit)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Append("g\n", limit); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(string(f)); err != nil || info.Size() > 100 {
		t.Errorf("Stat returned %v, %v; want at most 100 bytes", info, err)
	}
	if got := string(f.Read(limit)); got != "g\n" {
		t.Errorf("after a file that was too large, the file has %q, want the new line alone", got)
	}

	// A link is removed, and its target stays.
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(string(f)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, string(f)); err != nil {
		t.Fatal(err)
	}
	if err := f.Append("h\n", limit); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("the file that the link names has %q, %v; want it unchanged", text, err)
	}

	// Without a session there is no file. The file of an old session is removed.
	none := LogIn(dir, " \n")
	if err := none.Append("seen\n", limit); err != nil || none != "" {
		t.Errorf("without a session, the file is %q, %v; want none", none, err)
	}
	RemoveOld(dir, time.Now().Add(lifetime-time.Hour))
	if got := string(f.Read(limit)); got != "h\n" {
		t.Error("a recent session file was removed")
	}
	RemoveOld(dir, time.Now().Add(lifetime+time.Hour))
	if _, err := os.Lstat(string(f)); !os.IsNotExist(err) {
		t.Errorf("an expired session file still exists: %v", err)
	}
}
