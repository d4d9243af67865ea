package postgres_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"ken/internal/pgtest"
	"ken/internal/registry"
	"ken/internal/store/postgres"
	"ken/internal/store/storetest"
)

// newRepository numbers the repositories of this process: each is an empty store, in a
// database that others fill.
var newRepository atomic.Int64

func open(t *testing.T, address string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(address, postgres.Options{
		Repository: fmt.Sprint("repository ", newRepository.Add(1)), Machine: "machine", Host: "host",
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

func TestStore(t *testing.T) {
	address := pgtest.Database(t)
	storetest.Run(t, func(t *testing.T) registry.Store {
		t.Helper()
		return open(t, address)
	})
}

func TestSurvey(t *testing.T) {
	address := pgtest.Database(t)
	storetest.RunSurvey(t, func(t *testing.T) storetest.SurveyStore {
		t.Helper()
		return open(t, address)
	})
}

func TestShare(t *testing.T) {
	address := pgtest.Database(t)
	storetest.RunShare(t, func(t *testing.T) storetest.ShareStore {
		t.Helper()
		return open(t, address)
	})
}

// What is agreed to says how far a server has to prove itself, as libpq would have it.
func TestAgreement(t *testing.T) {
	for _, mode := range []string{"disable", "allow", "prefer", "require", "verify-full"} {
		a, err := postgres.Parse("postgres://ken:secret@h/d?sslmode=" + mode)
		if want := "postgres://ken@h:5432/d?sslmode=" + mode; err != nil || a.Agreement() != want {
			t.Errorf("%s, %v, want %s", a.Agreement(), err, want)
		}
	}
	a, err := postgres.Parse("postgres://ken@/d?host=/run/postgresql")
	if want := "postgres://ken@/d?host=%2Frun%2Fpostgresql&sslmode=disable"; err != nil || a.Agreement() != want {
		t.Errorf("%s, %v, want %s", a.Agreement(), err, want)
	}
}
