package state

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/fault"
)

func TestEntries(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"b": "12", "a\nb": "1", "\xff\xfe": "123", "d/x": "x", "dangling": "->/nowhere", ".lock": ""})
	got, err := openDir(t, dir, Options{}).Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{Name: ".lock", Kind: Regular},
		{Name: "a\nb", Kind: Regular, Size: 1},
		{Name: "b", Kind: Regular, Size: 2},
		{Name: "d", Kind: Directory},
		{Name: "dangling", Kind: Symlink},
		{Name: "\xff\xfe", Kind: Regular, Size: 3},
	}
	if len(got) != len(want) {
		t.Fatalf("Entries returned %v; want %v", got, want)
	}
	for i, w := range want {
		g := got[i]
		if g.Name != w.Name || g.Kind != w.Kind || w.Kind == Regular && g.Size != w.Size || !g.ModTime.Equal(past) || g.Err != nil {
			t.Errorf("entry %+v, want %+v", g, w)
		}
	}
	stop, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openDir(t, dir, Options{}).Entries(stop); fault.KindOf(err) != fault.Interrupted {
		t.Errorf("Entries with a cancelled context returned the error %v; want an interruption", err)
	}
}

func TestReadRefusesOtherThanRegularFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "abc", "l": "->a", "d/x": "x"})
	d := openDir(t, dir, Options{})
	if b, err := d.Read("a"); string(b) != "abc" || err != nil {
		t.Errorf("Read(\"a\") returned %q, %v; want \"abc\"", b, err)
	}
	if n, err := d.Size("a"); n != 3 || err != nil {
		t.Errorf("Size(\"a\") returned %d, %v; want 3", n, err)
	}
	if s, err := d.Digest("a"); s != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" || err != nil {
		t.Errorf("Digest(\"a\") returned %s, %v; want the SHA-256 of \"abc\"", s, err)
	}
	for name, want := range map[string]error{
		"l": errLink, "d": errDirectory, "none": fs.ErrNotExist, "d/x": errName, "..": errName, "": errName, "a\x00": errName,
	} {
		if _, err := d.Read(name); !errors.Is(err, want) {
			t.Errorf("Read(%q) returned the error %v; want %v", name, err, want)
		}
		if _, err := d.Digest(name); !errors.Is(err, want) {
			t.Errorf("digest of %q: %v", name, err)
		}
		if _, err := d.Size(name); !errors.Is(err, want) {
			t.Errorf("size of %q: %v", name, err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "a"), maxRead+1); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Read("a"); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("a large file: %v", err)
	}
}

func TestNotADirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(path), map[string]string{"file": "f"})
	d := openDir(t, path, Options{})
	_, err := d.Entries(t.Context())
	if err == nil || !strings.Contains(err.Error(), "not a directory") || fault.HintOf(err) == "" {
		t.Errorf("Entries returned the error %v; want \"not a directory\", with a hint", err)
	}
	if _, err := d.Lock(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("Lock returned the error %v; want \"not a directory\"", err)
	}
	if _, err := openDir(t, filepath.Join(path, "below"), Options{}).Lock(t.Context(), "x"); err == nil {
		t.Error("locked a directory below a file; want an error")
	}
	if _, err := Open("relative", Options{Names: testNames}); err == nil {
		t.Error("opened a relative path; want an error")
	}
	if _, err := Open(path, Options{}); err == nil {
		t.Error("opened without names; want an error")
	}
}

// OpenIn refuses a path with a link, also one inside the root.
func TestOpenIn(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	put(t, root, map[string]string{"inside/f": "f", "good": "->inside"})
	put(t, outside, map[string]string{"f": "f"})
	if err := os.Symlink(outside, filepath.Join(root, "bad")); err != nil {
		t.Fatal(err)
	}
	open := func(rel string) *Dir {
		d, err := OpenIn(root, rel, Options{Names: testNames})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	for _, rel := range []string{"a/b", "inside"} {
		d := open(rel)
		h, err := d.Lock(t.Context(), "x")
		if err != nil {
			t.Errorf("Lock of %s returned the error %v", rel, err)
			continue
		}
		if err := errors.Join(h.Replace("new", []byte("n")), h.Unlock()); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(filepath.Join(d.Path(), "new")); string(b) != "n" {
			t.Errorf("%s: the written file has %q, %v; want \"n\"", rel, b, err)
		}
	}
	for _, rel := range []string{"bad", "bad/c", "good", "good/c"} {
		if _, err := OpenIn(root, rel, Options{Names: testNames}); err == nil || fault.HintOf(err) == "" {
			t.Errorf("OpenIn(%q) returned the error %v; want one with a hint", rel, err)
		}
	}
	// One that comes there later leads nowhere either.
	d := open("later")
	if err := os.Symlink(outside, filepath.Join(root, "later")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock(t.Context(), "x"); err == nil {
		t.Error("locked a directory behind a link; want an error")
	}
	if e, err := d.Entries(t.Context()); err == nil {
		t.Errorf("entries %v, want none", e)
	}
	if left, _ := os.ReadDir(outside); len(left) != 1 {
		t.Errorf("files outside the state directory changed: %v", left)
	}
	for _, rel := range []string{"..", "/x", "../x", ""} {
		if _, err := OpenIn(root, rel, Options{Names: testNames}); fault.KindOf(err) != fault.Usage {
			t.Errorf("OpenIn(%q) returned the error %v; want a usage error", rel, err)
		}
	}
}
