package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/pgtest"
	"ken/internal/store"
	"ken/internal/store/postgres"
	"ken/internal/store/storetest"
)

// Who falls silent in the middle of writing holds up nobody for long, and has written nothing.
func TestSilentWriter(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	silent, heard := make(chan struct{}), make(chan struct{})
	failed := make(chan error)
	go func() {
		failed <- s.Commit(t.Context(), "", store.FileChanges{
			Records: []fresh.Record{storetest.Record("half", "x", 1)}, Baseline: &store.Verification{},
		}, func() (bool, error) {
			close(silent)
			<-heard
			return true, nil
		})
	}()
	<-silent
	storetest.Absorb(t, open2(t, address, s.Name()), store.Record{Directory: storetest.Directory("d", "x", 1)})
	close(heard)
	if err := <-failed; err == nil {
		t.Error("a transaction that the server has ended was committed")
	}
	if list, _ := storetest.Since(t, s, "", 10); len(list) != 1 {
		t.Errorf("%d records, want 1", len(list))
	}
}

// A holder has a lock of somebody else's transaction.
type holder struct {
	*pgx.Conn
	tx pgx.Tx
}

// hold takes a lock that lasts until it is let go of.
func hold(t *testing.T, address, query string) *holder {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	tx, err := conn.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), query)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &holder{conn, tx}
}

// Who waits for others who do not come to an end gives up, and says so.
func TestWaitsForOthers(t *testing.T) {
	address := pgtest.Database(t)
	s, err := postgres.Open(address, postgres.Options{Repository: "r", Machine: "m", Wait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := store.Record{Directory: storetest.Directory("d", "x", 1)}
	storetest.Absorb(t, s, text)
	h := hold(t, address, `SELECT * FROM ken.repository FOR UPDATE`)
	if err := s.Absorb(t.Context(), []store.Record{text}); err == nil || !strings.Contains(err.Error(), "other writers block the database") || !postgres.Away(err) {
		t.Errorf("while somebody else writes: %v", err)
	}
	if err := h.tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Absorb(t, s, text)
}

// Nothing is set for a session: a pooler between us and the server would refuse it, or keep it
// for whoever gets the session next.
func TestSessionAsItWas(t *testing.T) {
	pool, err := open(t, pgtest.Database(t)).Pool(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := pool.Query(t.Context(), `SELECT name FROM pg_settings WHERE source IN ('client', 'session') AND name <> 'application_name'`)
	if err != nil {
		t.Fatal(err)
	}
	// These two the protocol itself brings.
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || strings.Join(names, " ") != "client_encoding" && len(names) > 0 {
		t.Errorf("set: %q, %v", names, err)
	}
}

// A lease is settled in the order in which a commit takes its locks, so that neither waits for
// the other.
func TestSettleInOrder(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	l := storetest.Lease("d", "token", 5)
	if _, err := s.Take(t.Context(), "w", l, storetest.Epoch); err != nil {
		t.Fatal(err)
	}
	h := hold(t, address, `SELECT * FROM ken.repository FOR UPDATE`)
	settled := make(chan error)
	go func() {
		ok, err := s.Settle(t.Context(), "w", l, storetest.Directory("d", "x", 1))
		if !ok && err == nil {
			err = errors.New("the lease is not held")
		}
		settled <- err
	}()
	for waiting := false; !waiting; {
		err := h.tx.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.tx.Exec(t.Context(), `SELECT * FROM ken.lease FOR UPDATE NOWAIT`); err != nil {
		t.Errorf("who waits for the repository holds the lease: %v", err)
	}
	if err := h.tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-settled; err != nil {
		t.Error(err)
	}
}
