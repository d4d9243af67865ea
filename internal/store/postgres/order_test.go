package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/pgtest"
	"ken/internal/repo"
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
					err = s.AddRecords(t.Context(), []store.Record{file(word, word, i)})
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

// file returns the record of a file.
func file(text, about string, seconds int) store.Record {
	r := storetest.Record(text, about, seconds)
	return store.Record{File: &r}
}

// openOther opens a repository as another machine does.
func openOther(t *testing.T, address, repository string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(address, postgres.Options{Repository: repository})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Many clients create the tables of an empty database at the same time. None of them takes incomplete tables for
// those of another program.
func TestConcurrentCreate(t *testing.T) {
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

// Machines of one repository share records. Repositories share nothing.
func TestSeparation(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	storetest.AddRecords(t, s, file("text", "x", 1), store.Record{Directory: storetest.Directory("d", "x", 1)})
	failure := store.DirFailure{Path: "f", Reason: "no", At: storetest.Epoch}
	if err := s.SaveFailure(t.Context(), failure); err != nil {
		t.Fatal(err)
	}
	id := storetest.Directory("d", "x", 1).ID()
	for name, c := range map[string]struct {
		store *postgres.Store
		want  int // of each kind
	}{
		"this machine": {s, 1}, "another machine": {openOther(t, address, s.Name()), 1}, "another repository": {open(t, address), 0},
	} {
		if list, _ := storetest.Since(t, c.store, "", 10); len(list) != 2*c.want {
			t.Errorf("%s has the records %v, want %d", name, list, 2*c.want)
		}
		if n, err := c.store.Count(t.Context()); n != 2*c.want || err != nil {
			t.Errorf("%s counts %d records, want %d; error %v", name, n, 2*c.want, err)
		}
		if found, err := c.store.Newest(t.Context(), []repo.Content{storetest.Content("x")}); len(found) != c.want || err != nil {
			t.Errorf("%s has the newest records %v, want %d; error %v", name, found, c.want, err)
		}
		if kept, err := c.store.DirRecordsByID(t.Context(), []fresh.Digest{id}); len(kept) != c.want || err != nil {
			t.Errorf("%s has the record %d times, want %d; error %v", name, len(kept), c.want, err)
		}
		if latest, err := c.store.Latest(t.Context()); len(latest) != c.want || err != nil {
			t.Errorf("%s has the latest records %v, want %d; error %v", name, latest, c.want, err)
		}
		if failed, err := c.store.Failures(t.Context()); len(failed) != c.want || err != nil {
			t.Errorf("%s has the failures %v, want %d; error %v", name, failed, c.want, err)
		}
	}
}

// A record in the future that is in the database anyway is not used, and counts as bad.
func TestRecordInFuture(t *testing.T) {
	s := open(t, pgtest.Database(t))
	ahead, directory := storetest.Record("ahead", "x", 0), storetest.Directory("d", "x", 0)
	ahead.At = time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	directory.At = ahead.At
	outline := storetest.Outlined("d", "x", 0)
	outline.At = ahead.At
	soon := storetest.Record("soon", "y", 0)
	soon.At = time.Now().Add(fresh.MaxClockSkew - time.Hour).UTC().Truncate(time.Microsecond)
	now := storetest.Record("now", "x", 1)
	err := s.Write(t.Context(), func(tx pgx.Tx) error {
		return s.SaveRecordsTx(t.Context(), tx, []*store.DirRecord{directory, outline}, []fresh.Record{ahead, soon, now})
	})
	if err != nil {
		t.Fatal(err)
	}
	newest, err := s.Newest(t.Context(), []repo.Content{storetest.Content("x"), storetest.Content("y")})
	if err != nil || newest[storetest.Content("x")].Text != "now" || newest[storetest.Content("y")].Text != "soon" {
		t.Errorf("the newest records are %v, %v; want now and soon", newest, err)
	}
	d, err := s.ReadSince(t.Context(), "", 10)
	if err != nil || len(d.Records) != 2 || len(d.Bad) != 2 {
		t.Errorf("ReadSince returned %+v, %v; want 2 records, and 2 bad ones", d, err)
	}
	latest, err := s.Latest(t.Context())
	if err != nil || len(latest) > 0 {
		t.Errorf("the latest records are %v, %v; want none", latest, err)
	}
}

// The views for people have each summary of a file, and the latest summary and outline of a directory.
func TestViews(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	storetest.AddRecords(t, s, file("old", "x", 1), file("new", "x", 2))
	storetest.SaveDirRecords(t, s, storetest.Directory("d\xff", "x", 1), storetest.Directory("d\xff", "y", 2),
		storetest.Outlined("d\xff", "o", 1), storetest.Outlined("d\xff", "p", 3))
	for query, want := range map[string]string{
		`SELECT repository || ' ' || path || ' ' || summary FROM ken.summary ORDER BY seq`:             s.Name() + " a.go old, " + s.Name() + " a.go new",
		`SELECT path || ' ' || summary || ' ' || recipe FROM ken.directory ORDER BY seq`:               `d\377 about y prompt/1 model, d\377 about p outline/1`,
		`SELECT version || '' FROM ken.schema`:                                                         "3",
		`SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_tables WHERE schemaname = 'ken'`: "directory_failure record repository schema",
	} {
		if got := strings.Join(pgtest.Column[string](t, address, query), ", "); got != want {
			t.Errorf("%s returned %q, want %q", query, got, want)
		}
	}
}

// The schema refuses rows that ken cannot read, and numbers the records itself.
func TestSchemaRefuses(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	storetest.AddRecords(t, s, file("old", "x", 1))
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	const insert = `
		INSERT INTO ken.record (repository, seq, id, path, at, author, recipe, confirmer, text, assumed, outlined, partial)
		SELECT id, %s, %s, '', %s, '', '', '', '', false, false, false FROM ken.repository`
	const id = `sha256('x')`
	for name, statement := range map[string]string{
		"date before all":   fmt.Sprintf(insert, "2", id, "'-infinity'"),
		"date after all":    fmt.Sprintf(insert, "2", id, "'infinity'"),
		"short id":          fmt.Sprintf(insert, "2", `'\x01'`, "now()"),
		"number of records": `UPDATE ken.repository SET seq = 9223372036854775806`,
		"failure": `
			INSERT INTO ken.directory_failure (repository, path, reason, at) SELECT id, '', '', '-infinity' FROM ken.repository`,
	} {
		if _, err := conn.Exec(t.Context(), statement); err == nil {
			t.Errorf("%s: the server did %s", name, statement)
		}
	}
	pgtest.Exec(t, address, fmt.Sprintf(insert, "9223372036854775807", id, "now()"))
	storetest.AddRecords(t, s, file("new", "y", 2))
	list, mark := storetest.Since(t, s, "", 10)
	if len(list) != 2 || list[1].File.Text != "new" {
		t.Errorf("the log has %v; want the old and the new record", list)
	}
	if known, news, err := s.CheckMarks(t.Context(), mark, mark); !known || news || err != nil {
		t.Errorf("CheckMarks at the end returned %t, %t, %v; want a known mark and no news", known, news, err)
	}
}

// Rows that the schema would refuse are ignored one by one, wherever they come from.
func TestBadRows(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	storetest.AddRecords(t, s, file("good", "x", 1))
	for _, path := range []repo.Path{"d", "e"} {
		if err := s.SaveFailure(t.Context(), store.DirFailure{Path: path, Reason: "no", At: storetest.Epoch}); err != nil {
			t.Fatal(err)
		}
	}
	pgtest.Exec(t, address, `
		ALTER TABLE ken.record DROP CONSTRAINT record_at_check, DROP CONSTRAINT record_id_check;
		ALTER TABLE ken.directory_failure DROP CONSTRAINT directory_failure_at_check;
		UPDATE ken.directory_failure SET at = '-infinity' WHERE path = 'd';
		INSERT INTO ken.record (repository, id, path, content_id, at, author, recipe, confirmer, text, assumed, outlined, partial)
		SELECT r.repository, bad.id, r.path, r.content_id, bad.at, r.author, r.recipe, r.confirmer, r.text, false, false, false
		FROM ken.record r, (VALUES (sha256('1'), '-infinity'), (sha256('2'), 'infinity'), (sha256('3'), '294276-01-01'),
			(sha256('4'), '4700-01-01 BC'), ('\x01', now())) AS bad (id, at)`)
	d, err := s.ReadSince(t.Context(), "", 10)
	if err != nil || len(d.Records) != 1 || len(d.Bad) != 5 {
		t.Fatalf("ReadSince returned %+v, %v; want a record, and 5 bad ones", d, err)
	}
	if after, err := s.ReadSince(t.Context(), d.Next, 10); err != nil || len(after.Records)+len(after.Bad) > 0 {
		t.Errorf("ReadSince after the bad records returned %+v, %v; want nothing", after, err)
	}
	if known, news, err := s.CheckMarks(t.Context(), d.Next, d.Next); !known || news || err != nil {
		t.Errorf("CheckMarks after the bad records returned %t, %t, %v; want a known mark and no news", known, news, err)
	}
	content := storetest.Content("x")
	if newest, err := s.Newest(t.Context(), []repo.Content{content}); err != nil || newest[content].Text != "good" {
		t.Errorf("the newest records are %v, %v; want the good one", newest, err)
	}
	if failed, err := s.Failures(t.Context()); err != nil || len(failed) != 1 {
		t.Errorf("the failures are %v, %v; want that of e", failed, err)
	}
}

// A failed transaction writes nothing. A committed one survives a crash of the server.
func TestCrash(t *testing.T) {
	server := pgtest.Start(t)
	s := open(t, server.Database(t))
	storetest.AddRecords(t, s, store.Record{Directory: storetest.Directory("d", "x", 1)})
	errCallback := errors.New("callback")
	err := s.Write(t.Context(), func(tx pgx.Tx) error {
		records := []fresh.Record{storetest.Record("text", "x", 1)}
		return errors.Join(s.SaveRecordsTx(t.Context(), tx, nil, records), errCallback)
	})
	if !errors.Is(err, errCallback) {
		t.Errorf("Write returned the error %v; want that of the callback", err)
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

// ken does not change a database of another program, and says why.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ sql, message, hint string }{
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

// ken uses no tables of another version, older or newer, and touches nothing. It says so in one line, with the command
// that moves them aside. After that it makes new tables, and the old ones are still there.
func TestOtherVersion(t *testing.T) {
	for version, hint := range map[int]string{
		-1: "move the tables aside: psql ", 1: "move the tables aside: psql ", 2: "move the tables aside: psql ",
		4: "upgrade ken, or move the tables aside: psql ", 99: "upgrade ken, or move the tables aside: psql ",
	} {
		address := pgtest.Database(t)
		s := open(t, address)
		storetest.AddRecords(t, s, file("kept", "x", 1))
		pgtest.Exec(t, address, fmt.Sprintf(`
			UPDATE ken.schema SET version = %d;
			CREATE TABLE ken.worktree (machine bytea); INSERT INTO ken.worktree VALUES ('laptop');
			DROP TABLE ken.directory_failure`, version))
		const everything = `SELECT query_to_xml('SELECT * FROM ' || c.oid::regclass, true, false, '')::text
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'ken' AND c.relkind IN ('r', 'v') ORDER BY c.relname`
		before := pgtest.Column[string](t, address, everything)

		message := fmt.Sprintf("the tables in the schema ken have version %d, and this version of ken needs 3", version)
		for name, err := range map[string]error{
			"an existing repository": second(openOther(t, address, s.Name()).Repository(t.Context())),
			"a new repository":       second(open(t, address).Repository(t.Context())),
			"CheckAccess":            postgres.CheckAccess(t.Context(), address),
		} {
			if err == nil || !strings.HasSuffix(err.Error(), ": "+message) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: the error is %v; want one line with %q", name, err, message)
			}
			move := fmt.Sprintf(" -c 'ALTER SCHEMA ken RENAME TO ken_version_%d'", version)
			if h := fault.HintOf(err); !strings.HasPrefix(h, hint) || !strings.HasSuffix(h, move) || strings.Contains(h, "\n") {
				t.Errorf("%s: the hint is %q; want %q and %q", name, h, hint, move)
			}
		}
		if after := pgtest.Column[string](t, address, everything); !slices.Equal(before, after) {
			t.Errorf("the tables changed:\n%s\nwere\n%s", after, before)
		}
	}
}

// The command of the hint moves the tables aside.
func TestMoveAside(t *testing.T) {
	address := pgtest.Database(t)
	pgtest.Exec(t, address, `CREATE SCHEMA ken; CREATE TABLE ken.schema (version int, database uuid); INSERT INTO ken.schema VALUES (2)`)
	_, err := open(t, address).Repository(t.Context())
	_, sql, ok := strings.Cut(fault.HintOf(err), " -c '")
	if !ok {
		t.Fatalf("the hint %q has no command", fault.HintOf(err))
	}
	pgtest.Exec(t, address, strings.TrimSuffix(sql, "'"))
	storetest.AddRecords(t, open(t, address), file("text", "x", 1))
	if v := pgtest.Value[int](t, address, `SELECT version FROM ken_version_2.schema`); v != 2 {
		t.Errorf("the tables that were moved have version %d, want 2", v)
	}
}

func second[T any](_ T, err error) error { return err }

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
