package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ken/internal/agenthook"
	"ken/internal/repo"
)

// Several hooks can add to a session file at the same time. Its size is limited, and no
// session id leads out of the directory.
func TestSessionFile(t *testing.T) {
	dir := t.TempDir()
	id, err := repo.ParseID(strings.Repeat("a", 40))
	if err != nil {
		t.Fatal(err)
	}
	f := sessionIn(dir, "../../etc/passwd\x00")
	if rel, err := filepath.Rel(filepath.Join(dir, "ken", "cache", "sessions"), string(f)); err != nil || strings.Contains(rel, string(filepath.Separator)) {
		t.Fatalf("the session file is %s, want it in the directory of sessions", f)
	}
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if err := f.add(agenthook.SeenLine(repo.Path(fmt.Sprint("f", i)), id)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	m := f.load()
	for i := range 50 {
		if got, ok := m.Seen(repo.Path(fmt.Sprint("f", i))); !ok || got != id {
			t.Errorf("the line about f%d is missing", i)
		}
	}

	// A file that is too large counts as empty, and the next line starts it again.
	if err := os.WriteFile(string(f), []byte(strings.Repeat("x", agenthook.MaxMemory)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.add(agenthook.SeenLine("g", id)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(string(f)); err != nil || info.Size() > 100 {
		t.Errorf("%v, %v", info, err)
	}
	if _, ok := f.load().Seen("g"); !ok {
		t.Error("the new line is missing")
	}

	// A link is taken away, and what it leads to stays.
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
	if err := f.add(agenthook.SeenLine("h", id)); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}

	// Nobody's session is nobody's memory; and one that is long over is forgotten.
	none := sessionIn(dir, " \n")
	if err := none.add("seen\n"); err != nil || none != "" {
		t.Errorf("%q, %v", none, err)
	}
	removeOldSessions(dir, time.Now().Add(sessionLifetime-time.Hour))
	if _, ok := f.load().Seen("h"); !ok {
		t.Error("a recent session file was removed")
	}
	removeOldSessions(dir, time.Now().Add(sessionLifetime+time.Hour))
	if _, err := os.Lstat(string(f)); !os.IsNotExist(err) {
		t.Errorf("an expired session file still exists: %v", err)
	}
}
