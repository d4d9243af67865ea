//go:build unix

package local_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/local"
	"ken/internal/store/sqlite"
	"ken/internal/store/storetest"
)

// With these environment variables, the test binary runs as ken in a sandbox: its user can read the git directory, and
// cannot write it.
const (
	childVerb   = "KEN_STORE_CHILD"
	childCommon = "KEN_STORE_COMMON"
	childState  = "KEN_STORE_STATE"
	childArg    = "KEN_STORE_ARG"
	nobody      = 65534
)

func TestMain(m *testing.M) {
	verb := os.Getenv(childVerb)
	if verb == "" {
		os.Exit(m.Run())
	}
	// Root ignores permissions.
	if os.Getuid() == 0 && verb != "merges" {
		for _, err := range []error{syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)} {
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(2)
			}
		}
	}
	s := local.Open(local.Options{CommonDir: os.Getenv(childCommon), StateDir: os.Getenv(childState)})
	err := verbs[verb](s, os.Getenv(childArg))
	if err := errors.Join(err, s.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// verbs are the actions of a ken in a sandbox.
var verbs = map[string]func(s *local.Store, arg string) error{
	// reads expects a row, a fresh record and a baseline with the given text.
	"reads": func(s *local.Store, text string) error {
		if err := sees(s, text); err != nil {
			return err
		}
		if note := s.Note(); note != "" {
			return fmt.Errorf("a read returned the note %s", note)
		}
		return nil
	},
	"sees": sees,
	// empty expects an empty store.
	"empty": func(s *local.Store, _ string) error {
		if _, ok, err := s.LastVerification(context.Background(), ""); ok || err != nil {
			return fmt.Errorf("baseline: %v, %w", ok, err)
		}
		return nil
	},
	// writes stores a record, a row and a baseline, and reads them.
	"writes": func(s *local.Store, text string) error {
		c := change(text)
		now, _, err := s.LastVerification(context.Background(), "")
		if err != nil {
			return err
		}
		c.Verification.Generation = now.Generation
		if err := s.Commit(context.Background(), "", c, nil); err != nil {
			return err
		}
		if note := s.Note(); !strings.HasPrefix(note, "git directory is read-only; new summaries go to ") ||
			!strings.HasSuffix(note, " until it is writable") {
			return fmt.Errorf("note is %q", note)
		}
		return sees(s, text)
	},
	// refused expects ErrReadOnly for the same write.
	"refused": func(s *local.Store, text string) error {
		err := s.Commit(context.Background(), "", change(text), nil)
		if !errors.Is(err, local.ErrReadOnly) || !strings.Contains(fault.HintOf(err), "XDG_STATE_HOME") {
			return fmt.Errorf("the write returned: %w", err)
		}
		return nil
	},
	// many stores many records, one by one.
	"many": func(s *local.Store, name string) error {
		for i := range manyTexts {
			text := fmt.Sprintf("%s %d", name, i)
			err := s.Commit(context.Background(), "", store.FileChanges{
				Records: []fresh.Record{storetest.Record("about "+text, text, i)},
			}, nil)
			if err != nil {
				return err
			}
			got, err := s.NewestBases(context.Background(), []repo.Content{storetest.Content(text)})
			if err != nil || len(got) != 1 {
				return fmt.Errorf("%s is not stored: %v, %w", text, got, err)
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	},
}

const manyTexts = 40

// change returns a state of a store that depends on a text.
func change(text string) store.FileChanges {
	return store.FileChanges{
		Records:      []fresh.Record{storetest.Record("about "+text, text, 0)},
		Put:          []store.FileRow{storetest.Row("a.go", text)},
		Verification: &store.Verification{Head: storetest.ID(text)},
	}
}

func sees(s *local.Store, text string) error {
	ctx := context.Background()
	b, ok, err := s.LastVerification(ctx, "")
	if err != nil || !ok || b.Head != storetest.ID(text) {
		return fmt.Errorf("baseline: %v, %v, %w", b, ok, err)
	}
	n := 0
	for r, err := range s.Rows(ctx, "") {
		n++
		if err != nil || r.Content != storetest.Content(text) || !r.SummaryBasis.Matches(r.Content) {
			return fmt.Errorf("row: %+v, %w", r, err)
		}
	}
	if n != 1 {
		return fmt.Errorf("%d rows", n)
	}
	return knows(s, text)
}

func knows(s store.Files, text string) error {
	newest, err := s.Newest(context.Background(), []repo.Content{storetest.Content(text)})
	if err != nil || newest[storetest.Content(text)].Text != "about "+text {
		return fmt.Errorf("no text about %s: %v, %w", text, newest, err)
	}
	return nil
}

// A sandbox is a git directory that only this process can write, and a state directory that all users can write.
type sandbox struct {
	t             *testing.T
	common, state string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	dir := storetest.Dir(t)
	b := &sandbox{t, filepath.Join(dir, "repo.git"), filepath.Join(dir, "state")}
	if err := errors.Join(os.Mkdir(b.common, 0o755), os.Mkdir(b.state, 0o755), os.Chmod(b.state, 0o777)); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		t.Cleanup(func() { b.protect(false) })
	}
	return b
}

// protect makes the git directory read-only. Root ignores that: its child runs as another user, who gets the
// permission to read.
func (b *sandbox) protect(on bool) {
	if os.Getuid() == 0 {
		b.letOthersRead()
		return
	}
	dir, file := os.FileMode(0o755), os.FileMode(0o644)
	if on {
		dir, file = 0o555, 0o444
	}
	filepath.WalkDir(b.common, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, dir)
		}
		return errors.Join(err, os.Chmod(path, file))
	})
}

// letOthersRead makes the private database readable, as it is in a sandbox of the same user.
func (b *sandbox) letOthersRead() {
	for _, name := range []string{b.path(), b.path() + "-wal", b.path() + "-shm"} {
		if err := os.Chmod(name, 0o604); err != nil && !errors.Is(err, fs.ErrNotExist) {
			b.t.Error(err)
		}
	}
}

func (b *sandbox) path() string { return filepath.Join(b.common, "ken", "ken.db") }

// outside opens the store outside of the sandbox, where the git directory is writable.
func (b *sandbox) outside() *local.Store {
	b.t.Helper()
	s := local.Open(local.Options{CommonDir: b.common, StateDir: b.state})
	b.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return s
}

// child runs a verb in the sandbox.
func (b *sandbox) child(verb, arg string) {
	b.t.Helper()
	b.protect(true)
	defer b.protect(false)
	if err := b.start(verb, arg); err != nil {
		b.t.Fatal(err)
	}
}

func (b *sandbox) start(verb, arg string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(b.t.Context(), self)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(),
		childVerb+"="+verb, childArg+"="+arg, childCommon+"="+b.common, childState+"="+b.state)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", verb, arg, err, out)
	}
	return nil
}

// write changes the store from outside, and closes it.
func (b *sandbox) write(text string) {
	b.t.Helper()
	s := sqlite.Open(b.path(), sqlite.Options{})
	storetest.Commit(b.t, s, "", change(text))
	if err := s.Close(); err != nil {
		b.t.Fatal(err)
	}
}

// files lists the git directory.
func (b *sandbox) files() string {
	files, err := filepath.Glob(filepath.Join(b.common, "*", "*"))
	deeper, err2 := filepath.Glob(filepath.Join(b.common, "*", "*", "*"))
	if err := errors.Join(err, err2); err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(append(files, deeper...), "\n")
}

// pending reports whether the spool waits to be merged.
func (b *sandbox) pending() bool {
	files, err := filepath.Glob(filepath.Join(b.state, "ken", "spool", "*", "pending"))
	if err != nil {
		b.t.Fatal(err)
	}
	return len(files) > 0
}

// merged checks that main has the texts and the spool has none.
func (b *sandbox) merged(texts ...string) {
	b.t.Helper()
	if b.pending() {
		b.t.Error("the spool is still pending")
	}
	s := sqlite.Open(b.path(), sqlite.Options{})
	defer s.Close()
	for _, text := range texts {
		if err := knows(s, text); err != nil {
			b.t.Error(err)
		}
	}
	spools, err := filepath.Glob(filepath.Join(b.state, "ken", "spool", "*", "ken.db"))
	if err != nil || len(spools) != 1 {
		b.t.Fatalf("Glob returned %v, %v; want one spool", spools, err)
	}
	spool := sqlite.Open(spools[0], sqlite.Options{})
	defer spool.Close()
	if left, _, err := spool.Since(b.t.Context(), "", 1); err != nil || len(left) > 0 {
		b.t.Errorf("the spool still has %d records, %v", len(left), err)
	}
}

func TestReadOnlyGitDirectory(t *testing.T) {
	b := newSandbox(t)
	b.write("one")
	before := b.files()

	b.child("reads", "one")
	if entries, _ := os.ReadDir(b.state); len(entries) > 0 {
		t.Errorf("reading created %v", entries)
	}
	b.child("writes", "two")
	b.child("sees", "two")
	if after := b.files(); after != before {
		t.Errorf("the git directory has\n%s\nhad\n%s", after, before)
	}
	if !b.pending() {
		t.Error("nothing is pending")
	}

	// The first read outside merges the records. Main keeps its own rows and baseline.
	s := b.outside()
	if err := sees(s, "one"); err != nil {
		t.Error(err)
	}
	if err := knows(s, "two"); err != nil {
		t.Error(err)
	}
	if note := s.Note(); note != "" {
		t.Errorf("note is %q", note)
	}
	b.merged("one", "two")

	// The emptied spool can be used again.
	b.child("sees", "one")
	b.child("writes", "three")
	storetest.Commit(t, s, "", change("four")) // a write merges as well
	b.merged("one", "two", "three", "four")
}

func TestReadOnlyGitDirectoryWithoutStore(t *testing.T) {
	b := newSandbox(t)
	b.child("empty", "")
	b.child("writes", "one")
	b.child("sees", "one")
	if files := b.files(); files != "" {
		t.Errorf("the git directory has %s", files)
	}
	if err := knows(b.outside(), "one"); err != nil {
		t.Error(err)
	}
	b.merged("one")
}

// While a process outside has the database open, its newest records are in the -wal file.
func TestReadOnlyWhileOpenOutside(t *testing.T) {
	b := newSandbox(t)
	b.write("zero")
	s := b.outside()
	storetest.Commit(t, s, "", change("one"))
	if wal, err := os.Stat(b.path() + "-wal"); err != nil || wal.Size() == 0 {
		t.Fatalf("there is no -wal: %v", err)
	}
	b.child("reads", "one")
	storetest.Commit(t, s, "", change("two"))
	b.child("reads", "two")
	b.child("writes", "three")
	storetest.Commit(t, s, "", change("four"))
	b.merged("one", "two", "three", "four")
}

// A crash outside leaves a -wal file, which a sandbox cannot recover in place.
func TestReadOnlyAfterCrash(t *testing.T) {
	for _, c := range []struct {
		name   string
		copied []string
		shm    string
	}{
		{"with its -shm", []string{"", "-wal", "-shm"}, ""},
		{"without", []string{"", "-wal"}, ""},
		{"with an empty -shm", []string{"", "-wal"}, "\x00"},
		{"with noise for a -shm", []string{"", "-wal"}, "\xa5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := newSandbox(t)
			from.write("zero")
			s := from.outside()
			storetest.Commit(t, s, "", change("one"))
			b := newSandbox(t)
			if err := os.Mkdir(filepath.Dir(b.path()), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, suffix := range c.copied {
				bytes, err := os.ReadFile(from.path() + suffix)
				if err == nil {
					err = os.WriteFile(b.path()+suffix, bytes, 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if c.shm != "" {
				if err := os.WriteFile(b.path()+"-shm", []byte(strings.Repeat(c.shm, 32768)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			before := b.files()
			b.child("reads", "one")
			b.child("writes", "two")
			if after := b.files(); after != before {
				t.Errorf("the git directory has\n%s\nhad\n%s", after, before)
			}
			if err := knows(b.outside(), "one"); err != nil {
				t.Error(err)
			}
			b.merged("one", "two")
		})
	}
}

// A sandbox that uses the spool reads records that are written outside meanwhile.
func TestSpoolFollowsMain(t *testing.T) {
	b := newSandbox(t)
	b.write("one")
	b.child("writes", "two")
	b.write("three")
	inside := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			b.child("knows", text)
		}
	}
	inside("one", "two", "three")
	b.child("sees", "two") // rows are the sandbox's own by now
}

func init() {
	// merges runs outside.
	verbs["merges"] = func(s *local.Store, text string) error {
		runtime.LockOSThread() // strace counts system calls by thread
		return knows(s, text)
	}
	verbs["knows"] = func(s *local.Store, text string) error { return knows(s, text) }
}

func TestNoWritableDirectory(t *testing.T) {
	b := newSandbox(t)
	b.write("one")
	if err := os.Chmod(b.state, 0o555); err != nil {
		t.Fatal(err)
	}
	b.child("reads", "one")
	b.child("refused", "two")
	b.child("reads", "one")
	b.state = ""
	b.child("reads", "one")
	b.child("refused", "two")
}

// The database file of one user is read-only for another.
func TestReadOnlyDatabaseFile(t *testing.T) {
	b := newSandbox(t)
	b.write("one")
	if err := errors.Join(os.Chmod(b.common, 0o777), os.Chmod(filepath.Dir(b.path()), 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(b.path(), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := b.start("reads", "one"); err != nil {
		t.Fatal(err)
	}
	if err := b.start("writes", "two"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(b.path(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := knows(b.outside(), "two"); err != nil {
		t.Error(err)
	}
}

// Several sandboxes write to one spool, which is merged repeatedly while main is written. No record is lost.
func TestConcurrentMergesLoseNothing(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("not root: inside and outside cannot run at once, so they take turns")
	}
	b := newSandbox(t)
	b.write("zero")
	var inside sync.WaitGroup
	names := []string{"a", "b", "c"}
	b.protect(true)
	for _, name := range names {
		inside.Go(func() {
			if err := b.start("many", name); err != nil {
				t.Error(err)
			}
		})
	}
	done := make(chan bool)
	go func() { inside.Wait(); close(done) }()
	texts := []string{"zero"}
	if os.Getuid() == 0 {
		for i := 0; ; i++ {
			s := local.Open(local.Options{CommonDir: b.common, StateDir: b.state})
			text := fmt.Sprint("outside ", i)
			storetest.Commit(t, s, "", store.FileChanges{Records: []fresh.Record{storetest.Record("about "+text, text, 0)}})
			texts = append(texts, text)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			select {
			case <-done:
			case <-time.After(30 * time.Millisecond):
				continue
			}
			break
		}
	}
	<-done
	b.protect(false)
	for _, name := range names {
		for i := range manyTexts {
			texts = append(texts, fmt.Sprintf("%s %d", name, i))
		}
	}
	s := b.outside()
	if err := knows(s, "zero"); err != nil {
		t.Error(err)
	}
	b.merged(texts...)
}
