package cache

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func key(c *Cache, kind string, inputs ...string) *Key {
	k := c.Key(kind)
	for _, in := range inputs {
		fmt.Fprintf(k, "%q\n", in)
	}
	return k
}

// An answer is found under exactly the kind, inputs and program that it was saved under.
func TestLoadFindsOnlyTheSameInputs(t *testing.T) {
	dir := t.TempDir()
	c := Open(dir, "v1")
	if _, ok := c.Load(key(c, "docs", "a")); ok {
		t.Error("an empty cache has an answer")
	}
	c.Save(key(c, "docs", "a", "b"), []byte("answer"))
	if got, ok := c.Load(key(c, "docs", "a", "b")); !ok || string(got) != "answer" {
		t.Errorf("loaded %q, %v; want the answer that was saved", got, ok)
	}
	other := Open(dir, "v2")
	for name, found := range map[string]*Key{
		"fewer inputs": key(c, "docs", "a"), "other inputs": key(c, "docs", "a", "c"), "joined inputs": key(c, "docs", "ab"),
		"another kind": key(c, "find", "a", "b"), "another program": key(other, "docs", "a", "b"),
	} {
		if got, ok := c.Load(found); ok {
			t.Errorf("%s: loaded %q; want nothing", name, got)
		}
	}
	if got, ok := Open(t.TempDir(), "v1").Load(key(c, "docs", "a", "b")); ok {
		t.Errorf("another clone has %q", got)
	}
}

// Load returns exactly the saved answer, or none.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		c := Open(dir, "v")
		answer := rapid.SliceOf(rapid.Byte()).Draw(t, "answer")
		k := key(c, "x", rapid.String().Draw(t, "input"))
		c.Save(k, answer)
		got, ok := c.Load(k)
		if !ok || string(got) != string(answer) {
			t.Fatalf("saved %q, loaded %q, %v", answer, got, ok)
		}
	})
}

// Load ignores a damaged entry: one that was cut or changed at any byte.
func TestDamagedEntry(t *testing.T) {
	c := Open(t.TempDir(), "v")
	k := key(c, "x")
	c.Save(k, []byte("an answer"))
	whole, err := os.ReadFile(c.file(k))
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		changed := append([]byte{}, whole...)
		changed[i] ^= 1
		for _, damaged := range [][]byte{whole[:i], changed} {
			if err := os.WriteFile(c.file(k), damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, ok := c.Load(k); ok {
				t.Errorf("%q loads as %q; want nothing", damaged, got)
			}
		}
	}
}

// Loading writes nothing, not even the time of its entry.
func TestLoadWritesNothing(t *testing.T) {
	dir := t.TempDir()
	c := Open(dir, "v")
	c.Load(key(c, "x"))
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Errorf("Load made %v", list)
	}
	k := key(c, "x")
	c.Save(k, []byte("answer"))
	before := stat(t, c.file(k))
	c.Load(k)
	if after := stat(t, c.file(k)); !after.ModTime().Equal(before.ModTime()) {
		t.Error("Load changed the time of its entry")
	}
}

// Of too many entries, those that were written first go.
func TestEvictsTheOldestWritten(t *testing.T) {
	c := Open(t.TempDir(), "v")
	begin := time.Now().Add(-10 * time.Hour)
	name := func(i int) *Key { return key(c, "x", fmt.Sprint(i)) }
	for i := range maxEntries {
		k := name(i)
		c.Save(k, []byte("answer"))
		// The last entries were written first.
		written := begin.Add(-time.Duration(i) * time.Second)
		if err := os.Chtimes(c.file(k), written, written); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(c.dir, ".dead.tmp")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(left, begin, begin); err != nil {
		t.Fatal(err)
	}
	c.Save(name(-1), []byte("answer"))
	if _, ok := c.Load(name(maxEntries - 1)); ok {
		t.Error("the entry that was written first is still there")
	}
	for _, i := range []int{-1, 0, maxEntries - 2} {
		if _, ok := c.Load(name(i)); !ok {
			t.Errorf("entry %d was evicted; want only the one that was written first", i)
		}
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the file of a process that died is still there: %v", err)
	}
}

// Save does nothing if the directory is not writable.
func TestUnwritableCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := Open(file, "v")
	c.Save(key(c, "x"), []byte("answer"))
	if _, ok := c.Load(key(c, "x")); ok {
		t.Error("an answer was loaded from below a file")
	}
}

func stat(t *testing.T, name string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
