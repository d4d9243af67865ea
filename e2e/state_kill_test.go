package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// A stateAct is a verb that the test interrupts.
type stateAct struct {
	name string
	args []string
	// lay prepares the directory, after the files of all acts.
	lay func(*workdir)
	// then prepares each copy separately: ken undoes an unfinished change only in
	// the directory in which it began.
	then func(*workdir)
	// replaces lists the files that the verb overwrites. The content of all other
	// files must exist afterwards, in place or in the archive.
	replaces []string
}

var stateActs = []stateAct{
	{name: "update", args: []string{"update", "phase=review", "new=1"}, replaces: []string{"workflow.yaml"}},
	{name: "put", args: []string{"put", "plan.md", "-m", "new plan"}, replaces: []string{"plan.md"}},
	{name: "init", args: []string{"init", "--type", "debug", "task=new"}},
	{name: "continue", args: []string{"init", "--type", "debug", "--continue", "task=new"}, replaces: []string{"workflow.yaml"}},
	{name: "reset", args: []string{"reset"}},
	{name: "cleanup", args: []string{"cleanup", "--apply", "--stale-days", "0"}},
	{name: "evict", args: []string{"evict"}},
	{name: "restore", args: []string{"restore", "--overwrite", "theirs"}, lay: func(w *workdir) {
		w.must("reset")
		w.rename("theirs")
		w.write("plan.md", "in the way\n")
		w.write("spec.md", "too\n")
	}},
	{name: "defer", args: []string{"defer", "add", "new"}, replaces: []string{"deferred.md"}},
	{name: "journal", args: []string{"update", "new=1"}, replaces: []string{"workflow.yaml"}, lay: func(w *workdir) {
		w.write(journal, strings.Repeat(`{"ts":"1","verb":"put","file":"plan.md","sha256":"`+strings.Repeat("0", 64)+"\"}\n", 12000))
	}},
	// The next verb after a killed one is killed as well.
	{name: "after reset", args: []string{"audit"}, then: killed("reset")},
	{name: "after init", args: []string{"get"}, then: killed("init", "--type", "debug")},
}

// killed leaves a directory in the state of an interrupted verb.
func killed(args ...string) func(*workdir) {
	return func(w *workdir) {
		w.t.Helper()
		out, err := w.run("strace", append([]string{
			"-f", "-qq", "-o", os.DevNull, "-e", "trace=renameat", "-e", "inject=renameat:signal=SIGKILL:when=4", filepath.Join(bin, "ken"), "state", "--dir", "state",
		}, args...)...)
		if err == nil || !slices.ContainsFunc(listed(w.t, w.path(".archive")), func(name string) bool { return strings.HasSuffix(name, ".tmp") }) {
			w.t.Fatalf("%q was not killed: %v\n%s", args, err, out)
		}
	}
}

// A command that is killed before any of its writes leaves the old state or the new one,
// and the next command works at once.
func TestStateKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	for _, a := range stateActs {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			a.suffer(t, strings.Split(writes, ","), "signal=SIGKILL:when=%d")
		})
	}
}

// On a disk that becomes full at any write, the command fails and nothing is lost.
func TestStateDiskFullAtEveryWrite(t *testing.T) {
	t.Parallel()
	for _, a := range stateActs {
		if !slices.Contains([]string{"update", "put", "init", "reset"}, a.name) {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			room := []string{"write", "pwrite64", "ftruncate", "fsync", "fdatasync", "mkdirat", "renameat", "linkat"}
			a.suffer(t, room, "error=ENOSPC:when=%d+")
		})
	}
}

// copy returns a copy of the directory, ready for the verb.
func (a stateAct) copy(proto *workdir) *workdir {
	w := proto.copy()
	if a.then != nil {
		a.then(w)
	}
	return w
}

// suffer runs the verb repeatedly in copies of one directory, with a failure at each
// system call that it makes.
func (a stateAct) suffer(t *testing.T, calls []string, accident string) {
	t.Helper()
	proto := a.prepare(t)
	before := a.copy(proto).look()
	undisturbed := a.copy(proto)
	made := undisturbed.trace(calls, a.args...)
	after := undisturbed.look()
	// strace counts the calls of each thread by itself. On a busy machine Go spreads them over
	// many, and the kill in then comes when nothing is left to do.
	for tries := 1; a.then != nil && after.equal(before) && tries < 50; tries++ {
		before = a.copy(proto).look()
	}
	if after.equal(before) {
		t.Fatal("the command changes nothing; the test would prove nothing")
	}
	accidents := 0
	for _, call := range calls {
		for n := 1; n <= made[call]; n++ {
			w := a.copy(proto)
			if a.then != nil {
				before = w.look()
			}
			out, err := w.run("strace", append([]string{
				"-f", "-qq", "-o", os.DevNull, "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:"+accident, call, n), filepath.Join(bin, "ken"), "state", "--dir", "state",
			}, a.args...)...)
			if err != nil {
				accidents++
			}
			if bytes.Contains(out, []byte("panic")) || bytes.Contains(out, []byte("goroutine")) {
				t.Fatalf("ken panicked after an accident at call %[2]d of %[1]s: %[3]s", call, n, out)
			}
			h := held{stateAct: a, when: fmt.Sprintf("%s %d (%v)", call, n, err), before: before, after: after}
			h.acknowledged = err == nil
			h.partly = call == "renameat" && strings.HasPrefix(accident, "error=")
			h.check(w)
		}
	}
	if accidents < 3 {
		t.Fatalf("only %d interruptions; the test would prove little", accidents)
	}
	t.Logf("%d failures survived", accidents)
}

// prepare creates a directory in which every verb changes something.
func (a stateAct) prepare(t *testing.T) *workdir {
	t.Helper()
	w := &workdir{t, t.TempDir(), testrepo.Env(t)}
	w.must("init", "--type", "dev", "phase=plan", "tier=SIMPLE")
	for i := range 5 {
		w.write("odd.txt", fmt.Sprintf("old %d\n", i))
		w.must("cleanup", "--apply")
	}
	w.must("defer", "add", "old")
	w.write("dispatch-warnings.jsonl", "{\"old\":1}\n")
	for _, name := range []string{
		"plan.md", "spec.md", "review.md", "review-a.md", "slice-b.md", "consolidator-ran.txt", "notes.txt", "MANIFEST.json", "bad\xffname", "x.tmp",
	} {
		w.write(name, "the "+name+" there was\n")
	}
	w.age("review.md", "review-a.md")
	if a.lay != nil {
		a.lay(w)
	}
	return w
}

// A workdir is a directory outside of any repository that contains a state directory.
type workdir struct {
	t   *testing.T
	dir string
	env []string
}

func (w *workdir) path(name string) string { return filepath.Join(w.dir, "state", name) }

func (w *workdir) write(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workdir) age(names ...string) {
	w.t.Helper()
	for _, name := range names {
		old := stamped(w.t, "2020-01-02T03:04:05Z")
		if err := os.Chtimes(w.path(name), old, old); err != nil {
			w.t.Fatal(err)
		}
	}
}

// rename gives the newest snapshot a fixed name.
func (w *workdir) rename(name string) {
	w.t.Helper()
	list := decode[struct{ Snapshots []struct{ Name string } }](w.t, w.must("archive", "ls", "--json"))
	newest := list.Snapshots[len(list.Snapshots)-1].Name
	if err := os.Rename(w.path(".archive/"+newest), w.path(".archive/"+name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workdir) copy() *workdir {
	w.t.Helper()
	c := &workdir{w.t, filepath.Join(w.t.TempDir(), "copy"), w.env}
	if out, err := w.run("cp", "-a", w.dir, c.dir); err != nil {
		w.t.Fatalf("cp failed with %v\n%s", err, out)
	}
	return c
}

func (w *workdir) run(name string, args ...string) ([]byte, error) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), name, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok && err != nil {
		w.t.Fatalf("%s %q did not run: %v", name, args, err)
	} else if ok && exit.ExitCode() == 2 {
		w.t.Fatalf("%s %q exited with 2: %s", name, args, out)
	}
	return out, err
}

// must runs a verb that must succeed without waiting.
func (w *workdir) must(args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), filepath.Join(bin, "ken"), append([]string{"state", "--dir", "state", "--wait", "1s"}, args...)...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		w.t.Fatalf("ken state %q: %v\n%s%s", args, err, out, exit.Stderr)
	} else if err != nil {
		w.t.Fatal(err)
	}
	return string(out)
}

// trace runs a verb without a failure and counts its system calls.
func (w *workdir) trace(calls []string, args ...string) map[string]int {
	w.t.Helper()
	log := filepath.Join(w.t.TempDir(), "calls")
	out, err := w.run("strace", append([]string{
		"-f", "-qq", "-o", log, "-e", "trace=" + strings.Join(calls, ","), filepath.Join(bin, "ken"), "state", "--dir", "state",
	}, args...)...)
	if err != nil {
		w.t.Fatalf("%q without a failure: %v\n%s", args, err, out)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		w.t.Fatal(err)
	}
	made := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\d+ +(\w+)\(`).FindAllSubmatch(b, -1) {
		made[string(m[1])]++
	}
	return made
}

const journal = ".journal.jsonl"

// A view has the files of a state directory and all contents, including those of the archive.
type view struct {
	files    map[string]string // without what differs from run to run
	raw      map[string]string
	contents map[string]bool
}

func (v view) equal(o view) bool { return maps.Equal(v.files, o.files) }

var differs = regexp.MustCompile(`wf_[0-9a-f]{16}|\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(\.\d+)?Z`)

func (w *workdir) look() view {
	w.t.Helper()
	v := view{map[string]string{}, map[string]string{}, map[string]bool{}}
	root := w.path("")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		v.contents[string(b)] = true
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		leftover := strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp")
		if strings.HasPrefix(name, ".archive/") || name == ".lock" || leftover {
			return nil
		}
		v.raw[name] = string(b)
		if name != journal { // it speaks of writes before they are made
			v.files[name] = differs.ReplaceAllString(string(b), "*")
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// A held describes the valid states after a failure.
type held struct {
	stateAct
	when          string
	before, after view
	acknowledged  bool
	// partly is set if single entries could not be moved. The command then reports
	// them and moves the others.
	partly bool
}

// check reads the directory and then writes to it.
func (h held) check(w *workdir) {
	t := w.t
	t.Helper()
	w.must("audit", "--json")
	now := w.look()
	if h.acknowledged && !now.equal(h.after) {
		t.Fatalf("%s: the command reported success, but: %s", h.when, unlike(h.after.files, now.files))
	}
	if !h.either(now) {
		t.Fatalf("%s: neither the old state (%s) nor the new one (%s)", h.when, unlike(h.before.files, now.files), unlike(h.after.files, now.files))
	}
	for name, content := range h.before.raw {
		if name != journal && !slices.Contains(h.replaces, name) && !now.contents[content] {
			t.Fatalf("%s: the content of %s is lost", h.when, name)
		}
	}
	if old := h.before.raw[journal]; !strings.HasPrefix(now.raw[journal], old) && !now.contents[old] {
		t.Fatalf("%s: the journal lost a record", h.when)
	}
	for line := range strings.Lines(now.raw[journal]) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("%s: a line of the journal is torn: %s", h.when, line)
		}
	}
	w.archiveHolds(h.when)
	// The next writer also works at once, and removes the traces of the failure.
	w.must("update", "next=1")
	w.must("get", "next")
	w.must("cleanup", "--apply")
	for _, name := range append(listed(t, w.path(".archive")), listed(t, w.path(""))...) {
		unfinished := strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, ".trash-")
		if name == ".lock" || unfinished {
			t.Fatalf("%s: the file %s remains", h.when, name)
		}
	}
}

// either reports whether a state is the old one or the new one.
func (h held) either(now view) bool {
	if now.equal(h.before) || now.equal(h.after) {
		return true
	}
	if !h.partly {
		return false
	}
	for name, content := range now.files {
		if content != h.before.files[name] && content != h.after.files[name] {
			return false
		}
	}
	for name := range h.after.files {
		if _, ok := now.files[name]; !ok {
			return false
		}
	}
	return true
}

// archiveHolds checks that the archive has only complete snapshots.
func (w *workdir) archiveHolds(when string) {
	w.t.Helper()
	list := decode[struct {
		Snapshots []struct {
			Name    string
			Files   int
			Foreign bool
		}
	}](w.t, w.must("archive", "ls", "--json"))
	for _, s := range list.Snapshots {
		if s.Foreign || s.Files == 0 {
			w.t.Fatalf("%s: the snapshot %+v is incomplete", when, s)
		}
	}
}

func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// unlike lists the files that differ between two states.
func unlike(a, b map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if got, ok := b[name]; !ok {
			out = append(out, fmt.Sprintf("%q is missing", name))
		} else if got != a[name] {
			out = append(out, fmt.Sprintf("%q is %.300q", name, got))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[name]; !ok {
			out = append(out, fmt.Sprintf("%q is there", name))
		}
	}
	return strings.Join(out, ", ")
}
