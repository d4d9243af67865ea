package pgtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/pgtest"
)

func ping(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	return conn.Ping(ctx)
}

// A server that is stopped answers nobody, and after a restart everybody, at one address.
func TestServer(t *testing.T) {
	s := pgtest.Start(t)
	address := s.Database(t)
	if err := ping(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	s.Stop(t)
	if err := ping(t.Context(), address); err == nil {
		t.Error("a server that was stopped answers")
	}
	s.Restart(t)
	if err := ping(t.Context(), address); err != nil {
		t.Error(err)
	}
	s.Crash(t)
	s.Restart(t)
	if err := ping(t.Context(), address); err != nil {
		t.Error(err)
	}
}

func TestProxy(t *testing.T) {
	p := pgtest.NewProxy(t, pgtest.Database(t))
	conn, err := pgx.Connect(t.Context(), p.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())

	p.CutAfter(10)
	if _, err := conn.Exec(t.Context(), `SELECT 'more than ten bytes'`); err == nil {
		t.Error("a connection that was cut answers")
	}
	if err := ping(t.Context(), p.Address()); err != nil {
		t.Error(err)
	}
	p.Stall(true)
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := ping(short, p.Address()); err == nil {
		t.Error("a server that stalls answers")
	}
	p.Stall(false)
	if err := ping(t.Context(), p.Address()); err != nil {
		t.Error(err)
	}
	p.Refuse(true)
	if err := ping(t.Context(), p.Address()); err == nil {
		t.Error("a server that should refuse connections answered")
	}
}
