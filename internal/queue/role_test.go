package queue_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/pgtest"
	"ken/internal/queue"
	"ken/internal/store"
	"ken/internal/surveyrun"
)

// With the SQL of the manual, workers can do their work, but not set the ceiling. Without it, the error has a
// hint. A role that can only read can list runs.
func TestRoles(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/manual/team.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of SQL, want those of the administrator, of the owner and for workers", len(blocks))
	}
	server := pgtest.Start(t)
	for statement := range strings.SplitSeq(blocks[0][1], ";\n") {
		if strings.TrimSpace(statement) != "" {
			pgtest.Exec(t, server.Address("postgres", "", "postgres"), statement)
		}
	}
	config := func(user, password string) *pgxpool.Config {
		cfg, err := pgxpool.ParseConfig(server.Address(user, password, "ken"))
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	owner, everyday := config("ken_owner", "one"), config("ken", "another")
	// Tables of these names stand for the store's.
	made := map[string]bool{}
	pgtest.Exec(t, owner.ConnString(), `CREATE SCHEMA ken`)
	for _, name := range regexp.MustCompile(`ken\.\w+`).FindAllString(blocks[1][1], -1) {
		if !made[name] {
			made[name] = true
			pgtest.Exec(t, owner.ConnString(), `CREATE TABLE `+name+` (seq bigint)`)
		}
	}
	pgtest.Exec(t, owner.ConnString(), blocks[1][1])

	if _, err := queue.Open(t.Context(), everyday, queue.Options{}); err == nil || !strings.Contains(fault.HintOf(err), "ken worker runs") {
		t.Errorf("before the tables are there: %v, hint %q", err, fault.HintOf(err))
	}
	for _, config := range []*pgxpool.Config{everyday, owner} {
		if _, err := queue.OpenReadOnly(t.Context(), config, queue.Options{}); !errors.Is(err, queue.ErrNoRuns) {
			t.Errorf("Look without tables: %v", err)
		}
	}
	q, err := queue.Open(t.Context(), owner, queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	seen, err := queue.OpenReadOnly(t.Context(), everyday, queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Close()
	if runs, err := seen.Runs(t.Context(), "", 5); len(runs) > 0 || err != nil {
		t.Errorf("runs for a read-only role: %v, %v", runs, err)
	}
	if _, err := seen.Today(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := seen.StartRun(t.Context(), testRun, grow(1)); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("without the rights of a worker: %v", err)
	}

	pgtest.Exec(t, owner.ConnString(), blocks[2][1])
	pool, err := pgxpool.NewWithConfig(t.Context(), everyday)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if q, err = queue.Open(t.Context(), everyday, queue.Options{SaveRecords: keepNothing, Connections: 8}); err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	w := &testQueue{q, pool}
	id := w.start(t, testRun, grow(3))
	w.work(t, 2, queue.WorkOptions{}, &fakeDescriber{})
	if r := w.run(t, id); r.State != surveyrun.Done {
		t.Errorf("the run is %+v; want it done", r)
	}
	most := int64(1)
	if err := q.SetCeiling(t.Context(), surveyrun.Ceiling{Tokens: &most}); err == nil {
		t.Errorf("the ceiling was set: %v", err)
	}
}

func keepNothing(context.Context, queue.Tx, string, []*store.DirRecord, []fresh.Record) error {
	return nil
}
