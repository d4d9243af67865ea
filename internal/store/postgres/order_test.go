package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/pgtest"
	"ken/internal/store"
	"ken/internal/store/postgres"
	"ken/internal/store/storetest"
)

// A reader sees every record while many clients write.
func TestReadWhileOthersWrite(t *testing.T) {
	address := pgtest.Database(t)
	const writers, each = 8, 40
	s := open(t, address)
	if _, err := s.Repository(t.Context()); err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				word := fmt.Sprint(w, " ", i)
				var err error
				if i%2 == 0 {
					err = s.Commit(t.Context(), "", store.FileChanges{Records: []fresh.Record{storetest.Record(word, word, i)}}, nil)
				} else {
					err = s.SaveDirRecords(t.Context(), []*store.DirRecord{storetest.Directory("d", word, i)})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	reader := openOther(t, address, s.Name())
	var seen []store.Record
	var mark store.Mark
	for last := false; ; {
		list, next, err := reader.Since(t.Context(), mark, 7)
		if err != nil {
			t.Fatal(err)
		}
		seen, mark = append(seen, list...), next
		if len(list) == 0 {
			if last {
				break
			}
			select {
			case <-done:
				last = true
			default:
			}
		}
	}
	if len(seen) != writers*each {
		t.Errorf("the reader saw %d records, want %d", len(seen), writers*each)
	}
}

// openOther opens a repository as another machine.
func openOther(t *testing.T, address, repository string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(address, postgres.Options{Repository: repository, Machine: "another"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Many clients create the tables of an empty database at the same time. None of them takes incomplete tables for
// those of another program.
func TestConcurrentMigrate(t *testing.T) {
	for range 10 {
		address := pgtest.Database(t)
		var all sync.WaitGroup
		for range 12 {
			s := openOther(t, address, "r")
			all.Go(func() {
				if _, err := s.Repository(t.Context()); err != nil {
					t.Error(err)
				}
				s.Close()
			})
		}
		all.Wait()
	}
}

// Machines of one repository share records, but not work trees. Repositories share nothing.
func TestSeparation(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	storetest.Commit(t, s, "", store.FileChanges{
		Records: []fresh.Record{storetest.Record("text", "x", 1)}, Put: []store.FileRow{storetest.Row("a", "x")},
		Verification: &store.Verification{Head: storetest.ID("h")},
	})
	storetest.SaveDirRecords(t, s, storetest.Directory("d", "x", 1))
	if _, err := s.Acquire(t.Context(), "", storetest.Lease("d", "token", 5), storetest.Epoch); err != nil {
		t.Fatal(err)
	}
	machine, repository := openOther(t, address, s.Name()), open(t, address)
	if list, _ := storetest.Since(t, machine, "", 10); len(list) != 2 {
		t.Errorf("another machine has %d records, want 2", len(list))
	}
	for name, other := range map[string]*postgres.Store{"machine": machine, "repository": repository} {
		if rows := storetest.Rows(t, other, ""); len(rows) > 0 {
			t.Errorf("another %s has rows: %v", name, rows)
		}
		if _, ok, err := other.LastVerification(t.Context(), ""); ok || err != nil {
			t.Errorf("another %s has a baseline, %v", name, err)
		}
		if l, err := other.Leases(t.Context(), ""); len(l) > 0 || err != nil {
			t.Errorf("another %s has leases: %v, %v", name, l, err)
		}
		if err := other.Commit(t.Context(), "", store.FileChanges{Worktrees: []string{}}, nil); err != nil {
			t.Error(err)
		}
	}
	if list, _ := storetest.Since(t, repository, "", 10); len(list) > 0 {
		t.Errorf("another repository has %v", list)
	}
	id := storetest.Directory("d", "x", 1).ID()
	for of, want := range map[*postgres.Store]int{s: 1, machine: 1, repository: 0} {
		if kept, err := of.DirRecordsByID(t.Context(), []fresh.Digest{id}); len(kept) != want || err != nil {
			t.Errorf("%s has the record %d times, want %d; error %v", of.Name(), len(kept), want, err)
		}
	}
	if latest, err := repository.Latest(t.Context()); len(latest) > 0 || err != nil {
		t.Errorf("another repository has %v, %v", latest, err)
	}
	if rows := storetest.Rows(t, s, ""); len(rows) != 1 {
		t.Errorf("another store pruned the rows: %v", rows)
	}
	if l, err := s.Leases(t.Context(), ""); len(l) != 1 || err != nil {
		t.Errorf("another store pruned the leases: %v, %v", l, err)
	}
}

// A failed transaction writes nothing. A committed one survives a crash of the server.
func TestCrash(t *testing.T) {
	server := pgtest.Start(t)
	s := open(t, server.Database(t))
	storetest.AddRecords(t, s, store.Record{Directory: storetest.Directory("d", "x", 1)})
	errCallback := errors.New("callback")
	err := s.Commit(t.Context(), "", store.FileChanges{
		Records: []fresh.Record{storetest.Record("text", "x", 1)}, Verification: &store.Verification{},
	}, func() (bool, error) { return false, errCallback })
	if !errors.Is(err, errCallback) {
		t.Errorf("Commit returned the error %v; want that of the callback", err)
	}
	server.Crash(t)
	_, _, err = s.Since(t.Context(), "", 10)
	if err == nil || !postgres.IsUnreachable(err) {
		t.Errorf("error after the crash: %v", err)
	}
	server.Restart(t)
	if list, _ := storetest.Since(t, s, "", 10); len(list) != 1 {
		t.Errorf("%d records, want 1", len(list))
	}
}

// ken does not change a database of another program or version, and says why.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ sql, message, hint string }{
		"newer":   {`CREATE SCHEMA ken; CREATE TABLE ken.schema (version int, database uuid); INSERT INTO ken.schema VALUES (99)`, "a newer version of ken made the tables (schema 99", "upgrade"},
		"foreign": {`CREATE SCHEMA ken; CREATE TABLE ken.dolls (id int)`, "belongs to another program", "another database"},
		"table":   {`CREATE SCHEMA ken; CREATE TABLE ken.schema (name text)`, "belongs to another program", "another database"},
		"type":    {`CREATE SCHEMA ken; CREATE TABLE ken.schema (version text, database uuid)`, "belongs to another program", "another database"},
		"half":    {`CREATE SCHEMA ken; CREATE TABLE ken.schema (version int, database uuid)`, "incomplete", "DROP SCHEMA"},
	} {
		t.Run(name, func(t *testing.T) {
			address := pgtest.Database(t)
			pgtest.Exec(t, address, c.sql)
			_, err := open(t, address).Repository(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.message) || !strings.Contains(fault.HintOf(err), c.hint) || postgres.IsUnreachable(err) {
				t.Errorf("Repository returned the error %v with the hint %q; want %q with the hint %q", err, fault.HintOf(err), c.message, c.hint)
			}
			if tables := pgtest.Value[int](t, address, `SELECT count(*) FROM pg_tables WHERE schemaname = 'ken'`); tables != 1 {
				t.Errorf("%d tables, want 1", tables)
			}
		})
	}
}

// ken uses an empty schema that the administrator created.
func TestEmptySchema(t *testing.T) {
	address := pgtest.Database(t)
	pgtest.Exec(t, address, `CREATE SCHEMA ken`)
	if _, err := open(t, address).Repository(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestHasPassword(t *testing.T) {
	for address, want := range map[string]bool{
		"postgres://ken@h/d": false, "postgres://ken:pw@h/d": true, "postgres://h/d?password=pw": true,
		"postgres://ken:p/w@h/d": true, "": false, "postgres://h/d": false,
	} {
		if got := postgres.HasPassword(address); got != want {
			t.Errorf("HasPassword(%q) = %t; want %t", address, got, want)
		}
	}
}
