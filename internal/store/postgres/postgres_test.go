package postgres_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"ken/internal/pgtest"
	"ken/internal/store"
	"ken/internal/store/postgres"
	"ken/internal/store/storetest"
)

// newRepository numbers the repositories of this process. Each is an empty store in a database that other tests use.
var newRepository atomic.Int64

func open(t *testing.T, address string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(address, postgres.Options{
		Repository: fmt.Sprint("repository ", newRepository.Add(1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	address := pgtest.Database(t)
	storetest.RunLog(t, func(t *testing.T) storetest.Log {
		t.Helper()
		return open(t, address)
	})
}

// An agreement contains the sslmode. Over a network, ken replaces the modes that may fall back to plain text.
func TestAgreement(t *testing.T) {
	for _, c := range []struct{ host, mode, want string }{
		{"h", "disable", "disable"},
		{"h", "", "require"},
		{"h", "allow", "require"},
		{"h", "prefer", "require"},
		{"h", "require", "require"},
		{"h", "verify-full", "verify-full"},
		{"10.0.0.1", "prefer", "require"},
		{"127.0.0.1", "prefer", "prefer"},
		{"localhost", "allow", "allow"},
	} {
		address := "postgres://ken:secret@" + c.host + "/d"
		if c.mode != "" {
			address += "?sslmode=" + c.mode
		}
		a, err := postgres.Parse(address)
		if want := "postgres://ken@" + c.host + ":5432/d?sslmode=" + c.want; err != nil || a.Canonical() != want {
			t.Errorf("%s with mode %q: %s, %v, want %s", c.host, c.mode, a.Canonical(), err, want)
		}
	}
	a, err := postgres.Parse("postgres://ken@/d?host=/run/postgresql")
	if want := "postgres://ken@/d?host=%2Frun%2Fpostgresql&sslmode=disable"; err != nil || a.Canonical() != want {
		t.Errorf("the canonical address is %s, %v; want %s", a.Canonical(), err, want)
	}
}

// Stores of several repositories share a pool, which closes with the last store.
func TestBeside(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	stores := []*postgres.Store{s}
	for i := range 5 {
		stores = append(stores, s.ForRepository(fmt.Sprint("beside ", i)))
	}
	for i, s := range stores {
		storetest.AddRecords(t, s, store.Record{Directory: storetest.Directory("d", fmt.Sprint(i), 1)})
	}
	pool, err := s.Pool(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := pool.Stat().TotalConns(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	for i, s := range stores {
		if other, err := s.Pool(t.Context()); other != pool || err != nil {
			t.Errorf("store %d has its own pool, error %v", i, err)
		}
		if list, _ := storetest.Since(t, s, "", 10); len(list) != 1 || list[0].Directory.ID() != storetest.Directory("d", fmt.Sprint(i), 1).ID() {
			t.Errorf("store %d has %v", i, list)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := pool.Stat().TotalConns(); n != 0 {
		t.Errorf("%d connections after the last store was closed", n)
	}
	if list, _ := storetest.Since(t, stores[3], "", 10); len(list) != 1 { // opens a new pool
		t.Errorf("after the store was opened again: %v", list)
	}
	if err := stores[3].Close(); err != nil {
		t.Error(err)
	}
}
