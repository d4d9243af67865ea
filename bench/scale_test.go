package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"ken/internal/pgtest"
	"ken/internal/registry"
	"ken/internal/share"
	"ken/internal/store/postgres"
)

// What docs/scale.md tells operators to run deletes what it says and nothing else, a machine
// that comes back hands its rows over again, and a base in partitions is one like any other.
func TestOperators(t *testing.T) {
	address := pgtest.Database(t)
	ctx := t.Context()
	store, err := postgres.Open(address, postgres.Options{Repository: "r", Machine: "m"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	f := newFiller(1)
	rows := registry.Change{Put: f.rows(0, 0, 20, 0)}
	list := append(f.files(0, 0, 3, 0), f.directories(0, 0, 2, 0)...)
	long := time.Now().UTC().AddDate(-1, 0, 0).Truncate(time.Second)
	for version := range 2 { // of one directory, two outlines
		old := f.directories(0, 9, 1, version)[0]
		old.Directory.Recipe, old.Directory.At = "outline/1", long.Add(time.Duration(version)*time.Hour)
		list = append(list, old)
	}
	for _, err := range []error{
		store.Absorb(ctx, list), store.Commit(ctx, "", rows, nil), store.Tell(ctx, "", nil, registry.Tally{Files: 20}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	pgtest.Exec(t, address, `UPDATE ken.worktree SET told_at = now() - interval '1 year'`)
	count := func(what string, want ...int) {
		t.Helper()
		for i, table := range []string{"file", "worktree", "record", "directory_record"} {
			if n := pgtest.One[int](t, address, `SELECT count(*) FROM ken.`+table); n != want[i] {
				t.Errorf("%s: %s has %d, want %d", what, table, n, want[i])
			}
		}
	}
	count("before", 20, 1, 3, 4)
	page, err := os.ReadFile("../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```sql\n")[1:]
	if len(blocks) != 2 {
		t.Fatalf("%d statements in docs/scale.md, want 2", len(blocks))
	}
	for _, b := range blocks {
		statement, _, _ := strings.Cut(b, "```")
		pgtest.Exec(t, address, statement)
	}
	count("after deletion", 0, 0, 3, 3)

	pgtest.Exec(t, address, partition)
	if err := store.Commit(ctx, "", rows, nil); err != nil {
		t.Fatal(err)
	}
	if err := store.Absorb(ctx, append(list, f.files(0, 3, 2, 0)...)); err != nil {
		t.Fatal(err)
	}
	count("in partitions", 20, 1, 5, 4)
	got, _, err := store.Since(ctx, share.Mark(""), 100)
	if err != nil || len(got) != 8 { // of outlines, the latest alone
		t.Errorf("%d records, want 8: %v", len(got), err)
	}
}
