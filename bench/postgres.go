package main

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/pgtest"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/postgres"
)

// The limits of a team's store.
const (
	upsertAtMost  = 2.5
	upsertRecords = 100_000
	upsertRounds  = 5

	upsertWork = "postgres, upsert"
)

// postgresWorks measures writing to the store on PostgreSQL, against COPY. It calls the store directly, without ken.
func (b *bench) postgresWorks(ctx context.Context) (err error) {
	if !b.only.MatchString(upsertWork) {
		return nil
	}
	progress("%s, %d summaries", upsertWork, upsertRecords)
	server, err := pgtest.Run()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	name, err := server.Create(ctx)
	if err != nil {
		return err
	}
	address := server.Address("postgres", "", name)
	store, err := postgres.Open(address, postgres.Options{Repository: "bench"})
	if err != nil {
		return err
	}
	defer store.Close()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)

	list := summaries(upsertRecords)
	var upsert, plain []time.Duration
	for range min(b.rounds, upsertRounds) {
		if err := store.AddRecords(ctx, nil); err != nil { // connected, and the tables are there
			return err
		}
		if _, err := store.Repository(ctx); err != nil {
			return err
		}
		for _, side := range []struct {
			took  *[]time.Duration
			write func() error
		}{
			{&upsert, func() error { return store.AddRecords(ctx, list) }},
			{&plain, func() error { return copyIn(ctx, conn, list) }},
		} {
			if _, err := conn.Exec(ctx, `TRUNCATE ken.record`); err != nil {
				return err
			}
			if _, err := conn.Exec(ctx, `CHECKPOINT`); err != nil {
				return err
			}
			start := time.Now()
			if err := side.write(); err != nil {
				return err
			}
			*side.took = append(*side.took, time.Since(start))
			var n int
			if err := conn.QueryRow(ctx, `SELECT count(*) FROM ken.record`).Scan(&n); err != nil {
				return err
			}
			if n != len(list) {
				return fmt.Errorf("%d records, want %d", n, len(list))
			}
		}
	}
	b.rows = append(b.rows, row{
		work: upsertWork, files: upsertRecords, unit: "summaries", ken: median(upsert), against: "COPY into the table", other: median(plain), atMost: upsertAtMost,
	})
	return nil
}

// summaries returns records of the usual size, each about a file of its own.
func summaries(n int) []store.Record {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	list := make([]store.Record, n)
	for i := range list {
		sum := sha1.Sum(fmt.Append(nil, i))
		list[i] = store.Record{File: &fresh.Record{
			Basis:  fresh.Basis{Content: repo.Content{ID: repo.IDFromBytes(sum[:])}},
			Text:   fmt.Sprintf("File %d reads what a client sends, checks that it is one of the forms that are known, and hands it to the part that is meant; what it cannot read it refuses with a sentence that says where.", i),
			Author: "bench", Recipe: "hand", At: at.Add(time.Duration(i) * time.Second),
			Path: repo.Path(fmt.Sprintf("part%d/module%d/file%d.go", i%7, i%211, i)),
		}}
	}
	return list
}

// copyIn writes the same rows as plainly as PostgreSQL can.
func copyIn(ctx context.Context, conn *pgx.Conn, list []store.Record) error {
	_, err := conn.CopyFrom(
		ctx, pgx.Identifier{"ken", "record"},
		[]string{"repository", "id", "seq", "content_id", "content_md5", "at", "assumed", "path", "author", "recipe", "confirmer", "text", "outlined", "partial"},
		pgx.CopyFromSlice(len(list), func(i int) ([]any, error) {
			r := list[i].File
			id := r.ID()
			return []any{int64(1), id[:], int64(i), r.Basis.Content.ID.Bytes(), nil, r.At, r.Assumed, []byte(r.Path), []byte(r.Author), []byte(r.Recipe), []byte(r.Confirmer), []byte(r.Text), false, false}, nil
		}))
	return err
}
