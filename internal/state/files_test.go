package state

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "old", "private": "old", "l": "->a", "d/x": "x"})
	if err := os.Chmod(filepath.Join(dir, "private"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := lockDirectory(t, dir)
	long := strings.Repeat("n", 255)
	for _, name := range []string{"private", "l", "new", "odd\n\xff", long} {
		if err := h.Replace(name, []byte("content")); err != nil {
			t.Errorf("Replace(%q) returned the error %v", name, err)
		}
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() || info.Size() != 7 {
			t.Errorf("after Replace, Lstat(%q) returned %v, %v; want a regular file of 7 bytes", name, info, err)
		}
		if name == "private" && info.Mode().Perm() != 0o600 || name == "new" && info.Mode().Perm()&0o600 != 0o600 {
			t.Errorf("%q has mode %v", name, info.Mode())
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a")); string(b) != "old" {
		t.Errorf("the link was followed: %q", b)
	}
	for name, want := range map[string]error{"d": errDirectory, "d/x": errName, "..": errName, ".lock": nil, ".archive": nil} {
		if err := h.Replace(name, nil); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("Replace(%q) returned the error %v; want %v", name, err, want)
		}
	}
	unlockDirectory(t, h)
	if left, _ := os.ReadDir(dir); len(left) != 7 {
		t.Errorf("temporary files remain: %v", left)
	}
}

func TestAppend(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"torn": "one\n{\"tw", "l": "->torn", "d/x": "x"})
	h := lockDirectory(t, dir)
	defer unlockDirectory(t, h)
	for _, c := range []struct{ name, line, want string }{
		{"new", "one", "one\n"},
		{"new", "two\n", "one\ntwo\n"},
		{"new", "three\nfour", "one\ntwo\nthree\nfour\n"},
		{"torn", "two", "one\n{\"tw\ntwo\n"},
	} {
		if err := h.Append(c.name, []byte(c.line)); err != nil {
			t.Error(err)
		}
		if b, _ := os.ReadFile(filepath.Join(dir, c.name)); string(b) != c.want {
			t.Errorf("the content of %s is %q, want %q", c.name, b, c.want)
		}
	}
	for name, want := range map[string]error{"l": errLink, "d": errDirectory, "d/x": errName} {
		if err := h.Append(name, []byte("x")); !errors.Is(err, want) {
			t.Errorf("Append(%q) returned the error %v; want %v", name, err, want)
		}
	}
}

// A file that is set aside again and again loses nothing.
func TestSetAsideLosesNothing(t *testing.T) {
	dir := t.TempDir()
	h := lockDirectory(t, dir)
	var want []byte
	for i := range 40 {
		line := bytes.Repeat([]byte{byte('a' + i%26)}, i)
		if i%4 == 3 {
			if err := h.SetAside("log"); err != nil {
				t.Fatal(err)
			}
			if err := h.Replace("log", append(line, '\n')); err != nil {
				t.Fatal(err)
			}
		} else if err := h.Append("log", line); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := os.Chmod(filepath.Join(dir, "log"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want = append(append(want, line...), '\n')
		if info, err := os.Stat(filepath.Join(dir, "log")); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("Stat of the log returned %v, %v; want the mode 0600", info, err)
		}
	}
	unlockDirectory(t, h)
	aside, err := filepath.Glob(filepath.Join(dir, ".archive/.logs/*-log"))
	if err != nil || len(aside) != 10 {
		t.Fatalf("the archive has the logs %q, %v; want 10", aside, err)
	}
	var got []byte
	for _, path := range append(aside, filepath.Join(dir, "log")) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, b...)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := snapshotList(t, dir); len(s) > 0 {
		t.Errorf("the folder of logs is listed as a snapshot: %q", s)
	}
}

func TestSetAside(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("n", 255)
	put(t, dir, map[string]string{"w": "bad", long: "long"})
	if err := os.Chmod(filepath.Join(dir, "w"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := lockDirectory(t, dir)
	for _, name := range []string{"w", "w", long} {
		if err := h.SetAside(name); err != nil {
			t.Error(err)
		}
	}
	if err := h.SetAside("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("SetAside of a missing file returned the error %v; want %v", err, fs.ErrNotExist)
	}
	unlockDirectory(t, h)
	copies, _ := filepath.Glob(filepath.Join(dir, ".archive/.logs/*-w"))
	if len(copies) != 2 {
		t.Fatalf("the archive has the copies %q; want 2", copies)
	}
	b, _ := os.ReadFile(copies[0])
	info, _ := os.Stat(copies[0])
	if string(b) != "bad" || !info.ModTime().Equal(past) || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy is %q from %v with mode %v; want the content, time and mode of the original", b, info.ModTime(), info.Mode())
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "w")); string(b) != "bad" {
		t.Errorf("the content of w is %q", b)
	}
	if got := stamp(time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))); got != "2026-01-02T02-04-05.000000006Z" {
		t.Errorf("stamp returned %s; want the time in UTC", got)
	}
}
