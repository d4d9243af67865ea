package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/sqlite"
	"ken/internal/store/storetest"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	return openWith(t, path, sqlite.Options{})
}

func openWith(t testing.TB, path string, opts sqlite.Options) *sqlite.Store {
	t.Helper()
	s := sqlite.Open(path, opts)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close returned the error %v", err)
		}
	})
	return s
}

func dbPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(storetest.Dir(t), "ken", "ken.db")
}

// shell runs the sqlite3 command.
func shell(t testing.TB, path string, args ...string) string {
	t.Helper()
	bin, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Fatalf("these tests need the sqlite3 command (Debian: apt install sqlite3): %v", err)
	}
	cmd := exec.CommandContext(t.Context(), bin, append([]string{"-batch", path}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("sqlite3 %q failed with %v\n%s", args, err, &stderr)
	}
	return strings.TrimSpace(string(out))
}

func TestConformance(t *testing.T) {
	fresh := func(t *testing.T) store.Files {
		t.Helper()
		return open(t, dbPath(t))
	}
	t.Run("counting again", func(t *testing.T) { storetest.Run(t, fresh) })
	t.Run("counting one by one", func(t *testing.T) {
		sqlite.CountOneByOne(t)
		storetest.Run(t, fresh)
	})
	t.Run("leases", func(t *testing.T) {
		storetest.RunLeases(t, func(t *testing.T) storetest.Store {
			t.Helper()
			return open(t, dbPath(t))
		})
	})
	t.Run("records", func(t *testing.T) {
		storetest.RunLog(t, func(t *testing.T) storetest.Log {
			t.Helper()
			return open(t, dbPath(t))
		})
	})
	t.Run("in memory", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Files {
			t.Helper()
			return open(t, sqlite.InMemory)
		})
		storetest.RunLeases(t, func(t *testing.T) storetest.Store {
			t.Helper()
			return open(t, sqlite.InMemory)
		})
		storetest.RunLog(t, func(t *testing.T) storetest.Log {
			t.Helper()
			return open(t, sqlite.InMemory)
		})
	})
}

func TestReadingCreatesNoFiles(t *testing.T) {
	path := dbPath(t)
	s := open(t, path)
	if _, _, err := s.LastVerification(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	storetest.Rows(t, s, "")
	storetest.Commit(t, s, "", store.FileChanges{})
	storetest.Commit(t, s, "", store.FileChanges{Worktrees: []string{}})
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading created %s: %v", filepath.Dir(path), err)
	}
	storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "x")}})
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestReopen(t *testing.T) {
	path := dbPath(t)
	s := open(t, path)
	row, rec := storetest.Row("a", "x"), storetest.Record("about x", "x", 0)
	storetest.Commit(t, s, "", store.FileChanges{
		Put: []store.FileRow{row}, Records: []fresh.Record{rec}, Verification: &store.Verification{Head: storetest.ID("h")},
	})
	for i := range 3 {
		if i == 1 {
			if err := s.Close(); err != nil { // the store opens the file again
				t.Fatal(err)
			}
		}
		if i == 2 {
			s = open(t, path)
		}
		if rows := storetest.Rows(t, s, ""); len(rows) != 1 || !rows[0].SummaryBasis.Matches(row.Content) {
			t.Errorf("the rows are %+v; want one with a current summary", rows)
		}
		if b, ok, err := s.LastVerification(t.Context(), ""); !ok || err != nil || b.Head != storetest.ID("h") {
			t.Errorf("Baseline returned %+v, %t, %v; want the head that was stored", b, ok, err)
		}
		if got, ok, err := s.Record(t.Context(), rec.ID()); !ok || err != nil || got != rec {
			t.Errorf("Record returned %+v, %t, %v; want %+v", got, ok, err, rec)
		}
	}
}

// A commit is visible at once to another store on the same file.
func TestTwoStores(t *testing.T) {
	path := dbPath(t)
	a, b := open(t, path), open(t, path)
	storetest.Rows(t, b, "") // opened before the file exists
	for i := range 3 {
		p := repo.Path(fmt.Sprint(i))
		storetest.Commit(t, a, "", store.FileChanges{Put: []store.FileRow{storetest.Row(p, "x")}})
		if n := len(storetest.Rows(t, b, "")); n != i+1 {
			t.Errorf("%d rows, want %d", n, i+1)
		}
		a, b = b, a
	}
}

// After the file was moved, the store creates a new one and does not write to the old one.
func TestFileMoved(t *testing.T) {
	path := dbPath(t)
	s := open(t, path)
	storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "x")}})
	dir := filepath.Dir(path)
	if err := os.Rename(dir, dir+".damaged"); err != nil {
		t.Fatal(err)
	}
	if rows := storetest.Rows(t, s, ""); len(rows) != 0 {
		t.Errorf("the rows are %v; want none", rows)
	}
	storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("b", "x")}})
	if got := shell(t, path, "SELECT path FROM file_registry"); got != "b" {
		t.Errorf("the new file has %q", got)
	}
	if got := shell(t, filepath.Join(dir+".damaged", "ken.db"), "SELECT path FROM file_registry"); got != "a" {
		t.Errorf("the old file has %q", got)
	}
}

func TestSettings(t *testing.T) {
	path := dbPath(t)
	s := open(t, path)
	storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "x")}})
	got := shell(t, path, "PRAGMA journal_mode; PRAGMA application_id; PRAGMA user_version; PRAGMA integrity_check")
	if want := "wal\n1801809523\n1\nok"; got != want {
		t.Errorf("settings are %q, want %q", got, want)
	}
}

// The views are for users of the sqlite3 command.
func TestViews(t *testing.T) {
	path := dbPath(t)
	s := open(t, path)
	row := func(path repo.Path, text string, kind repo.Kind) store.FileRow {
		r := storetest.Row(path, text)
		r.Kind = kind
		return r
	}
	excluded := row("vendor/v.go", "v", repo.KindVendored)
	excluded.Excluded = "vendored"
	stale := row("stale.go", "edited", repo.KindTest)
	stale.SummaryBasis = fresh.Basis{Content: storetest.Content("before")}
	spared := row("spared.go", "edited", repo.KindTest)
	spared.SummaryBasis, spared.Marks = stale.SummaryBasis, store.MarkUncounted
	byMD5 := storetest.Record("by md5\nalone", "m", 30)
	byMD5.Basis.Content.ID = repo.ID{}
	head := storetest.ID("head")
	storetest.Commit(t, s, "", store.FileChanges{
		Records: []fresh.Record{
			storetest.Record("older", "x", 0), storetest.Record("it serves", "x", 10),
			storetest.Record("what it was", "before", 20), storetest.Record("for vendored", "v", 0), byMD5,
		},
		Put: []store.FileRow{
			row("fresh.go", "x", repo.KindSource), stale, spared, row("none.md", "n", repo.KindDoc), excluded,
			row("by\nmd5", "m", repo.KindData),
			{Path: "conflicted", SummaryBasis: fresh.Basis{Content: storetest.Content("x")}},
		},
		Verification: &store.Verification{Head: head, Clean: true, At: storetest.Epoch},
	})
	storetest.Commit(t, s, "feature", store.FileChanges{Put: []store.FileRow{row("fresh.go", "x", repo.KindSource)}})

	got := shell(t, path, "-cmd", ".mode quote", `
		SELECT path, type, content_md5, summary, summary_updated_at, summary_state, excluded
		FROM file_registry WHERE worktree = '' ORDER BY path`)
	md5 := func(text string) string { return storetest.Content(text).MD5.String() }
	want := strings.Join([]string{
		`'by` + "\n" + `md5','data','` + md5("m") + `','by md5` + "\n" + `alone','2026-01-02T03:04:35Z','fresh',NULL`,
		`'conflicted','unknown',NULL,'it serves','2026-01-02T03:04:15Z','unknown',NULL`,
		`'fresh.go','source','` + md5("x") + `','it serves','2026-01-02T03:04:15Z','fresh',NULL`,
		`'none.md','doc','` + md5("n") + `',NULL,NULL,'none',NULL`,
		`'spared.go','test','` + md5("edited") + `','what it was','2026-01-02T03:04:25Z','fresh',NULL`,
		`'stale.go','test','` + md5("edited") + `','what it was','2026-01-02T03:04:25Z','stale',NULL`,
		`'vendor/v.go','vendored','` + md5("v") + `',NULL,NULL,'excluded','vendored'`,
	}, "\n")
	if got != want {
		t.Errorf("file_registry is\n%s\nwant\n%s", got, want)
	}
	if got := shell(t, path, `SELECT content_id || ' ' || summary_of || ' ' || summary_author FROM file_registry
		WHERE worktree = 'feature'`); got != storetest.ID("x").String()+" "+storetest.ID("x").String()+" ann" {
		t.Errorf("the row of the worktree feature is %q; want the content x with a summary by ann", got)
	}
	if got := shell(t, path, "SELECT value FROM plugin_config WHERE key = 'last_verified_sha'"); got != head.String() {
		t.Errorf("last_verified_sha = %q, want %s", got, head)
	}
	if got := shell(t, path, "SELECT * FROM baseline"); got !=
		"|"+head.String()+"||1|2026-01-02T03:04:05Z|7|3|2|1|1" {
		t.Errorf("the table baseline has %q; want the values that were stored", got)
	}

	// last_verified_sha follows the baseline of the main work tree only.
	storetest.Commit(t, s, "feature", store.FileChanges{Verification: &store.Verification{Head: storetest.ID("other")}})
	if got := shell(t, path, "SELECT value FROM plugin_config"); got != head.String() {
		t.Errorf("last_verified_sha = %q", got)
	}
	storetest.Commit(t, s, "", store.FileChanges{Verification: &store.Verification{}})
	if got := shell(t, path, "SELECT count(*) FROM plugin_config"); got != "0" {
		t.Errorf("an unborn HEAD has %s last_verified_sha", got)
	}
	storetest.Commit(t, s, "", store.FileChanges{Verification: &store.Verification{Head: head}})
	storetest.Commit(t, s, "", store.FileChanges{Worktrees: []string{"feature"}})
	if got := shell(t, path, "SELECT count(*) FROM plugin_config"); got != "0" {
		t.Errorf("a pruned work tree has %s last_verified_sha", got)
	}
}

// ken refuses a database with another schema in one line, and does not change it.
func TestOtherSchema(t *testing.T) {
	for name, statement := range map[string]string{
		"another version":     "PRAGMA user_version = 7",
		"before version 1":    "PRAGMA application_id = 1801809457; PRAGMA user_version = 4",
		"without a version":   "PRAGMA user_version = 0",
		"without any setting": "PRAGMA application_id = 0; PRAGMA user_version = 0",
	} {
		t.Run(name, func(t *testing.T) {
			path := dbPath(t)
			s := open(t, path)
			storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "x")}})
			shell(t, path, statement)
			// Another database was moved aside before.
			if err := os.Mkdir(filepath.Dir(path)+".other", 0o700); err != nil {
				t.Fatal(err)
			}
			check := func(err error) {
				t.Helper()
				if err == nil || !strings.HasPrefix(err.Error(), path+" has another schema (application id ") {
					t.Errorf("err = %v, want that %s has another schema", err, path)
				}
				dir := filepath.Dir(path)
				if hint, want := fault.HintOf(err), "move it aside with: mv "+dir+" "+dir+".other2"; hint != want {
					t.Errorf("the hint is %q; want %q", hint, want)
				}
			}
			change := store.FileChanges{Put: []store.FileRow{storetest.Row("b", "x")}}
			check(s.Commit(t.Context(), "", change, nil)) // the store was open before the schema changed
			s = open(t, path)
			_, _, err := s.LastVerification(t.Context(), "")
			check(err)
			check(s.Commit(t.Context(), "", change, nil))
			if got := shell(t, path, "SELECT count(*) FROM file"); got != "1" {
				t.Errorf("there are %s rows; want 1", got)
			}
		})
	}
}

// ken refuses the database of another program, also one without an application id.
func TestForeignDatabase(t *testing.T) {
	for _, id := range []string{"42", "0"} {
		path := filepath.Join(t.TempDir(), "ken.db")
		shell(t, path, "PRAGMA application_id = "+id+"; CREATE TABLE t (x)")
		s := open(t, path)
		err := s.Commit(t.Context(), "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "x")}}, nil)
		if err == nil || !strings.Contains(err.Error(), "has another schema (application id "+id) {
			t.Errorf("Commit with application id %s returned the error %v; want that the schema is another", id, err)
		}
		if got := shell(t, path, "SELECT count(*) FROM sqlite_schema"); got != "1" {
			t.Errorf("there are %s tables; want 1", got)
		}
	}
}

func TestDamaged(t *testing.T) {
	whole := dbPath(t)
	s := open(t, whole)
	var rows []store.FileRow
	for i := range 2000 {
		rows = append(rows, storetest.Row(repo.Path(fmt.Sprintf("f%04d", i)), fmt.Sprint(i)))
	}
	storetest.Commit(t, s, "", store.FileChanges{Put: rows})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, bytes := range map[string][]byte{
		"another file":      []byte(strings.Repeat("not a database\n", 100)),
		"truncated":         good[:len(good)/2],
		"cut in a page":     good[:5000],
		"overwritten":       append(append([]byte(nil), good[:4096]...), make([]byte, len(good)-4096)...),
		"noise in the tail": append(append([]byte(nil), good[:8192]...), []byte(strings.Repeat("\xde\xad", (len(good)-8192)/2))...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "it's", "ken.db")
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, bytes, 0o666); err != nil {
				t.Fatal(err)
			}
			s := open(t, path)
			var failed error
			for _, err := range s.Rows(t.Context(), "") {
				failed = err
			}
			if failed == nil || !strings.Contains(failed.Error(), "store is damaged: "+path) {
				t.Fatalf("Rows returned the error %v; want that the store is damaged", failed)
			}
			if fault.KindOf(failed) != fault.Failed {
				t.Errorf("the error has the kind %v; want %v", fault.KindOf(failed), fault.Failed)
			}
			dir := filepath.Dir(path)
			hint := fault.HintOf(failed)
			if !strings.HasPrefix(hint, "mv "+fault.Quote(dir)+" "+fault.Quote(dir+".damaged")+" && ken verify") {
				t.Errorf("the hint is %q; want a command that moves the directory away", hint)
			}
			// After the command of the hint, the store works again.
			cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(hint, "ken verify", "true", 1))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("the command of the hint, %s, failed with %v\n%s", hint, err, out)
			}
			storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "x")}})
			if n := len(storetest.Rows(t, s, "")); n != 1 {
				t.Errorf("the store has %d rows; want 1", n)
			}
			if now, err := os.ReadFile(filepath.Join(dir+".damaged", "ken.db")); err != nil || len(now) != len(bytes) {
				t.Errorf("the damaged file has %d bytes, want %d: %v", len(now), len(bytes), err)
			}
		})
	}
}

// holdLock locks the database with sqlite3 until the test ends.
func holdLock(t *testing.T, path, begin string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sqlite3", "-batch", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("these tests need the sqlite3 command (Debian: apt install sqlite3): %v", err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	fmt.Fprintln(in, begin+"; SELECT 'ready';")
	buf := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(out, buf); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestLocked(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			path := dbPath(t)
			s := openWith(t, path, sqlite.Options{BusyTimeout: 300 * time.Millisecond})
			storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "x")}})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			shell(t, path, "PRAGMA journal_mode = "+mode)
			holder := holdLock(t, path, "BEGIN EXCLUSIVE")

			begun := time.Now()
			err := s.Commit(t.Context(), "", store.FileChanges{Put: []store.FileRow{storetest.Row("b", "x")}}, nil)
			if fault.KindOf(err) != fault.Locked {
				t.Fatalf("Commit returned the error %v; want that the store is locked", err)
			}
			if waited := time.Since(begun); waited < 250*time.Millisecond {
				t.Errorf("waited %v, want 300 ms", waited)
			}
			want := fmt.Sprintf("store is locked by process %d (sqlite3): %s", holder.Process.Pid, path)
			if !strings.HasPrefix(err.Error(), want) {
				t.Errorf("err = %v, want %s", err, want)
			}
			if hint := fault.HintOf(err); hint != "wait for it to finish, then run the command again" {
				t.Errorf("the hint is %q; want to wait for the other program", hint)
			}
			_, _, err = s.LastVerification(t.Context(), "")
			if mode == "WAL" && err != nil {
				t.Errorf("a reader waited for a writer: %v", err)
			}
			if mode == "DELETE" && fault.KindOf(err) != fault.Locked {
				t.Errorf("the reader returned the error %v; want that the store is locked", err)
			}

			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			s = openWith(t, path, sqlite.Options{BusyTimeout: time.Hour}) // longer than any test
			err = s.Commit(ctx, "", store.FileChanges{Put: []store.FileRow{storetest.Row("b", "x")}}, nil)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("err = %v, want the caller's deadline", err)
			}
		})
	}
}

// A commit succeeds if another process releases its lock before the busy timeout.
func TestWaitsForLock(t *testing.T) {
	path := dbPath(t)
	a, b := open(t, path), open(t, path)
	storetest.Commit(t, a, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "x")}})
	storetest.Rows(t, b, "")
	inside, done := make(chan bool), make(chan error)
	c := storetest.Current(t, a, "", store.FileChanges{Verification: &store.Verification{}})
	go func() {
		done <- a.Commit(context.Background(), "", c, func() (bool, error) {
			close(inside)
			time.Sleep(200 * time.Millisecond)
			return true, nil
		})
	}()
	<-inside
	storetest.Commit(t, b, "", store.FileChanges{Put: []store.FileRow{storetest.Row("b", "x")}})
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := len(storetest.Rows(t, b, "")); n != 2 {
		t.Errorf("the store has %d rows; want 2", n)
	}
}

func TestWALSafeOn(t *testing.T) {
	for _, c := range []struct {
		name  string
		magic uint32
		safe  bool
	}{
		{"ext4", 0xef53, true},
		{"btrfs", 0x9123683e, true},
		{"xfs", 0x58465342, true},
		{"zfs", 0x2fc12fc1, true},
		{"tmpfs", 0x01021994, true},
		{"overlay", 0x794c7630, true},
		{"never heard of", 0x12345678, true},
		{"nfs", 0x6969, false},
		{"smb", 0x517b, false},
		{"cifs", 0xff534d42, false},
		{"smb2", 0xfe534d42, false},
		{"9p", 0x01021997, false},
		{"virtiofs", 0x65735546, false},
		{"vboxsf", 0x786f4256, false},
	} {
		if got := sqlite.WALSafeOn(c.magic); got != c.safe {
			t.Errorf("WAL on %s: %v", c.name, got)
		}
	}
	for name, safe := range map[string]bool{"apfs": true, "hfs": true, "nfs": false, "smbfs": false} {
		if got := sqlite.WALSafeOnNamed(name); got != safe {
			t.Errorf("WAL on %s: %v", name, got)
		}
	}
}

// A reader sees no database or the whole one while another process creates it.
func TestReadDuringCreation(t *testing.T) {
	for range 40 {
		path := dbPath(t)
		creator := open(t, path)
		done := make(chan struct{})
		var reading sync.WaitGroup
		for range 4 {
			reading.Go(func() {
				for last := false; !last; {
					select {
					case <-done:
						last = true
					default:
					}
					s := sqlite.Open(path, sqlite.Options{})
					if _, _, err := s.LastVerification(t.Context(), ""); err != nil {
						t.Error(err)
						last = true
					}
					s.Close()
				}
			})
		}
		storetest.Commit(t, creator, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "x")}})
		close(done)
		reading.Wait()
	}
}
