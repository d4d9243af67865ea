package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/crew"
	"ken/internal/fresh"
	"ken/internal/queue"
	"ken/internal/queue/queuetest"
	"ken/internal/store/postgres"
	"ken/internal/survey"
)

// Who works on the queue, and on what.
const (
	queueWorkers      = 4
	queueSlots        = 4 // of each
	queueRepositories = 8
)

// queue measures directories through all of ken's queue: they are handed out, taken, a call
// is reserved for and paid, the text is kept and the directory above released. The provider
// answers at once, so that what is left is the queue.
func (s *scaleSite) queue(ctx context.Context) error {
	pool, err := s.pool(ctx, 40)
	if err != nil {
		return err
	}
	defer pool.Close()
	stores := make(map[string]*postgres.Store)
	describers := make(map[string]queue.Describer)
	for i := range queueRepositories {
		name := fmt.Sprintf("team/queue-%d", i)
		if stores[name], err = postgres.Open(s.address, postgres.Options{Repository: name, Machine: "bench"}); err != nil {
			return err
		}
		defer stores[name].Close() //nolint:errcheck // the server goes with it
		if _, err := stores[name].Repository(ctx); err != nil {
			return err
		}
		describers[name] = prompt{s.fill.text(fillAnswer)}
	}
	q, err := queue.Open(ctx, pool.Config(), queue.Options{
		Keep: func(ctx context.Context, tx pgx.Tx, repository string, directories []*survey.Record, _ []fresh.Record) error {
			return stores[repository].KeepIn(ctx, tx, directories)
		},
	})
	if err != nil {
		return err
	}
	all := 0
	for name := range stores {
		out := queuetest.Tree("directory", 3, 5, 8)
		all += out.Work
		if _, err := q.HandOut(ctx, crew.Run{Repository: name, Recipe: "bench", Provider: "bench", Model: "bench", By: "bench", Commit: content(0, 0, 0).ID}, out); err != nil {
			return err
		}
	}
	took, wal, err := s.cost(ctx, func() error {
		var wg sync.WaitGroup
		failed := make([]error, queueWorkers)
		for i := range queueWorkers {
			wg.Go(func() {
				failed[i] = q.Work(ctx, queue.WorkOptions{Name: fmt.Sprint("worker ", i), Repositories: describers, Jobs: queueSlots, UntilIdle: true})
			})
		}
		wg.Wait()
		return errors.Join(failed...)
	})
	if err != nil {
		return err
	}
	s.m.JobWAL = wal/float64(all) - s.m.DirectoryWAL
	s.note(fmt.Sprintf("directories through the queue, %d slots, %d repositories", queueWorkers*queueSlots, queueRepositories), number(float64(all)/took.Seconds())+"/s")
	s.note("WAL of a directory through the queue, its text included", bulk(wal/float64(all)))
	return nil
}

// prompt is a describer that has its answer ready.
type prompt struct{ text string }

// Able implements [queue.Describer].
func (prompt) Able(context.Context, crew.Run) error { return nil }

// Describe implements [queue.Describer].
func (r prompt) Describe(ctx context.Context, run crew.Run, of survey.Portion, _ []survey.Portion, till queue.Hold) (queue.Described, error) {
	rec := &survey.Record{
		Path: of.Path, Text: r.text, Author: "bench", Recipe: run.Recipe, At: time.Now(),
		Basis: survey.Basis{Files: []survey.FileBasis{{Name: []byte(of.Path), ID: content(0, len(of.Path), 0).ID}}},
	}
	err := till.Reserve(ctx, crew.Amount{Tokens: 10_000}, crew.Amount{})
	return queue.Described{Record: rec, Verdict: survey.Fresh, Speaks: rec.ID(), Calls: 1, Last: crew.Amount{Tokens: 8_000}}, err
}
