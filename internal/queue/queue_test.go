package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/model"
	"ken/internal/pgtest"
	"ken/internal/queue"
	"ken/internal/queue/queuetest"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/surveyrun"
)

// A testQueue is a queue in a new database, with a table that replaces the store.
type testQueue struct {
	*queue.Queue

	pool *pgxpool.Pool
}

func open(t *testing.T, address string) *testQueue {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 12
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &testQueue{openLike(t, pool, keep), pool}
}

// openLike opens a queue with a function that stores records.
func openLike(t *testing.T, pool *pgxpool.Pool, keep keeper) *queue.Queue {
	t.Helper()
	q, err := queue.Open(t.Context(), pool.Config(), queue.Options{SaveRecords: keep, Absent: time.Second, Connections: 10, IdleTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	if _, err := pool.Exec(t.Context(), `CREATE TABLE IF NOT EXISTS kept (n bigint GENERATED ALWAYS AS IDENTITY, repository text, path text, words text)`); err != nil {
		t.Fatal(err)
	}
	return q
}

type keeper = func(ctx context.Context, tx pgx.Tx, repository string, directories []*store.DirRecord, _ []fresh.Record) error

func keep(ctx context.Context, tx pgx.Tx, repository string, directories []*store.DirRecord, _ []fresh.Record) error {
	for _, r := range directories {
		if _, err := tx.Exec(ctx, `INSERT INTO kept (repository, path, words) VALUES ($1, $2, $3)`, repository, string(r.Path), r.Text); err != nil {
			return err
		}
	}
	return nil
}

// kept returns the number of stored records of each directory.
func (s *testQueue) kept(t *testing.T) map[string]int {
	t.Helper()
	rows, err := s.pool.Query(t.Context(), `SELECT path FROM kept ORDER BY n`)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[string]int)
	for _, p := range paths {
		times[p]++
	}
	return times
}

// grow returns a tree of directories without summaries.
func grow(widths ...int) *survey.TaskList { return queuetest.Tree("d", widths...) }

// A fakeDescriber is a Describer with functions of the test.
type fakeDescriber struct {
	able     func(surveyrun.Run) error
	describe func(ctx context.Context, of survey.DirTask, lease surveyrun.DirLease) (surveyrun.DescribeResult, error)

	mu    sync.Mutex
	early []string // parents that came before a child
	calls int
}

func (f *fakeDescriber) CheckRun(_ context.Context, run surveyrun.Run) error {
	if f.able != nil {
		return f.able(run)
	}
	return nil
}

func (f *fakeDescriber) Describe(ctx context.Context, _ surveyrun.Run, of survey.DirTask, below []survey.DirTask, lease surveyrun.DirLease) (surveyrun.DescribeResult, error) {
	f.mu.Lock()
	f.calls++
	for _, c := range below {
		if c.Work && c.Record.IsZero() && c.Verdict.Reason != fresh.Failed {
			f.early = append(f.early, string(of.Path)+" before "+string(c.Path))
		}
	}
	f.mu.Unlock()
	if f.describe != nil {
		return f.describe(ctx, of, lease)
	}
	return said(of), nil
}

func said(of survey.DirTask) surveyrun.DescribeResult {
	r := &store.DirRecord{Path: of.Path, Text: "about " + string(of.Path), At: time.Unix(1e9, 0)}
	return surveyrun.DescribeResult{Record: r, Verdict: fresh.Verdict{State: fresh.Fresh}, Current: r.ID(), Calls: 1}
}

var testRun = surveyrun.Run{Repository: "r", Recipe: "prompt/1 test", Provider: "test", Model: "test", By: "tester"}

func (s *testQueue) start(t *testing.T, run surveyrun.Run, out *survey.TaskList) int64 {
	t.Helper()
	run.Commit = repo.SHA1.Blob([]byte("commit"))
	id, err := s.StartRun(t.Context(), run, out)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (s *testQueue) run(t *testing.T, id int64) *surveyrun.Run {
	t.Helper()
	r, err := s.Run(t.Context(), "", id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// work runs n workers until no run is running, and reports whether all of them return that a run ended incomplete.
func (s *testQueue) work(t *testing.T, n int, opts queue.WorkOptions, h *fakeDescriber) (incomplete bool) {
	t.Helper()
	opts.UntilIdle = true
	if opts.Lease == 0 {
		opts.Lease = 2 * time.Second
	}
	if opts.Repositories == nil {
		opts.Repositories = map[string]queue.Describer{"r": h}
	}
	var all sync.WaitGroup
	var wanting atomic.Int64
	for i := range n {
		all.Go(func() {
			opts := opts
			opts.Name = fmt.Sprint("w", i)
			switch err := s.Work(t.Context(), opts); {
			case fault.KindOf(err) == fault.Stale:
				wanting.Add(1)
			case err != nil:
				t.Errorf("the worker w%d returned the error %v", i, err)
			}
		})
	}
	all.Wait()
	return wanting.Load() == int64(n)
}

// Workers describe every directory once, after all directories below it, for any tree and number of workers.
func TestEveryDirectoryOnceAfterItsChildren(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	out := grow(3, 4, 3)
	id := s.start(t, testRun, out)
	h := &fakeDescriber{}
	s.work(t, 4, queue.WorkOptions{Jobs: 2}, h)
	r := s.run(t, id)
	if c := r.Directories; r.State != surveyrun.Done || c.Done != out.Work || c.Total != out.Work || r.Ended == nil {
		t.Errorf("the run is %+v; want all %d directories done", r, out.Work)
	}
	for p, n := range s.kept(t) {
		if n != 1 {
			t.Errorf("%s was kept %d times", p, n)
		}
	}
	if got := len(s.kept(t)); got != out.Work || h.calls != out.Work {
		t.Errorf("%d kept, %d described, of %d", got, h.calls, out.Work)
	}
	if len(h.early) > 0 {
		t.Errorf("too early: %v", h.early)
	}
}

// A directory whose children did not change is finished without a model call.
func TestUnchangedChildrenNeedNoCall(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	id := s.start(t, testRun, grow(2))
	s.work(t, 1, queue.WorkOptions{}, &fakeDescriber{describe: func(_ context.Context, of survey.DirTask, _ surveyrun.DirLease) (surveyrun.DescribeResult, error) {
		if of.Path == "" {
			return surveyrun.DescribeResult{Verdict: fresh.Verdict{State: fresh.Fresh}}, nil
		}
		return said(of), nil
	}})
	if r := s.run(t, id); r.State != surveyrun.Done || r.Directories.Unasked != 1 || r.Calls != 2 {
		t.Errorf("the run is %+v; want it done with 2 calls and 1 directory that needed none", r)
	}
}

// Of directories with the same input, one is described and the others wait. Waiting is no failed attempt.
func TestSameInputWaits(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	id := s.start(t, testRun, grow(4))
	same := fresh.Digest{7}
	var there, inHand atomic.Bool
	waited := make(chan struct{})
	var once sync.Once
	s.work(t, 2, queue.WorkOptions{Jobs: 2}, &fakeDescriber{describe: func(ctx context.Context, of survey.DirTask, hold surveyrun.DirLease) (surveyrun.DescribeResult, error) {
		if of.Path == "" {
			return said(of), nil
		}
		switch err := hold.Claim(ctx, same); {
		case errors.Is(err, surveyrun.ErrSameInput):
			once.Do(func() { close(waited) })
			return surveyrun.DescribeResult{}, err
		case err != nil:
			return surveyrun.DescribeResult{}, err
		case there.Load():
			return surveyrun.DescribeResult{Verdict: fresh.Verdict{State: fresh.Fresh}}, nil
		case !inHand.CompareAndSwap(false, true):
			t.Error("two workers describe the same input at once")
		}
		<-waited
		there.Store(true)
		return said(of), nil
	}})
	if r := s.run(t, id); r.State != surveyrun.Done || r.Calls != 2 || r.Directories.Unasked != 3 {
		t.Errorf("the run is %+v; want it done with 2 calls and 3 directories that needed none", r)
	}
	var attempts int
	if err := s.pool.QueryRow(t.Context(), `SELECT sum(attempts) FROM ken.survey_directory WHERE run = $1`, id).Scan(&attempts); err != nil || attempts != 0 {
		t.Errorf("%d attempts failed, %v", attempts, err)
	}
}

// A worker that continues after another one took its lease changes neither the record, nor the count of the
// directory above, nor the spending.
func TestWorkerAfterLostLease(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	id := s.start(t, testRun, grow()) // with none above, whose count would tell
	asleep, awake := make(chan struct{}), make(chan struct{})
	var first sync.Once
	var slow sync.WaitGroup
	slow.Go(func() {
		ctx, cancel := context.WithCancel(t.Context())
		// Its heart beats once in an hour, and so its lease runs out: by the server's clock.
		err := s.Work(ctx, queue.WorkOptions{Name: "slow", Lease: time.Hour, Drain: time.Minute, Repositories: map[string]queue.Describer{"r": &fakeDescriber{
			describe: func(_ context.Context, of survey.DirTask, lease surveyrun.DirLease) (surveyrun.DescribeResult, error) {
				err := lease.Reserve(ctx, surveyrun.Amount{Tokens: 100}, surveyrun.Amount{})
				first.Do(func() { close(asleep) })
				cancel()
				<-awake
				d := said(of)
				d.Record.Text, d.Last = "late", surveyrun.Amount{Tokens: 7}
				return d, err
			},
		}}})
		if err != nil {
			t.Error(err)
		}
	})
	<-asleep
	if _, err := s.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET expires = now() - interval '1 second' WHERE state = 'taken'`); err != nil {
		t.Fatal(err)
	}
	s.work(t, 1, queue.WorkOptions{}, &fakeDescriber{describe: func(ctx context.Context, of survey.DirTask, lease surveyrun.DirLease) (surveyrun.DescribeResult, error) {
		err := lease.Reserve(ctx, surveyrun.Amount{Tokens: 100}, surveyrun.Amount{})
		d := said(of)
		d.Last = surveyrun.Amount{Tokens: 10}
		return d, err
	}})
	close(awake)
	slow.Wait()
	r := s.run(t, id)
	if r.State != surveyrun.Done || r.Spent.Tokens != 10 || r.Assumed.Tokens != 100 || r.Reserved.Tokens != 0 {
		t.Errorf("the run is %+v; want it done with 10 tokens spent, 100 assumed and none reserved", r)
	}
	var late int
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM kept WHERE words = 'late'`).Scan(&late); err != nil || late != 0 {
		t.Errorf("%d records of the worker that lost the lease, %v", late, err)
	}
	for p, n := range s.kept(t) {
		if n != 1 {
			t.Errorf("%s was kept %d times", p, n)
		}
	}
	if d, err := s.Today(t.Context()); err != nil || d.Spent.Tokens != 110 || d.Reserved.Tokens != 0 {
		t.Errorf("the day: %+v, %v", d, err)
	}
}

// A worker that stops in a transaction does not block others for long, and gets an error when it continues.
func TestStalledTransactionIsEnded(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	id := s.start(t, testRun, grow(4))
	asleep, awake := make(chan struct{}), make(chan struct{})
	var once sync.Once
	stalling := &testQueue{openLike(t, s.pool, func(ctx context.Context, tx pgx.Tx, repository string, directories []*store.DirRecord, files []fresh.Record) error {
		once.Do(func() {
			close(asleep)
			<-awake
		})
		return keep(ctx, tx, repository, directories, files)
	}), s.pool}
	var slow sync.WaitGroup
	// The rest of it sleeps too: its heart beats once in a quarter of an hour.
	slow.Go(func() { stalling.work(t, 1, queue.WorkOptions{Lease: time.Hour}, &fakeDescriber{}) })
	<-asleep
	if _, err := s.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET expires = now() - interval '1 second' WHERE state = 'taken'`); err != nil {
		t.Fatal(err)
	}
	s.work(t, 1, queue.WorkOptions{Lease: time.Second}, &fakeDescriber{})
	close(awake)
	slow.Wait()
	if r := s.run(t, id); r.State != surveyrun.Done || r.Directories.Done != 5 {
		t.Errorf("the run is %+v; want all 5 directories done", r)
	}
	for p, n := range s.kept(t) {
		if n != 1 {
			t.Errorf("%s was kept %d times", p, n)
		}
	}
}

// Concurrent calls never spend and reserve more than the ceiling. A reached ceiling pauses the run, and a higher
// one lets it continue.
func TestCeilingHolds(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprint("of the server ", whole), func(t *testing.T) {
			t.Parallel()
			s := open(t, pgtest.Database(t))
			most := int64(100)
			run := testRun
			if whole {
				if err := s.SetCeiling(t.Context(), surveyrun.Ceiling{Tokens: &most}); err != nil {
					t.Fatal(err)
				}
			} else {
				run.Ceiling.Tokens = &most
			}
			id := s.start(t, run, grow(12))
			var mu sync.Mutex
			var out, over int64 // of calls under way, and at worst
			h := &fakeDescriber{describe: func(ctx context.Context, of survey.DirTask, lease surveyrun.DirLease) (surveyrun.DescribeResult, error) {
				var d surveyrun.DescribeResult
				for range 2 {
					if err := lease.Reserve(ctx, surveyrun.Amount{Tokens: 20}, d.Last); err != nil {
						return d, err
					}
					mu.Lock()
					out += 20
					over = max(over, out)
					out -= 20 - 8
					mu.Unlock()
					d.Calls, d.Last = d.Calls+1, surveyrun.Amount{Tokens: 8}
				}
				calls, last := d.Calls, d.Last
				d = said(of)
				d.Calls, d.Last = calls, last
				return d, nil
			}}
			s.work(t, 3, queue.WorkOptions{Jobs: 2}, h)
			r := s.run(t, id)
			if r.State != surveyrun.Paused || r.Why == "" || r.Spent.Tokens > most || r.Reserved.Tokens != 0 || r.Spent.Tokens != out || over > most {
				t.Fatalf("%d were spent, %d at worst, of %d: %+v", out, over, most, r)
			}
			more := int64(13 * 2 * 20)
			if whole {
				if err := s.SetCeiling(t.Context(), surveyrun.Ceiling{Tokens: &more}); err != nil {
					t.Fatal(err)
				}
			} else if err := s.Resume(t.Context(), "", id, surveyrun.Ceiling{Tokens: &more}); err != nil {
				t.Fatal(err)
			}
			s.work(t, 3, queue.WorkOptions{Jobs: 2}, h)
			if r := s.run(t, id); r.State != surveyrun.Done || r.Spent.Tokens != out {
				t.Errorf("%d were spent: %+v", out, r)
			}
			for p, n := range s.kept(t) {
				if n != 1 {
					t.Errorf("%s was kept %d times", p, n)
				}
			}
		})
	}
}

// Directories above a refused directory get the refusal. A directory that fails repeatedly is given up, blocks
// those above, and can be retried.
func TestRefusedAndDead(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	id := s.start(t, testRun, grow(2, 2))
	broken := true
	h := &fakeDescriber{able: func(surveyrun.Run) error { return nil }}
	h.describe = func(_ context.Context, of survey.DirTask, _ surveyrun.DirLease) (surveyrun.DescribeResult, error) {
		switch {
		case of.Path == "d0/d0":
			return surveyrun.DescribeResult{Calls: 1}, describe.ErrRefused
		case of.Path == "d1/d0" && broken:
			return surveyrun.DescribeResult{Calls: 1}, &model.Failure{Reason: model.BadAnswer, Err: errors.New("gibberish")}
		}
		return said(of), nil
	}
	// Four attempts have failed before.
	if _, err := s.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET attempts = 4 WHERE path = 'd1/d0'`); err != nil {
		t.Fatal(err)
	}
	if !s.work(t, 1, queue.WorkOptions{Jobs: 2}, h) {
		t.Error("the worker ends as if all were described")
	}
	r := s.run(t, id)
	if r.State != surveyrun.Incomplete || r.Directories.Failed != 1 || len(r.Dead) != 1 || r.Dead[0].Path != "d1/d0" || r.Dead[0].Error != "gibberish" || r.Dead[0].Attempts != 5 {
		t.Fatalf("the run is %+v; want it incomplete, with d1/d0 failed after 5 attempts", r)
	}
	if len(r.Blocked) != 2 || r.Blocked[0].Path != "." || r.Blocked[1].Path != "d1" {
		t.Errorf("the blocked directories are %+v; want . and d1", r.Blocked)
	}
	if s.kept(t)["d0"] != 1 {
		t.Error("what is above a refusal was not described")
	}
	broken = false
	if n, err := s.Retry(t.Context(), "", id); n != 1 || err != nil {
		t.Fatalf("Retry returned %d, %v; want 1", n, err)
	}
	if s.work(t, 1, queue.WorkOptions{}, h) {
		t.Error("the worker ends as if something were left")
	}
	if r := s.run(t, id); r.State != surveyrun.Done || r.Directories.Done != 6 {
		t.Errorf("the run is %+v; want all 6 directories done", r)
	}
}

// A worker without the commit leaves directories to others. If no other worker comes, they are given up.
func TestNoWorkerHasTheCommit(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	id := s.start(t, testRun, grow())
	if _, err := s.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET absent = now() - interval '2 seconds'`); err != nil {
		t.Fatal(err)
	}
	s.work(t, 1, queue.WorkOptions{}, &fakeDescriber{able: func(surveyrun.Run) error { return errors.New("no such commit here") }})
	if r := s.run(t, id); r.State != surveyrun.Incomplete || len(r.Dead) != 1 || r.Dead[0].Error != "no such commit here" {
		t.Errorf("the run is %+v; want it incomplete, with the worker's reason", r)
	}
}

// A worker that cannot work on a run does not end it while others work on it.
func TestUnableWorkerDoesNotEndRun(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	id := s.start(t, testRun, grow(2))
	inHand, unable, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once, seen sync.Once
	var able, old sync.WaitGroup
	able.Go(func() {
		s.work(t, 1, queue.WorkOptions{}, &fakeDescriber{describe: func(_ context.Context, of survey.DirTask, _ surveyrun.DirLease) (surveyrun.DescribeResult, error) {
			once.Do(func() { close(inHand) })
			<-goOn
			return said(of), nil
		}})
	})
	<-inHand
	if _, err := s.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET absent = now() - interval '1 hour' WHERE state = 'ready'`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	old.Go(func() {
		err := s.Work(ctx, queue.WorkOptions{
			Name: "old", Repositories: map[string]queue.Describer{"r": &fakeDescriber{able: func(surveyrun.Run) error { return errors.New("another recipe") }}},
			OnEvent: func(e queue.Event) {
				if e.Unable {
					seen.Do(func() { close(unable) })
				}
			},
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-unable
	cancel()
	old.Wait()
	close(goOn)
	able.Wait()
	if r := s.run(t, id); r.State != surveyrun.Done || r.Directories.Done != 3 {
		t.Errorf("the run is %+v; want all 3 directories done", r)
	}
}

// Workers that wait near a ceiling release their own reservations, so that they do not deadlock.
func TestNoDeadlockNearCeiling(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprint("of the server ", whole), func(t *testing.T) {
			t.Parallel()
			s := open(t, pgtest.Database(t))
			most, run := int64(45), testRun
			if whole {
				if err := s.SetCeiling(t.Context(), surveyrun.Ceiling{Tokens: &most}); err != nil {
					t.Fatal(err)
				}
			} else {
				run.Ceiling.Tokens = &most
			}
			id := s.start(t, run, grow(2))
			var both sync.WaitGroup // both have made a call before either wants another
			both.Add(2)
			h := &fakeDescriber{describe: func(ctx context.Context, of survey.DirTask, lease surveyrun.DirLease) (surveyrun.DescribeResult, error) {
				d := said(of)
				for i := range 2 {
					if err := lease.Reserve(ctx, surveyrun.Amount{Tokens: 20}, d.Last); err != nil {
						return surveyrun.DescribeResult{Calls: i, Last: d.Last}, err
					}
					if d.Last = (surveyrun.Amount{Tokens: 8}); i == 0 && of.Path != "" {
						both.Done()
						both.Wait()
					}
				}
				return d, nil
			}}
			s.work(t, 2, queue.WorkOptions{}, h)
			// 8 + 8 + 8 + 8 are spent on the two, and 20 more do not fit.
			if r := s.run(t, id); r.State != surveyrun.Paused || r.Spent.Tokens != 32 || r.Reserved.Tokens != 0 || r.Directories.Done != 2 {
				t.Errorf("the run is %+v; want it paused after 32 tokens and 2 directories", r)
			}
		})
	}
}

// A rejected API key ends the worker with an error, and the directory stays ready.
func TestPermanentErrorStopsWorker(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	id := s.start(t, testRun, grow(1))
	err := s.Work(t.Context(), queue.WorkOptions{Repositories: map[string]queue.Describer{"r": &fakeDescriber{
		describe: func(context.Context, survey.DirTask, surveyrun.DirLease) (surveyrun.DescribeResult, error) {
			return surveyrun.DescribeResult{}, fmt.Errorf("wrong key: %w", describe.ErrFatal)
		},
	}}})
	if !errors.Is(err, describe.ErrFatal) {
		t.Errorf("Work returned the error %v; want %v", err, describe.ErrFatal)
	}
	if r := s.run(t, id); r.State != surveyrun.Running || r.Directories.Ready != 1 || len(r.Dead) > 0 {
		t.Errorf("the run is %+v; want it running, with its directory ready", r)
	}
	s.work(t, 1, queue.WorkOptions{}, &fakeDescriber{})
	if r := s.run(t, id); r.State != surveyrun.Done {
		t.Errorf("the run is %+v; want it done", r)
	}
}

// A panic ends the worker with an error and is not retried.
func TestPanicStopsWorker(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	s.start(t, testRun, grow())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	err := s.Work(ctx, queue.WorkOptions{Name: "w", Drain: time.Second, Lease: time.Second, Repositories: map[string]queue.Describer{"r": &fakeDescriber{
		describe: func(context.Context, survey.DirTask, surveyrun.DirLease) (surveyrun.DescribeResult, error) {
			panic("a table is empty")
		},
	}}})
	if err == nil || !strings.Contains(err.Error(), "a table is empty") {
		t.Errorf("it ends with: %v", err)
	}
}

// Workers stop working on a cancelled run.
func TestCancel(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	id := s.start(t, testRun, grow(3))
	begun := make(chan struct{})
	var once, ended sync.WaitGroup
	once.Add(1)
	ended.Go(func() {
		// It has an hour to finish: only the news of the end makes it stop.
		s.work(t, 1, queue.WorkOptions{Lease: time.Second, Drain: time.Hour}, &fakeDescriber{describe: func(ctx context.Context, _ survey.DirTask, _ surveyrun.DirLease) (surveyrun.DescribeResult, error) {
			close(begun)
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Minute):
				t.Error("the context of the running call was not cancelled")
			}
			return surveyrun.DescribeResult{}, context.Canceled
		}})
	})
	<-begun
	if err := s.Cancel(t.Context(), "", id, "tester"); err != nil {
		t.Fatal(err)
	}
	ended.Wait()
	if r := s.run(t, id); r.State != surveyrun.Cancelled || r.Directories.Taken != 0 || r.Directories.Ready != 3 {
		t.Errorf("the run is %+v; want it cancelled, with 3 directories ready and none taken", r)
	}
	if err := s.Cancel(t.Context(), "", id, "tester"); err == nil {
		t.Error("it was cancelled twice")
	}
}

// An interrupted worker returns directories that exceed the drain time. This is no failed attempt.
func TestDrained(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	id := s.start(t, testRun, grow())
	ctx, cancel := context.WithCancel(t.Context())
	var drained atomic.Bool
	err := s.Work(ctx, queue.WorkOptions{Drain: time.Millisecond, Repositories: map[string]queue.Describer{"r": &fakeDescriber{
		describe: func(ctx context.Context, _ survey.DirTask, lease surveyrun.DirLease) (surveyrun.DescribeResult, error) {
			err := lease.Reserve(ctx, surveyrun.Amount{Tokens: 100}, surveyrun.Amount{})
			cancel()
			<-ctx.Done()
			return surveyrun.DescribeResult{Calls: 1, Last: surveyrun.Amount{Tokens: 100}}, errors.Join(err, ctx.Err())
		},
	}}, OnEvent: func(e queue.Event) {
		if e.Drained {
			drained.Store(true)
		}
	}})
	if err != nil || !drained.Load() {
		t.Errorf("the worker drained: %t, error %v; want it drained", drained.Load(), err)
	}
	var attempts int
	if err := s.pool.QueryRow(t.Context(), `SELECT attempts FROM ken.survey_directory`).Scan(&attempts); attempts != 0 || err != nil {
		t.Errorf("the directory has %d attempts, %v; want 0", attempts, err)
	}
	if r := s.run(t, id); r.State != surveyrun.Running || r.Directories.Ready != 1 || r.Spent.Tokens != 100 || r.Reserved.Tokens != 0 {
		t.Errorf("the run is %+v; want it running, with 100 tokens spent and its directory ready", r)
	}
}

// A repository with little work does not wait for one with much.
func TestRepositoriesShareFairly(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	small := testRun
	small.Repository = "small"
	s.start(t, testRun, grow(40))
	s.start(t, small, grow(4))
	h := &fakeDescriber{describe: func(_ context.Context, of survey.DirTask, _ surveyrun.DirLease) (surveyrun.DescribeResult, error) {
		return said(of), nil
	}}
	s.work(t, 1, queue.WorkOptions{Repositories: map[string]queue.Describer{"r": h, "small": h}}, h)
	// A busy machine may hear of the small one late, so it is counted from its first directory on.
	var first, last, all int
	err := s.pool.QueryRow(t.Context(), `
		SELECT min(n) FILTER (WHERE repository = 'small'), max(n) FILTER (WHERE repository = 'small'), max(n)
		FROM kept`).Scan(&first, &last, &all)
	if err != nil || all != 46 || last-first > 20 {
		t.Errorf("the small repository was described from %d to %d of %d (%v), want at most 20 in between", first, last, all, err)
	}
}

// Many workers can create the tables of an empty database at the same time.
func TestConcurrentMigrate(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 3 {
				q, err := queue.Open(t.Context(), pool.Config(), queue.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				q.Close()
			}
		})
	}
	all.Wait()
}

// Open does not use tables of another version, and changes nothing. The error has the command that moves them aside.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	for version, hint := range map[int]string{0: "move the tables aside: ", 2: "upgrade ken, or move the tables aside: "} {
		address := pgtest.Database(t)
		s := open(t, address)
		pgtest.Exec(t, address, fmt.Sprintf(`UPDATE ken.survey_version SET version = %d; DROP TABLE ken.survey_ceiling`, version))
		for name, open := range map[string]func(context.Context, *pgxpool.Config, queue.Options) (*queue.Queue, error){
			"Open": queue.Open, "OpenReadOnly": queue.OpenReadOnly,
		} {
			_, err := open(t.Context(), s.pool.Config(), queue.Options{})
			message := fmt.Sprintf("the tables of the queue have version %d, and this version of ken needs 1", version)
			if err == nil || err.Error() != message || !strings.HasPrefix(fault.HintOf(err), hint+"psql ") {
				t.Errorf("%s returned the error %v with the hint %q; want %q with %q", name, err, fault.HintOf(err), message, hint)
			}
		}
		if pgtest.Value[bool](t, address, `SELECT to_regclass('ken.survey_ceiling') IS NOT NULL`) {
			t.Error("the tables were changed")
		}
		// The command of the hint helps.
		pgtest.Exec(t, address, fmt.Sprintf(`ALTER SCHEMA ken RENAME TO ken_queue_%d`, version))
		open(t, address)
	}
}
