package postgres_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/pgtest"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/postgres"
	"ken/internal/store/storetest"
)

// The SQL of the manual creates roles that can do what ken needs and nothing else.
func TestRoles(t *testing.T) {
	page, err := os.ReadFile("../../../docs/manual/team.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 { // the third is for workers
		t.Fatalf("%d blocks of SQL, want 3: administrator, owner, workers", len(blocks))
	}
	server := pgtest.Start(t)
	admin := server.Address("postgres", "", "postgres")
	for statement := range strings.SplitSeq(blocks[0][1], ";\n") {
		if strings.TrimSpace(statement) != "" { // one by one: CREATE DATABASE cannot run in a transaction
			pgtest.Exec(t, admin, statement)
		}
	}
	owner := server.Address("ken_owner", "one", "ken")
	client := server.Address("ken", "another", "ken")
	other := server.Address("postgres", "", "ken")
	pgtest.Exec(t, other, `CREATE SCHEMA theirs; CREATE TABLE theirs.secret (words text)`)

	use := func(address string) (*postgres.Store, error) {
		s, err := postgres.Open(address, postgres.Options{Repository: "r", Machine: "m", Host: "h"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		_, err = s.Repository(t.Context())
		return s, err
	}
	if _, err := use(client); err == nil || !strings.Contains(err.Error(), "may not create them") {
		t.Errorf("client before the owner created the tables: %v", err)
	}
	if _, err := use(owner); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, owner, blocks[1][1])

	s, err := use(client)
	if err != nil {
		t.Fatal(err)
	}
	all := []postgres.Right{{Right: "SELECT", On: "record"}, {Right: "DELETE", On: "record"}}
	if lacks, err := s.MissingRights(t.Context(), all); err != nil || lacks == nil || !strings.Contains(lacks.Error(), "lacks DELETE") {
		t.Errorf("MissingRights returned %v, %v; want that DELETE is missing", lacks, err)
	}
	pgtest.Exec(t, admin, `ALTER ROLE ken CONNECTION LIMIT 0`)
	if lacks, err := s.MissingRights(t.Context(), all); err == nil || lacks != nil {
		t.Errorf("without a connection: lacks %v, %v", lacks, err)
	}
	pgtest.Exec(t, admin, `ALTER ROLE ken CONNECTION LIMIT -1`)
	storetest.Commit(t, s, "w", store.FileChanges{
		Records: []fresh.Record{storetest.Record("text", "x", 1)}, Put: []store.FileRow{storetest.Row("a", "x"), storetest.Row("b", "y")},
		Verification: &store.Verification{Head: storetest.ID("h")}, Worktrees: []string{"w"},
	})
	storetest.Commit(t, s, "w", store.FileChanges{Delete: []repo.Path{"b"}, Put: []store.FileRow{storetest.Row("a", "z")}})
	storetest.SaveDirRecords(t, s, storetest.Directory("d", "x", 1), storetest.Directory("d", "y", 2))
	storetest.AddRecords(t, s, store.Record{Directory: storetest.Outlined("d", "x", 1)})
	l := storetest.Lease("d", "token", 5)
	if ok, err := s.Acquire(t.Context(), "w", l, storetest.Epoch); !ok || err != nil {
		t.Errorf("Take returned %t, %v; want true", ok, err)
	}
	if ok, err := s.Complete(t.Context(), "w", l, storetest.Directory("d", "z", 3)); !ok || err != nil {
		t.Errorf("Settle returned %t, %v; want true", ok, err)
	}
	if err := s.SaveWorktree(t.Context(), "w", nil, store.FileCounts{}); err != nil {
		t.Error(err)
	}
	storetest.Since(t, s, "", 10)

	conn, err := pgx.Connect(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `SELECT summary FROM ken.summary`); err != nil {
		t.Error(err)
	}
	for _, statement := range []string{
		`DROP TABLE ken.record`, `DROP SCHEMA ken CASCADE`, `TRUNCATE ken.record`, `DELETE FROM ken.record`,
		`UPDATE ken.record SET text = 'lies'`, `UPDATE ken.directory_record SET text = 'lies'`, `DELETE FROM ken.directory_record`,
		`UPDATE ken.repository SET name = 'mine'`, `DELETE FROM ken.repository`, `UPDATE ken.schema SET version = 9`,
		`CREATE TABLE ken.mine (id int)`, `CREATE TABLE public.mine (id int)`, `CREATE SCHEMA mine`, `CREATE TEMP TABLE mine (id int)`,
		`SELECT * FROM theirs.secret`, `ALTER TABLE ken.record ADD x int`, `CREATE ROLE mine`, `SET ROLE ken_owner`,
	} {
		if _, err := conn.Exec(t.Context(), statement); err == nil {
			t.Errorf("the client role can run %s", statement)
		}
	}
}
