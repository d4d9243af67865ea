package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/pgtest"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/postgres"
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// startLeased starts a run with two directories below a third, and leases the first.
func startLeased(t *testing.T) (*Queue, surveyrun.Run, *leasedDir) {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	q, err := Open(t.Context(), cfg, Options{
		SaveRecords: func(context.Context, Tx, string, []*store.DirRecord, []fresh.Record) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	run := surveyrun.Run{Repository: "r", Commit: repo.SHA1.Blob([]byte("commit"))}
	run.ID, err = q.StartRun(t.Context(), run, &survey.TaskList{Work: 3, Tasks: []survey.DirTask{
		{Path: "a", Work: true}, {Path: "b", Work: true}, {Path: "", Work: true, Waits: 2, Top: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return q, run, grab(t, q, run, "first")
}

func grab(t *testing.T, q *Queue, run surveyrun.Run, token string) *leasedDir {
	t.Helper()
	held, err := q.take(t.Context(), run, "a", token, token, time.Minute)
	if err != nil || held == nil {
		t.Fatalf("%s did not get it: %v", token, err)
	}
	return held
}

// row returns columns of a directory.
func row(t *testing.T, q *Queue, path string) (state, token string, waits, calls int) {
	t.Helper()
	err := q.pool.QueryRow(t.Context(), `SELECT state, coalesce(token, ''), waits, calls FROM ken.survey_directory WHERE path = $1`, []byte(path)).
		Scan(&state, &token, &waits, &calls)
	if err != nil {
		t.Fatal(err)
	}
	return state, token, waits, calls
}

// A worker that lost a lease to another worker cannot change the directory.
func TestLostLeaseToOtherWorker(t *testing.T) {
	t.Parallel()
	q, run, first := startLeased(t)
	if _, err := q.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET expires = now() - interval '1 second' WHERE path = 'a'`); err != nil {
		t.Fatal(err)
	}
	if err := q.sweepLeases(t.Context()); err != nil {
		t.Fatal(err)
	}
	grab(t, q, run, "second")
	if err := q.finish(t.Context(), first, surveyrun.DescribeResult{Calls: 1}); !errors.Is(err, errLeaseLost) {
		t.Errorf("finish returned the error %v; want %v", err, errLeaseLost)
	}
	if err := q.fail(t.Context(), first, surveyrun.DescribeResult{Calls: 1}, surveyrun.ActionRetry, 0, errors.New("no")); !errors.Is(err, errLeaseLost) {
		t.Errorf("fail returned the error %v; want %v", err, errLeaseLost)
	}
	if err := (&dirLease{q, first}).Reserve(t.Context(), surveyrun.Amount{Tokens: 1}, surveyrun.Amount{}); !errors.Is(err, errLeaseLost) {
		t.Errorf("Reserve returned the error %v; want %v", err, errLeaseLost)
	}
	if state, token, _, calls := row(t, q, "a"); state != "taken" || token != "second" || calls != 0 {
		t.Errorf("%s by %s, %d calls", state, token, calls)
	}
}

// A finished directory stays finished. A worker that finishes it again, because the answer was lost, gets no
// error. A worker without the lease can neither reserve nor fail it.
func TestFinishedStaysFinished(t *testing.T) {
	t.Parallel()
	q, _, held := startLeased(t)
	for range 2 {
		if err := q.finish(t.Context(), held, surveyrun.DescribeResult{Verdict: fresh.Verdict{State: fresh.Fresh}, Calls: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.fail(t.Context(), held, surveyrun.DescribeResult{}, surveyrun.ActionRetry, 0, errors.New("no")); !errors.Is(err, errLeaseLost) {
		t.Errorf("fail returned the error %v; want %v", err, errLeaseLost)
	}
	if err := (&dirLease{q, held}).Reserve(t.Context(), surveyrun.Amount{Tokens: 1}, surveyrun.Amount{}); !errors.Is(err, errLeaseLost) {
		t.Errorf("Reserve returned the error %v; want %v", err, errLeaseLost)
	}
	if state, _, _, calls := row(t, q, "a"); state != "done" || calls != 1 {
		t.Errorf("directory a is %s after %d calls; want it done after 1", state, calls)
	}
	if _, _, waits, _ := row(t, q, ""); waits != 1 {
		t.Errorf("the one above waits for %d", waits)
	}
}

// A worker that takes a directory again, because the answer was lost, gets the same lease and no other attempt.
func TestTakeTwiceBySameWorker(t *testing.T) {
	t.Parallel()
	q, run, _ := startLeased(t)
	grab(t, q, run, "first")
	if other, err := q.take(t.Context(), run, "a", "other", "other", time.Minute); other != nil || err != nil {
		t.Errorf("another one got it too: %v", err)
	}
	if state, token, _, _ := row(t, q, "a"); state != "taken" || token != "first" {
		t.Errorf("directory a is %s by %s; want it taken by first", state, token)
	}
}

// The cost of a failed attempt is recorded, and its reservation is released.
func TestFailureRecordsCost(t *testing.T) {
	t.Parallel()
	for _, action := range []surveyrun.FailureAction{surveyrun.ActionRetry, surveyrun.ActionRefuse, surveyrun.ActionGiveUp, surveyrun.ActionReturn} {
		q, run, held := startLeased(t)
		if err := (&dirLease{q, held}).Reserve(t.Context(), surveyrun.Amount{Tokens: 20}, surveyrun.Amount{}); err != nil {
			t.Fatal(err)
		}
		last := surveyrun.Amount{Tokens: 8}
		if err := q.fail(t.Context(), held, surveyrun.DescribeResult{Calls: 1, Last: last}, action, 0, errors.New("no")); err != nil {
			t.Fatal(err)
		}
		after, err := q.Run(t.Context(), "r", run.ID)
		if err != nil || after.Spent != last || !after.Reserved.IsZero() {
			t.Errorf("the run, after %d: %+v, %v", action, after, err)
		}
		day, err := q.Today(t.Context())
		if err != nil || day.Spent != last || !day.Reserved.IsZero() {
			t.Errorf("the day, after %d: %+v, %v", action, day, err)
		}
	}
}

// A cancelled run stays cancelled, even if its leased directories end or a user resumes it.
func TestCancelledStaysCancelled(t *testing.T) {
	t.Parallel()
	q, run, held := startLeased(t)
	other, err := q.take(t.Context(), run, "b", "w", "other", time.Minute)
	if err != nil || other == nil {
		t.Fatalf("take returned %v, %v; want a lease", other, err)
	}
	if err := q.Cancel(t.Context(), "", run.ID, "somebody"); err != nil {
		t.Fatal(err)
	}
	if err := (&dirLease{q, held}).Reserve(t.Context(), surveyrun.Amount{Tokens: 1}, surveyrun.Amount{}); !errors.Is(err, errLeaseLost) {
		t.Errorf("another call is paid for: %v", err)
	}
	if err := q.finish(t.Context(), held, surveyrun.DescribeResult{Verdict: fresh.Verdict{State: fresh.Fresh}}); err != nil {
		t.Fatal(err)
	}
	if err := q.fail(t.Context(), other, surveyrun.DescribeResult{}, surveyrun.ActionGiveUp, 0, errors.New("no")); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Retry(t.Context(), "", run.ID); fault.KindOf(err) != fault.Usage {
		t.Errorf("Retry returned the error %v; want a usage error", err)
	}
	if err := q.Resume(t.Context(), "", run.ID, surveyrun.Ceiling{}); fault.KindOf(err) != fault.Usage {
		t.Errorf("Resume returned the error %v; want a usage error", err)
	}
	if after, err := q.Run(t.Context(), "r", run.ID); err != nil || after.State != surveyrun.Cancelled || after.Why != "cancelled by somebody" || len(after.Dead) != 1 {
		t.Errorf("Run returned %+v, %v; want it cancelled by somebody, with one failed directory", after, err)
	}
}

// The cost of a call is recorded once, even if the request is repeated because the answer was lost.
func TestCostRecordedOnce(t *testing.T) {
	t.Parallel()
	q, run, held := startLeased(t)
	l := &dirLease{q, held}
	if err := l.Reserve(t.Context(), surveyrun.Amount{Tokens: 20}, surveyrun.Amount{}); err != nil {
		t.Fatal(err)
	}
	next, before := surveyrun.Amount{Tokens: 30}, surveyrun.Amount{Tokens: 8}
	if err := q.inTx(t.Context(), func(tx pgx.Tx) error { return l.reserve(t.Context(), tx, next, before) }); err != nil {
		t.Fatal(err)
	}
	if err := l.Reserve(t.Context(), next, before); err != nil {
		t.Fatal(err)
	}
	after, err := q.Run(t.Context(), "r", run.ID)
	if err != nil {
		t.Fatal(err)
	}
	day, err := q.Today(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for whose, is := range map[string][2]surveyrun.Amount{"the run's": {after.Spent, after.Reserved}, "the day's": {day.Spent, day.Reserved}} {
		if is != [2]surveyrun.Amount{before, next} {
			t.Errorf("%s: %v spent, and %v set aside", whose, is[0], is[1])
		}
	}
}

// No directory of a stopped run can be taken, even if the run was running when the worker got the job.
func TestTakeFromStoppedRun(t *testing.T) {
	t.Parallel()
	q, run, _ := startLeased(t)
	if err := q.Cancel(t.Context(), "", run.ID, "somebody"); err != nil {
		t.Fatal(err)
	}
	if late, err := q.take(t.Context(), run, "b", "late", "late", time.Minute); late != nil || err != nil {
		t.Errorf("it was taken: %v", err)
	}
	if state, _, _, _ := row(t, q, "b"); state != "ready" {
		t.Errorf("directory b is %s; want it ready", state)
	}
}

// A sweep does not end a lease that is renewed at the same time.
func TestRenewDuringSweep(t *testing.T) {
	t.Parallel()
	q, run, held := startLeased(t)
	if _, err := q.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET expires = now() - interval '1 second' WHERE path = 'a'`); err != nil {
		t.Fatal(err)
	}
	swept := make(chan error)
	err := q.inTx(t.Context(), func(tx pgx.Tx) error {
		if _, err := lockRun(t.Context(), tx, run.ID); err != nil {
			return err
		}
		go func() { swept <- q.sweepLeases(t.Context()) }()
		await(t, q, `EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`)
		lost, err := q.renew(t.Context(), []*leasedDir{held}, time.Minute)
		if len(lost) > 0 {
			t.Errorf("renew lost %v; want nothing lost", lost)
		}
		return err
	})
	if err = errors.Join(err, <-swept); err != nil {
		t.Fatal(err)
	}
	if state, token, _, _ := row(t, q, "a"); state != "taken" || token != "first" {
		t.Errorf("directory a is %s by %q; want it taken by first", state, token)
	}
}

// A locked directory does not delay the renewal of others, and does not count as lost.
func TestRenewSkipsLocked(t *testing.T) {
	t.Parallel()
	q, run, held := startLeased(t)
	other, err := q.take(t.Context(), run, "b", "w", "other", time.Millisecond)
	if err != nil || other == nil {
		t.Fatalf("take returned %v, %v; want a lease", other, err)
	}
	err = q.inTx(t.Context(), func(tx pgx.Tx) error {
		if _, err := lockLease(t.Context(), tx, held); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		lost, err := q.renew(ctx, []*leasedDir{held, other}, time.Minute)
		if len(lost) > 0 {
			t.Errorf("renew lost %v; want nothing lost", lost)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	await(t, q, `(SELECT expires > now() FROM ken.survey_directory WHERE path = 'b')`)
}

// await waits until a condition in the database is true.
func await(t *testing.T, q *Queue, what string) {
	t.Helper()
	for begun := time.Now(); ; {
		var holds bool
		if err := q.pool.QueryRow(t.Context(), `SELECT `+what).Scan(&holds); err != nil {
			t.Fatal(err)
		}
		if holds {
			return
		}
		if time.Since(begun) > 2*time.Minute {
			t.Fatalf("the condition is still false after 2 minutes: %s", what)
		}
	}
}

// A lock timeout is a temporary error.
func TestLockTimeout(t *testing.T) {
	t.Parallel()
	cfg, err := pgxpool.ParseConfig(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	cfg.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "1h" // as a store has it
	q, err := Open(t.Context(), cfg, Options{IdleTimeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if got := q.pool.Config().ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"]; got != "" {
		t.Errorf("sessions begin with %q, which poolers refuse", got)
	}
	stalled, err := pgx.ConnectConfig(t.Context(), cfg.ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close(context.Background())
	if _, err := stalled.Exec(t.Context(), `BEGIN; LOCK TABLE ken.survey_run`); err != nil {
		t.Fatal(err)
	}
	if _, err = q.StartRun(t.Context(), surveyrun.Run{Repository: "r"}, &survey.TaskList{}); !errors.Is(err, surveyrun.ErrUnavailable) {
		t.Errorf("StartRun returned the error %v; want %v", err, surveyrun.ErrUnavailable)
	}
	var idle string
	if err := q.pool.QueryRow(t.Context(), `SHOW idle_in_transaction_session_timeout`).Scan(&idle); idle != "200ms" || err != nil {
		t.Errorf("transactions may do nothing for %s, %v", idle, err)
	}
}

// A directory that waits for the same input causes no event; one that could not be returned does:
// it stays taken until its lease ends.
func TestSameInputEvents(t *testing.T) {
	t.Parallel()
	q, run, held := startLeased(t)
	var events []Event
	w := &worker{q: q, opts: WorkOptions{OnEvent: func(e Event) { events = append(events, e) }}.filled()}
	w.end(t.Context(), held, surveyrun.DescribeResult{}, surveyrun.ErrSameInput, false)
	if state, _, _, _ := row(t, q, "a"); state != "ready" || len(events) != 0 {
		t.Errorf("%s, and events is %+v", state, events)
	}
	held = grab(t, q, run, "second")
	if _, err := q.pool.Exec(t.Context(), `ALTER TABLE ken.survey_directory ADD CHECK (state <> 'ready') NOT VALID`); err != nil {
		t.Fatal(err)
	}
	w.end(t.Context(), held, surveyrun.DescribeResult{}, surveyrun.ErrSameInput, false)
	if state, _, _, _ := row(t, q, "a"); state != "taken" || len(events) != 1 || !errors.Is(events[0].Err, surveyrun.ErrSameInput) {
		t.Errorf("%s, and events is %+v", state, events)
	}
}

// A fullServer has no free connection for the query of rights.
type fullServer struct{}

func (fullServer) Explain(err error) error { return fmt.Errorf("explained: %w", err) }
func (fullServer) OwnerAddress() string    { return "" }
func (fullServer) MissingRights(context.Context, []postgres.Right) (lacks, err error) {
	return nil, &pgconn.PgError{Code: "53300", Message: "sorry, too many clients already"}
}

// If the server cannot be asked about rights, a worker may try again, and the error of a refused statement is
// explained.
func TestRightsUnknown(t *testing.T) {
	t.Parallel()
	q, _, _ := startLeased(t)
	q.opts.Server = fullServer{}
	err := q.Work(t.Context(), WorkOptions{Repositories: map[string]Describer{"r": nil}})
	if !errors.Is(err, surveyrun.ErrUnavailable) || !strings.Contains(err.Error(), "explained: ") {
		t.Errorf("Work returned the error %v; want that the server is unavailable, explained", err)
	}
	err = q.serverError(t.Context(), &pgconn.PgError{Code: "42501", Message: "permission denied for table survey_run"})
	if !isPermissionDenied(err) || errors.Is(err, surveyrun.ErrUnavailable) {
		t.Errorf("refused statement: %v", err)
	}
}
