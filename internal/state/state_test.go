package state

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var testNames = Names{Lock: ".lock", Archive: ".archive"}

// past is the modification time of the files that exist before a test.
var past = time.Date(2019, 5, 4, 3, 2, 1, 123456789, time.UTC)

// now is when a test changes it.
var now = time.Date(2026, 11, 15, 6, 32, 14, 5, time.UTC)

func openDir(t testing.TB, path string, opts Options) *Dir {
	t.Helper()
	opts.Names = testNames
	if opts.Now == nil {
		opts.Now = func() time.Time { return now }
	}
	d, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func lockDirectory(t testing.TB, path string) *Locked {
	t.Helper()
	h, err := openDir(t, path, Options{}).Lock(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func unlockDirectory(t testing.TB, h *Locked) {
	t.Helper()
	if err := h.Unlock(); err != nil {
		t.Fatal(err)
	}
}

// put writes files with old times; a name that ends in / is a directory, and a
// content that begins with -> a link.
func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		target, link := strings.CutPrefix(content, "->")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case link:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// The archive keeps its times: snapshots are ordered by them.
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && path == filepath.Join(dir, testNames.Archive) {
			return cmp.Or(err, fs.SkipDir)
		}
		return lchtimes(path, past)
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	tempPattern = regexp.MustCompile(`^\..*\.tmp$`)
	// unseen reports whether an image omits a file: the lock and temporary files of killed processes.
	unseen = func(name string) bool { return name == ".lock" || tempPattern.MatchString(name) }
)

// image describes every entry below dir, by path: its mode and content, and its time if it is older than the test.
func image(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir || unseen(e.Name()) {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		s := info.Mode().String()
		if at := info.ModTime(); at.Before(past.AddDate(1, 0, 0)) {
			s += at.UTC().Format(" 2006-01-02T15:04:05.999999999")
		}
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			s += " " + string(b)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			s += " ->" + target
		}
		all[rel] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// diff lists the differences of two images, "" if there are none.
func diff(got, want map[string]string) string {
	var b strings.Builder
	for path, w := range want {
		if g, ok := got[path]; !ok {
			fmt.Fprintf(&b, "  %q is missing (%q)\n", path, w)
		} else if g != w {
			fmt.Fprintf(&b, "  %q is %q, want %q\n", path, g, w)
		}
	}
	for path, g := range got {
		if _, ok := want[path]; !ok {
			fmt.Fprintf(&b, "  %q (%q) should not be there\n", path, g)
		}
	}
	return b.String()
}

// moves makes moves of names.
func moves(names ...string) []Move {
	var all []Move
	for _, name := range names {
		all = append(all, Move{Name: name, Bucket: "ad_hoc", Reason: "because"})
	}
	return all
}

func apply(t testing.TB, dir string, c Change) Applied {
	t.Helper()
	h := lockDirectory(t, dir)
	defer unlockDirectory(t, h)
	if c.Time.IsZero() {
		c.Time = now
	}
	out, err := h.Apply(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func snapshots(t testing.TB, dir string) []Snapshot {
	t.Helper()
	all, err := openDir(t, dir, Options{}).Snapshots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func snapshotList(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	for _, s := range snapshots(t, dir) {
		names = append(names, s.Name)
	}
	return names
}
