package postgres_test

import (
	"context"
	"fmt"
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

// The server ends the transaction of a client that sends nothing. Others can then write, and the client has written
// nothing.
func TestIdleWriter(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	idle := make(chan struct{})
	resume := make(chan struct{})
	failed := make(chan error)
	go func() {
		failed <- s.Write(t.Context(), func(tx pgx.Tx) error {
			err := s.SaveRecordsTx(t.Context(), tx, nil, []fresh.Record{storetest.Record("half", "x", 1)})
			close(idle)
			<-resume
			return err
		})
	}()
	<-idle
	storetest.AddRecords(t, openOther(t, address, s.Name()), store.Record{Directory: storetest.Directory("d", "x", 1)})
	close(resume)
	if err := <-failed; err == nil {
		t.Error("Write succeeded after the server ended its transaction")
	}
	if list, _ := storetest.Since(t, s, "", 10); len(list) != 1 {
		t.Errorf("%d records, want 1", len(list))
	}
}

// A lockedTx is a transaction of another client that has a lock.
type lockedTx struct {
	*pgx.Conn
	tx pgx.Tx
}

// lockWith runs a query that takes a lock in a new transaction.
func lockWith(t *testing.T, address, query string) *lockedTx {
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
	return &lockedTx{conn, tx}
}

// A writer that waits too long for another one fails, and the error names the reason.
func TestWriteTimeout(t *testing.T) {
	address := pgtest.Database(t)
	s, err := postgres.Open(address, postgres.Options{Repository: "r", Wait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := store.Record{Directory: storetest.Directory("d", "x", 1)}
	storetest.AddRecords(t, s, text)
	h := lockWith(t, address, fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d + id) FROM ken.repository`, postgres.LockBase))
	if err := s.AddRecords(t.Context(), []store.Record{text}); err == nil || !strings.Contains(err.Error(), "other writers block the database") || !postgres.IsUnreachable(err) {
		t.Errorf("error while another client writes: %v", err)
	}
	if err := h.tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.AddRecords(t, s, text)
}

// ken changes no session settings: a connection pooler would refuse them, or keep them for the next client.
func TestNoSessionSettings(t *testing.T) {
	pool, err := open(t, pgtest.Database(t)).Pool(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := pool.Query(t.Context(), `SELECT name FROM pg_settings WHERE source IN ('client', 'session') AND name <> 'application_name'`)
	if err != nil {
		t.Fatal(err)
	}
	// The protocol itself sets application_name and client_encoding.
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || strings.Join(names, " ") != "client_encoding" && len(names) > 0 {
		t.Errorf("session settings: %q, %v", names, err)
	}
}
