package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// crashed is what a step panics with to stand for a process that is killed there.
type crashed struct{}

// A scenario is a change to a directory.
type scenario struct {
	name  string
	setup func(t testing.TB, dir string)
	act   func(h *Locked) error
}

// newTime finds the times of files that the test itself made or linked.
var newTime = regexp.MustCompile(`"mtime":"202[^"]*"`)

var sample = map[string]string{
	"workflow.yaml": "old workflow\n", "review.md": "review\n", "notes": "notes\n", "log.jsonl": "{\"a\":1}\n",
	"sub/deep/x": "x\n", "link": "->nowhere", "odd\nname\xff": "odd\n",
}

func scenarios(t testing.TB) []scenario {
	t.Helper()
	plain := func(t testing.TB, dir string) { t.Helper(); put(t, dir, sample) }
	// One snapshot of ours with four files, two of which are in the way, and a
	// foreign one.
	withArchive := func(t testing.TB, dir string) {
		t.Helper()
		put(t, dir, map[string]string{
			"back": "back\n", "both": "old both\n", "in the way": "old\n", ".archive/2020-01-01/f": "f", ".archive/2020-01-01/MANIFEST.txt": "f",
		})
		apply(t, dir, Change{Verb: "cleanup", Time: past, Moves: moves("back", "both", "in the way"), Keep: -1})
		put(t, dir, map[string]string{"both": "new both\n", "in the way": "new\n", "other": "other\n"})
	}
	change := func(c Change) func(*Locked) error {
		c.Time = now
		return func(h *Locked) error {
			_, err := h.Apply(t.Context(), c)
			return err
		}
	}
	write := func(name string) *Write { return &Write{Name: name, Content: []byte("new " + name + "\n")} }
	return []scenario{
		{"replace", plain, func(h *Locked) error { return h.Replace("workflow.yaml", []byte("new\n")) }},
		{"replace link", plain, func(h *Locked) error { return h.Replace("link", []byte("new\n")) }},
		{"append", plain, func(h *Locked) error { return h.Append("log.jsonl", []byte(`{"a":2}`)) }},
		{"append new", plain, func(h *Locked) error { return h.Append("new.jsonl", []byte(`{"a":2}`)) }},
		{"reset", plain, change(Change{
			Verb: "reset", WorkflowID: "w1", Keep: 5,
			Moves: moves("workflow.yaml", "review.md", "notes", "sub", "link", "odd\nname\xff", "gone"),
		})},
		{"init", plain, change(Change{
			Verb: "init", Keep: 5, Write: write("workflow.yaml"),
			Moves: moves("workflow.yaml", "review.md", "sub", "link", "gone"),
		})},
		{"init in place of a link", plain, change(Change{Verb: "init", Keep: 5, Write: write("link"), Moves: moves("link", "review.md")})},
		{"init in place of a directory", plain, change(Change{Verb: "init", Keep: 5, Write: write("sub"), Moves: moves("sub", "review.md")})},
		{"first init", plain, change(Change{Verb: "init", Keep: 5, Write: write("fresh"), Moves: moves("fresh", "notes", "sub")})},
		{"continue", plain, change(Change{Verb: "init", Keep: 5, Write: write("workflow.yaml"), Moves: moves("review.md", "notes")})},
		{"init that deletes", withArchive, change(Change{Verb: "init", Keep: 0, Write: write("both"), Moves: moves("both", "other")})},
		{"delete", withArchive, change(Change{Verb: "reset", Keep: 0, Moves: moves("both", "other")})},
		{"ring of one", withArchive, change(Change{Verb: "reset", Keep: 1, Moves: moves("both", "other")})},
		{"restore", withArchive, change(Change{Verb: "restore", Restore: snapshotName(past, "cleanup"), Keep: 5})},
		{"restore all", withArchive, change(Change{
			Verb: "restore", Restore: snapshotName(past, "cleanup"), Keep: 5,
			Moves: moves("both", "in the way", "back"),
		})},
		{"restore one", withArchive, change(Change{
			Verb: "restore", Restore: snapshotName(past, "cleanup"), RestoreOnly: []string{"both"}, Keep: 5, Moves: moves("both"),
		})},
		{"restore foreign", withArchive, change(Change{Verb: "restore", Restore: "2020-01-01", Keep: 5})},
	}
}

// run acts as a process does: lock, act, unlock. killAt is the step before which
// it is killed; the names of the steps taken are returned, and whether it lived.
func (s scenario) run(t testing.TB, dir string, act func(*Locked) error, killAt int) (steps []string, lived bool) {
	t.Helper()
	d := openDir(t, dir, Options{})
	d.step = func(what string) error {
		if len(steps) == killAt {
			panic(crashed{})
		}
		steps = append(steps, strings.ReplaceAll(what, dir+"/", ""))
		return nil
	}
	var h *Locked
	defer func() {
		switch r := recover(); r {
		case nil:
		case crashed{}:
			if h != nil {
				h.release() // as the kernel does
			}
		default:
			panic(r)
		}
	}()
	var err error
	h, err = d.Lock(t.Context(), "test")
	if err == nil && act != nil {
		err = act(h)
	}
	if err == nil {
		err = h.Unlock()
	}
	if err != nil {
		t.Fatalf("after the steps %q, the next command failed with %v", steps, err)
	}
	return steps, true
}

// If a process is killed before any step, the next one with the lock leaves the complete
// old or new state, even if that process is killed too.
func TestKillLeavesOldOrNewState(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			fresh := func() string {
				dir := memoryDir(t)
				s.setup(t, dir)
				return dir
			}
			before, after := fresh(), fresh()
			steps, _ := s.run(t, after, s.act, -1)
			unmanifest(t, before)
			unmanifest(t, after)
			old, want := image(t, before), image(t, after)
			if diff(old, want) == "" {
				t.Fatal("the scenario changes nothing; the test would prove nothing")
			}
			judge := func(dir, when string) (isNew bool) {
				t.Helper()
				s.run(t, dir, nil, -1)
				unmanifest(t, dir)
				got := image(t, dir)
				delete(got, testNames.Archive) // whether it was made yet is of no interest
				o, n := diff(got, without(old)), diff(got, without(want))
				if o != "" && n != "" {
					t.Errorf("%s: neither old:\n%snor new:\n%s", when, o, n)
				}
				return n == ""
			}
			sawNew := false
			for k := range steps {
				dir := fresh()
				if _, lived := s.run(t, dir, s.act, k); lived {
					t.Fatal("the process was not killed")
				}
				when := fmt.Sprintf("killed before step %d of %d, %s", k, len(steps), steps[k])
				unfinished, err := unfinished(openDir(t, dir, Options{}))
				if err != nil {
					t.Fatal(err)
				}
				isNew := judge(dir, when)
				if sawNew && !isNew {
					t.Errorf("%s: the old state after an earlier step had the new one", when)
				}
				sawNew = sawNew || isNew

				for j := 0; unfinished; j++ {
					dir := fresh()
					s.run(t, dir, s.act, k)
					_, lived := s.run(t, dir, nil, j)
					if judge(dir, fmt.Sprintf("%s; then the next before its %dth", when, j)) != isNew {
						t.Errorf("%s: killing the next process changes the result", when)
					}
					if lived {
						break
					}
				}
			}
			if !sawNew {
				t.Error("no step led to the new state")
			}
		})
	}
}

// memoryDir returns a directory in memory, where there is such a thing: thousands of
// runs wait for a disk otherwise.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ken-state-") //nolint:usetesting // t.TempDir is on disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func without(m map[string]string) map[string]string {
	out := make(map[string]string)
	for k, v := range m {
		if k != testNames.Archive {
			out[k] = v
		}
	}
	return out
}

// unmanifest takes the times of the test itself out of manifests.
func unmanifest(t testing.TB, dir string) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(dir, ".archive/*/MANIFEST.json"))
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b = newTime.ReplaceAll(b, []byte(`"mtime":"lately"`))
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Readers always find a file that is both moved and written.
func TestWrittenFileAlwaysExists(t *testing.T) {
	for name, archived := range map[string]string{
		"w": "-rw-r--r-- 2019-05-04T03:02:01.123456789 old",
		"l": "Lrwxrwxrwx 2019-05-04T03:02:01.123456789 ->w",
	} {
		dir := t.TempDir()
		put(t, dir, map[string]string{"w": "old", "l": "->w", "x": "x"})
		h := lockDirectory(t, dir)
		h.step = func(what string) error {
			if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
				t.Errorf("before the step %s, a file is missing: %v", what, err)
			}
			return nil
		}
		out, err := h.Apply(t.Context(), Change{
			Verb: "init", Time: now, Moves: moves(name, "x"), Keep: 5, Write: &Write{Name: name, Content: []byte("new")},
		})
		if err != nil {
			t.Fatal(err)
		}
		unlockDirectory(t, h)
		got := image(t, filepath.Join(dir, ".archive", out.Snapshot, "files"))
		want := map[string]string{name: archived, "x": "-rw-r--r-- 2019-05-04T03:02:01.123456789 x"}
		if d := diff(got, want); d != "" {
			t.Errorf("the archived files differ:\n%s", d)
		}
		if b, err := os.ReadFile(filepath.Join(dir, name)); string(b) != "new" {
			t.Errorf("%s is %q, %v; want the new content", name, b, err)
		}
	}
}

// A full disk before the change is decided leaves the old state and no folder.
func TestFullDiskBeforeTheDecision(t *testing.T) {
	s := scenarios(t)[5] // init
	dir := memoryDir(t)
	s.setup(t, dir)
	steps, _ := s.run(t, dir, s.act, -1)
	for k, what := range steps {
		dir := memoryDir(t)
		s.setup(t, dir)
		before := image(t, dir)
		if k > 0 && strings.HasSuffix(steps[k-1], "/new workflow.yaml") {
			return
		}
		d := openDir(t, dir, Options{})
		n := 0
		d.step = func(string) error {
			if n++; n == k+1 {
				return fmt.Errorf("write: %w", syscall.ENOSPC)
			}
			return nil
		}
		h, err := d.Lock(t.Context(), "test")
		if err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			continue
		}
		err = s.act(h)
		linked := strings.HasPrefix(what, "link ")
		moved := strings.HasPrefix(what, "rename ") && strings.Contains(what, "/files/")
		if linked || moved {
			if err != nil { // a rename does as well as a link, and a failed move is reported
				t.Errorf("a full disk at the step %s gave the error %v; want none", what, err)
			}
		} else if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s fails: error %v", what, err)
		}
		unlockDirectory(t, h)
		got := image(t, dir)
		delete(got, ".archive")
		if d := diff(got, before); d != "" && err != nil {
			t.Errorf("a full disk at the step %s changed files:\n%s", what, d)
		}
	}
	t.Error("the change was never decided")
}

// A failed write leaves no temporary file and no partial line.
func TestFailedWriteLeavesNothing(t *testing.T) {
	for _, act := range []struct {
		name, step string // the step that fails
		do         func(h *Locked) error
	}{
		{"replace", "create ", func(h *Locked) error { return h.Replace("a", []byte("new")) }},
		{"replace", "write ", func(h *Locked) error { return h.Replace("a", []byte("new")) }},
		{"replace", "sync ", func(h *Locked) error { return h.Replace("a", []byte("new")) }},
		{"replace", "rename ", func(h *Locked) error { return h.Replace("a", []byte("new")) }},
		{"append", "write ", func(h *Locked) error { return h.Append("a", []byte("new")) }},
	} {
		dir := t.TempDir()
		put(t, dir, map[string]string{"a": "old\n", ".archive/.logs/": ""})
		d := openDir(t, dir, Options{})
		h, err := d.Lock(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		h.step = func(what string) error {
			if strings.HasPrefix(what, act.step) {
				return syscall.ENOSPC
			}
			return nil
		}
		before := len(allNames(t, dir))
		if err := act.do(h); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s with a full disk at %s returned the error %v; want %v", act.name, act.step, err, syscall.ENOSPC)
		}
		if b, _ := os.ReadFile(filepath.Join(dir, "a")); string(b) != "old\n" || len(allNames(t, dir)) != before {
			t.Errorf("%s, %s: the content of a is %q; the files are %q", act.name, act.step, b, allNames(t, dir))
		}
		h.step = nil
		unlockDirectory(t, h)
	}
}

func allNames(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	if err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		all = append(all, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}
