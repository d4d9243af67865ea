package searchindex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"ken/internal/fault"
	"ken/internal/repo"
)

func put(t *testing.T, x *Index, paths ...repo.Path) {
	t.Helper()
	err := x.Update(t.Context(), func(w *Writer) error {
		for _, p := range paths {
			if err := w.Put(Document{File: repo.File{Path: p, Kind: repo.KindSource}, Text: "some words"}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, x *Index) int {
	t.Helper()
	files, err := x.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func open(t *testing.T, file string) *Index {
	t.Helper()
	x, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func TestOpenKeepsWhatWasStored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache", "search.db")
	x, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	put(t, x, "a", "b")
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	y := open(t, file)
	if n := count(t, y); n != 2 || y.Temporary {
		t.Errorf("expected 2 stored files, found %d (temporary: %t)", n, y.Temporary)
	}
}

func TestOpenMakesADamagedIndexAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search.db")
	if err := os.WriteFile(file, []byte("this is not a database, but it is long enough to look like one"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := open(t, file)
	put(t, x, "a")
	if n := count(t, x); n != 1 || x.Temporary {
		t.Errorf("expected a new index with 1 file, found %d (temporary: %t)", n, x.Temporary)
	}
}

// A database of another program is replaced as a whole. Its tables are not put beside those of the index.
func TestOpenAddsNothingToAForeignDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search.db")
	conn, err := sqlite.OpenConn(file, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sqlitex.ExecuteScript(conn, `CREATE TABLE dolls (id INTEGER)`, nil), conn.Close()); err != nil {
		t.Fatal(err)
	}
	x := open(t, file)
	put(t, x, "a")
	n, err := sqlitex.ResultInt(x.conn.Prep(`SELECT count(*) FROM sqlite_schema WHERE name = 'dolls'`))
	if n != 0 || err != nil || x.Temporary {
		t.Errorf("the index has %d tables of the other program (error %v, temporary: %t)", n, err, x.Temporary)
	}
}

func TestOpenInMemoryWhereNothingCanBeWritten(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x := open(t, filepath.Join(blocked, "search.db"))
	put(t, x, "a")
	if n := count(t, x); n != 1 || !x.Temporary {
		t.Errorf("expected a temporary index with 1 file, found %d (temporary: %t)", n, x.Temporary)
	}
}

func TestUpdateDoesNotWaitForAnotherWriter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search.db")
	x, y := open(t, file), open(t, file)
	put(t, x, "a")
	err := x.Update(t.Context(), func(w *Writer) error {
		err := y.Update(t.Context(), func(*Writer) error { return nil })
		if !errors.Is(err, ErrBusy) {
			t.Errorf("expected ErrBusy for the second writer, found %v", err)
		}
		if n := count(t, y); n != 1 {
			t.Errorf("expected a reader to see 1 file meanwhile, found %d", n)
		}
		return w.Put(Document{File: repo.File{Path: "b"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, y); n != 2 {
		t.Errorf("expected 2 files after the update, found %d", n)
	}
}

// hold starts a write transaction on a separate connection until release is called.
func hold(t *testing.T, file string) (release func()) {
	t.Helper()
	started, end, ended := make(chan bool), make(chan bool), make(chan error)
	x := open(t, file)
	go func() {
		ended <- x.Update(t.Context(), func(*Writer) error {
			close(started)
			<-end
			return nil
		})
	}()
	<-started
	return func() {
		t.Helper()
		close(end)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestUpdateTemporarilyWaitsForAnotherWriter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search.db")
	synctest.Test(t, func(t *testing.T) {
		y := open(t, file)
		put(t, y, "a")
		release := hold(t, file)
		tried := make(chan error, 1)
		go func() {
			tried <- y.UpdateTemporarily(t.Context(), func(w *Writer) error { return w.Put(Document{File: repo.File{Path: "b"}}) })
		}()
		synctest.Wait()
		select {
		case err := <-tried:
			t.Errorf("expected UpdateTemporarily to wait for the other writer, found %v", err)
			release()
			return
		default:
		}
		release()
		if err := <-tried; err != nil {
			t.Errorf("expected UpdateTemporarily to go on after the other writer, found %v", err)
		}
	})
}

// An empty index has no results, so its update waits.
func TestUpdateOfAnEmptyIndexWaits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search.db")
	synctest.Test(t, func(t *testing.T) {
		y := open(t, file)
		release := hold(t, file)
		updated := make(chan error, 1)
		go func() {
			updated <- y.Update(t.Context(), func(w *Writer) error { return w.Put(Document{File: repo.File{Path: "b"}}) })
		}()
		synctest.Wait()
		select {
		case err := <-updated:
			t.Errorf("expected Update to wait for the other writer, found %v", err)
			release()
			return
		default:
		}
		release()
		if err := <-updated; err != nil {
			t.Errorf("expected Update to go on after the other writer, found %v", err)
		}
	})
}

func TestUpdateTemporarilyDoesNotWaitForever(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search.db")
	synctest.Test(t, func(t *testing.T) {
		y := open(t, file)
		release := hold(t, file)
		defer release()
		start := time.Now() // the clock of synctest, not of the machine
		err := y.UpdateTemporarily(t.Context(), func(*Writer) error { return nil })
		if !errors.Is(err, ErrBusy) || fault.KindOf(err) != fault.Locked || fault.HintOf(err) == "" {
			t.Errorf("expected ErrBusy with a hint, found %v", err)
		}
		if waited := time.Since(start); waited < writePatience {
			t.Errorf("expected UpdateTemporarily to wait for %v, it waited for %v", writePatience, waited)
		}
	})
}

func TestUpdateTemporarilyWaitsUntilItsContextEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search.db")
	synctest.Test(t, func(t *testing.T) {
		y := open(t, file)
		release := hold(t, file)
		defer release()
		ctx, cancel := context.WithCancel(t.Context())
		tried := make(chan error, 1)
		go func() { tried <- y.UpdateTemporarily(ctx, func(*Writer) error { return nil }) }()
		synctest.Wait()
		cancel()
		if err := <-tried; !errors.Is(err, context.Canceled) {
			t.Errorf("expected the error of the context, found %v", err)
		}
	})
}

// Two processes find no index. One of them creates the tables and continues writing before the other checks
// again.
func TestOpenDoesNotWaitForAWriterOfMadeTables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search.db")
	synctest.Test(t, func(t *testing.T) {
		conn, err := sqlite.OpenConn(file, sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenWAL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		exec := func(query string) {
			t.Helper()
			if err := sqlitex.ExecuteTransient(conn, query, nil); err != nil {
				t.Fatal(err)
			}
		}
		exec(`BEGIN IMMEDIATE`)
		opened := make(chan error, 1)
		go func() {
			y, err := Open(t.Context(), file)
			if err == nil {
				err = y.Close()
			}
			opened <- err
		}()
		synctest.Wait()
		if err := sqlitex.ExecuteScript(conn, schema, nil); err != nil {
			t.Fatal(err)
		}
		exec(fmt.Sprintf(`PRAGMA user_version = %d`, version))
		exec(`COMMIT`)
		exec(`BEGIN IMMEDIATE`)
		if err := <-opened; err != nil {
			t.Errorf("expected the tables that the other process made, found %v", err)
		}
		exec(`ROLLBACK`)
	})
}

func TestUpdateTemporarilyLeavesNothingBehind(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "search.db"))
	put(t, x, "a")
	err := x.UpdateTemporarily(t.Context(), func(w *Writer) error {
		if err := w.Put(Document{File: repo.File{Path: "b"}}); err != nil {
			return err
		}
		if n := count(t, w.Index); n != 2 {
			t.Errorf("expected 2 files inside the trial, found %d", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, x); n != 1 {
		t.Errorf("expected 1 file after the trial, found %d", n)
	}
}

func TestUpdateEndsWithItsContext(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "search.db"))
	ctx, cancel := context.WithCancel(t.Context())
	err := x.Update(ctx, func(w *Writer) error {
		cancel()
		for {
			if err := w.Put(Document{File: repo.File{Path: "a"}}); err != nil {
				return err
			}
		}
	})
	if err == nil {
		t.Error("expected an error after the context ended")
	}
	put(t, x, "c")
	if n := count(t, x); n != 1 {
		t.Errorf("expected only the file of the second update, found %d", n)
	}
}

// Queries about directories count each file and each commit once.
func TestDirectories(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "search.db"))
	ids := []string{"1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222", "3333333333333333333333333333333333333333"}
	err := x.Update(t.Context(), func(w *Writer) error {
		for p, kind := range map[repo.Path]repo.Kind{
			"lib/a.go": repo.KindSource, "lib/b.go": repo.KindSource, "cmd/c.go": repo.KindSource, "cmd/c_test.go": repo.KindTest, "library.go": repo.KindSource,
			"doc.md": repo.KindDoc,
		} {
			if err := w.Put(Document{File: repo.File{Path: p, Kind: kind}, Text: "see lib a go"}); err != nil {
				return err
			}
		}
		for from, edges := range map[repo.Path][]Edge{
			"cmd/c.go": {
				{To: "lib/a.go", Symbol: "A", Exact: true, Lines: []int{1}},
				{To: "lib/a.go", Symbol: "B", Exact: true, Lines: []int{2}},
				{To: "lib/b.go", Symbol: "C", Lines: []int{3}},
				{To: "library.go", Symbol: "D", Exact: true, Lines: []int{4}},
			},
			"cmd/c_test.go": {{To: "lib/a.go", Symbol: "A", Exact: true, Lines: []int{1}}},
			"lib/b.go":      {{To: "lib/a.go", Symbol: "A", Exact: true, Lines: []int{1}}},
		} {
			if err := w.PutEdges(from, edges, nil, 0); err != nil {
				return err
			}
		}
		for i, paths := range [][]repo.Path{{"lib/a.go", "lib/b.go", "cmd/c.go"}, {"lib/a.go", "cmd/c.go", "library.go"}, {"library.go"}} {
			id, err := repo.ParseID(ids[i])
			if err != nil {
				return err
			}
			if err := w.PutCommit(Commit{ID: id, Subject: "change", Date: "2025-01-0" + string(rune('1'+i)), Paths: paths}); err != nil {
				return err
			}
		}
		return w.CountUsers()
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	pairs, err := x.Pairs(ctx, "lib")
	if err != nil || len(pairs) != 3 {
		t.Errorf("lib has %v (%v), want three exact pairs: cmd/c.go, cmd/c_test.go and lib/b.go use lib/a.go", pairs, err)
	}
	used, err := x.MostUsed(ctx, repo.KindSource)
	if want := (UseCount{"lib/a.go", 2, 1}); err != nil || len(used) != 2 || used[0] != want {
		t.Errorf("the most used file is %v (%v), want %v", used, err, want)
	}
	near, commits, err := x.CompanionsOfDir(ctx, "lib", 30, 10)
	if err != nil || commits != 2 || len(near) != 2 || near[0].Path != "cmd/c.go" || near[0].Kind != repo.KindSource || near[0].Together != 2 {
		t.Errorf("lib changes with %v in %d commits (%v), want cmd/c.go first, together in 2 of 2 commits", near, commits, err)
	}
	last, err := x.LastCommitsBelow(ctx, "lib", 5)
	if err != nil || len(last) != 2 || last[0].Date != "2025-01-02" {
		t.Errorf("the last commits to lib are %v (%v), want those of 2025-01-02 and 2025-01-01", last, err)
	}
	n, since, err := x.History(ctx)
	if err != nil || n != 3 || since != "2025-01-01" {
		t.Errorf("the index has %d commits since %s (%v), want 3 since 2025-01-01", n, since, err)
	}
	named, err := x.DocumentsWith(ctx, Terms("lib/a.go"), 10)
	if err != nil || len(named) != 1 || named[0].Path != "doc.md" {
		t.Errorf("documents with the terms of lib/a.go are %v (%v), want doc.md", named, err)
	}
	none, err := x.DocumentsWith(ctx, Terms("lib/other.go"), 10)
	if err != nil || len(none) != 0 {
		t.Errorf("documents with all terms of lib/other.go are %v (%v), want none", none, err)
	}
}
