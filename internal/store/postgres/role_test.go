package postgres_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

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
		s, err := postgres.Open(address, postgres.Options{Repository: "r"})
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
	storetest.AddRecords(t, s, file("text", "x", 1))
	failure := store.DirFailure{Path: "d", Reason: "no", At: storetest.Epoch}
	for range 2 {
		if err := s.SaveFailure(t.Context(), failure); err != nil {
			t.Error(err)
		}
	}
	storetest.SaveDirRecords(t, s, storetest.Directory("d", "x", 1), storetest.Directory("d", "y", 2))
	storetest.AddRecords(t, s, store.Record{Directory: storetest.Outlined("d", "x", 1)})
	for _, err := range []error{
		second(s.Count(t.Context())), second(s.Latest(t.Context())), second(s.Failures(t.Context())),
		second(s.Newest(t.Context(), []repo.Content{storetest.Content("x")})),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	storetest.Since(t, s, "", 10)

	conn, err := pgx.Connect(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `SELECT summary FROM ken.summary UNION ALL SELECT summary FROM ken.directory`); err != nil {
		t.Error(err)
	}
	for _, statement := range []string{
		`DROP TABLE ken.record`, `DROP SCHEMA ken CASCADE`, `TRUNCATE ken.record`, `DELETE FROM ken.record`,
		`UPDATE ken.record SET text = 'lies'`,
		`UPDATE ken.repository SET name = 'mine'`, `DELETE FROM ken.repository`, `UPDATE ken.schema SET version = 9`,
		`CREATE TABLE ken.mine (id int)`, `CREATE TABLE public.mine (id int)`, `CREATE SCHEMA mine`, `CREATE TEMP TABLE mine (id int)`,
		`SELECT * FROM theirs.secret`, `ALTER TABLE ken.record ADD x int`, `CREATE ROLE mine`, `SET ROLE ken_owner`,
	} {
		if _, err := conn.Exec(t.Context(), statement); err == nil {
			t.Errorf("the client role can run %s", statement)
		}
	}
}
