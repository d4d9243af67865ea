package queue_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/pgtest"
	"ken/internal/queue"
	"ken/internal/store"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/surveyrun"
)

// A repository sees and changes only its own runs.
func TestRepositoriesAreSeparate(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	theirs := testRun
	theirs.Repository = "theirs"
	ours, other := s.start(t, testRun, grow(1)), s.start(t, theirs, grow(1))
	if _, err := s.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET state = 'dead' WHERE state = 'ready'`); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for repository, want := range map[string]int{"r": 1, "theirs": 1, "nobody": 0, "": 2} {
		runs, err := s.Runs(ctx, repository, 10)
		dead, failed := s.Dead(ctx, repository, 0)
		if err = errors.Join(err, failed); err != nil || len(runs) != want || len(dead) != want {
			t.Errorf("of %q: %d runs, %d dead, %v", repository, len(runs), len(dead), err)
		}
		for _, r := range runs {
			if repository != "" && r.Repository != repository {
				t.Errorf("the runs of %q contain %+v", repository, r)
			}
		}
	}
	for what, do := range map[string]func(repository string, id int64) error{
		"show":   func(of string, id int64) error { _, err := s.Run(ctx, of, id); return err },
		"dead":   func(of string, id int64) error { _, err := s.Dead(ctx, of, id); return err },
		"retry":  func(of string, id int64) error { _, err := s.Retry(ctx, of, id); return err },
		"resume": func(of string, id int64) error { return s.Resume(ctx, of, id, surveyrun.Ceiling{}) },
		"cancel": func(of string, id int64) error { return s.Cancel(ctx, of, id, "tester") },
	} {
		if err := do("r", other); fault.KindOf(err) != fault.Usage || !strings.Contains(fault.HintOf(err), "--all") {
			t.Errorf("%s a run of theirs: %v", what, err)
		}
	}
	if r := s.run(t, other); r.State != surveyrun.Running || r.Directories.Dead != 1 {
		t.Errorf("theirs was changed: %+v", r)
	}
	if n, err := s.Retry(ctx, "r", ours); n != 1 || err != nil {
		t.Errorf("Retry returned %d, %v; want 1", n, err)
	}
	if err := s.Cancel(ctx, "", other, "tester"); err != nil {
		t.Error(err)
	}
}

// With a model of unknown price, the spending of the run, of lost workers and of the day is marked as unpriced.
func TestUnknownPrice(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	for _, unpriced := range []bool{false, true} {
		run := testRun
		run.Spent.Unpriced = unpriced
		id := s.start(t, run, grow())
		if r := s.run(t, id); r.Spent.Unpriced != unpriced || !r.Assumed.IsZero() {
			t.Errorf("before anything was spent: %+v", r)
		}
		s.work(t, 1, queue.WorkOptions{}, &fakeDescriber{})
		if _, err := s.pool.Exec(t.Context(), `UPDATE ken.survey_run SET assumed_tokens = 7 WHERE id = $1`, id); err != nil {
			t.Fatal(err)
		}
		if _, err := s.pool.Exec(t.Context(), `INSERT INTO ken.survey_day (day, spent_tokens) VALUES ((now() AT TIME ZONE 'UTC')::date, 7) ON CONFLICT DO NOTHING`); err != nil {
			t.Fatal(err)
		}
		if r := s.run(t, id); r.Assumed.Unpriced != unpriced {
			t.Errorf("by workers that vanished: %v", r.Assumed)
		}
		if day, err := s.Today(t.Context()); err != nil || day.Spent.Unpriced != unpriced {
			t.Errorf("on the day: %v, %v", day.Spent, err)
		}
	}
}

// Resume changes only the given parts of the ceiling.
func TestResumeChangesCeiling(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	tokens, cost := int64(100), surveyrun.Dollars(1)
	run := testRun
	run.Ceiling.Tokens = &tokens
	id := s.start(t, run, grow())
	for _, c := range []surveyrun.Ceiling{{Cost: &cost}, {}} {
		if err := s.Resume(t.Context(), "", id, c); err != nil {
			t.Fatal(err)
		}
		if is := s.run(t, id).Ceiling; is.Tokens == nil || *is.Tokens != tokens || is.Cost == nil || *is.Cost != cost {
			t.Errorf("after %v it is %v", c, is)
		}
	}
}

// A refusal is stored with its basis, in the transaction that ends the directory.
func TestRefusalIsStored(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	var kept []store.DirFailure
	q, err := queue.Open(t.Context(), s.pool.Config(), queue.Options{
		SaveRecords: keep,
		SaveFailure: func(_ context.Context, _ pgx.Tx, repository string, f store.DirFailure) error {
			if repository == "r" {
				kept = append(kept, f)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	s.start(t, testRun, grow(1))
	basis := fresh.Digest{1, 2, 3}
	(&testQueue{q, s.pool}).work(t, 1, queue.WorkOptions{}, &fakeDescriber{describe: func(_ context.Context, of survey.DirTask, _ surveyrun.DirLease) (surveyrun.DescribeResult, error) {
		if of.Path == "" {
			return said(of), nil
		}
		return surveyrun.DescribeResult{Calls: 1, Basis: basis}, describe.ErrRefused
	}})
	if len(kept) != 1 || kept[0].Path != "d0" || kept[0].Basis != basis || kept[0].Reason == "" || time.Since(kept[0].At).Abs() > time.Hour {
		t.Errorf("the saved failures are %+v; want one of d0, with its basis, reason and time", kept)
	}
}

// A worker starts a job when it becomes due, although River sends no notification and does not poll during the test.
func TestDueJobStarts(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	s.start(t, testRun, grow())
	if _, err := s.pool.Exec(t.Context(), `UPDATE ken.river_job SET scheduled_at = now() + interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	opts := queue.WorkOptions{Lease: time.Hour}.Polling(time.Hour) // it does not sweep meanwhile
	s.work(t, 1, opts, &fakeDescriber{})
}

// A queryCounter counts queries to a server, and separately those of wakeRiver.
type queryCounter struct {
	nudges chan int // the number of other queries before each query of wakeRiver
	others atomic.Int64
}

func (c *queryCounter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if strings.Contains(q.SQL, "pg_notify($2") {
		c.nudges <- int(c.others.Load())
	} else {
		c.others.Add(1)
	}
	return ctx
}

func (c *queryCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// An idle worker uses one query for all repositories. After the start, it makes far fewer other queries than there
// are repositories.
func TestIdleWorkerQueries(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	cfg := s.pool.Config()
	count := &queryCounter{nudges: make(chan int, 1000)}
	cfg.ConnConfig.Tracer = count
	q, err := queue.Open(t.Context(), cfg, queue.Options{SaveRecords: keep})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	all := make(map[string]queue.Describer)
	const repositories = 200
	for i := range repositories {
		all[strings.Repeat("r", i+1)] = &fakeDescriber{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- q.Work(ctx, queue.WorkOptions{Repositories: all}) }()
	const patience = 60 // nudges, each of which is a second or more
	for i, before, between := 0, 0, repositories; between > repositories/4; i++ {
		if i > patience {
			t.Errorf("the worker still sends %d queries between two looks at all repositories, want at most %d", between, repositories/4)
			break
		}
		asked := <-count.nudges
		between, before = asked-before, asked
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
