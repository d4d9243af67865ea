package queue

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"ken/internal/fresh"
	"ken/internal/surveyrun"
)

// jobOf returns the last job of a directory: its id, its state, whether its time is exactly the due time of the
// directory, and whether this is in the future.
func jobOf(t *testing.T, q *Queue, path string) (job int64, state string, exact, later bool) {
	t.Helper()
	err := q.pool.QueryRow(t.Context(), `
		SELECT d.job, j.state::text, j.scheduled_at = d.due, d.due > now() FROM ken.survey_directory d JOIN ken.river_job j ON j.id = d.job WHERE d.path = $1`,
		[]byte(path)).Scan(&job, &state, &exact, &later)
	if err != nil {
		t.Fatal(err)
	}
	return job, state, exact, later
}

// The time of a retry is in the server's time, to the microsecond.
func TestRetryUsesServerClock(t *testing.T) {
	t.Parallel()
	q, _, held := startLeased(t)
	if err := q.fail(t.Context(), held, surveyrun.DescribeResult{}, surveyrun.ActionRetry, time.Hour, errors.New("no")); err != nil {
		t.Fatal(err)
	}
	if _, state, exact, later := jobOf(t, q, "a"); state != "scheduled" || !exact || !later {
		t.Errorf("%s, exact %t, later %t", state, exact, later)
	}
}

// A sweep replaces jobs that a machine with a wrong clock delayed, but not jobs that are due later.
func TestSweepAfterWrongClock(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		job   string // the change of the job
		due   string
		swept bool
	}{
		{`state = 'available', scheduled_at = now() + interval '1 hour'`, `- interval '1 minute'`, true},
		{`state = 'scheduled', scheduled_at = now() + interval '1 hour'`, `- interval '1 minute'`, true},
		{`state = 'scheduled', scheduled_at = now() - interval '1 hour'`, `- interval '1 minute'`, true},
		{`state = 'scheduled', scheduled_at = now() + interval '1 hour'`, `+ interval '1 hour'`, false},
		{`state = 'available'`, `- interval '1 minute'`, false},
		{`state = 'completed', finalized_at = now()`, `- interval '1 minute'`, true},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			q, _, _ := startLeased(t)
			before, _, _, _ := jobOf(t, q, "b")
			if _, err := q.pool.Exec(t.Context(), `UPDATE ken.river_job SET `+c.job+` WHERE id = $1`, before); err != nil {
				t.Fatal(err)
			}
			_, err := q.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET queued = now() - interval '1 minute', due = now() `+c.due+` WHERE path = 'b'`)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // once is enough
				if err := q.sweep(t.Context(), []string{"r"}, 10*time.Second); err != nil {
					t.Fatal(err)
				}
			}
			after, state, _, later := jobOf(t, q, "b")
			if (after != before) != c.swept || c.swept && (state != "available" || later) {
				t.Errorf("job %d was replaced by %d: %s", before, after, state)
			}
		})
	}
}

// A worker that cannot work on a directory inserts one other job at once.
func TestUnableInsertsJob(t *testing.T) {
	t.Parallel()
	q, run, _ := startLeased(t)
	first, _, _, _ := jobOf(t, q, "b")
	if err := q.reportUnable(t.Context(), run.ID, "b", first, "w", errors.New("not here")); err != nil {
		t.Fatal(err)
	}
	second, state, _, later := jobOf(t, q, "b")
	if second == first || state != "available" || later {
		t.Errorf("job %d after %d: %s", second, first, state)
	}
	if err := q.reportUnable(t.Context(), run.ID, "b", first, "w", errors.New("not here")); err != nil {
		t.Fatal(err)
	}
	if last, _, _, _ := jobOf(t, q, "b"); last != second {
		t.Errorf("the jobs are %d, %d, then %d; want the second one kept", first, second, last)
	}
}

// After a pause, the wait for a worker that has the commit starts again.
func TestAbsentRestartsAfterPause(t *testing.T) {
	t.Parallel()
	q, run, held := startLeased(t)
	if err := q.fail(t.Context(), held, surveyrun.DescribeResult{}, surveyrun.ActionReturn, 0, errors.New("no")); err != nil {
		t.Fatal(err)
	}
	_, err := q.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET absent = now() - interval '1 day', taken_at = now() - interval '1 day' WHERE state = 'ready'`)
	if err == nil {
		_, err = q.pool.Exec(t.Context(), `UPDATE ken.survey_run SET state = 'paused'`)
	}
	if err == nil {
		err = q.Resume(t.Context(), "", run.ID, surveyrun.Ceiling{})
	}
	if err != nil {
		t.Fatal(err)
	}
	job, _, _, _ := jobOf(t, q, "b")
	if err := q.reportUnable(t.Context(), run.ID, "b", job, "w", errors.New("not here")); err != nil {
		t.Fatal(err)
	}
	if state, _, _, _ := row(t, q, "b"); state != "ready" {
		t.Errorf("it is %s", state)
	}
}

// The reservation of a lost worker counts as spent under the ceiling of the run.
func TestAssumedIsSpent(t *testing.T) {
	t.Parallel()
	q, run, held := startLeased(t)
	most := int64(100)
	if err := q.Resume(t.Context(), "", run.ID, surveyrun.Ceiling{Tokens: &most}); err != nil {
		t.Fatal(err)
	}
	if err := (&dirLease{q, held}).Reserve(t.Context(), surveyrun.Amount{Tokens: 60}, surveyrun.Amount{}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET expires = now() - interval '1 second' WHERE path = 'a'`); err != nil {
		t.Fatal(err)
	}
	if err := q.sweepLeases(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := &dirLease{q, grab(t, q, run, "second")}
	if err := l.Reserve(t.Context(), surveyrun.Amount{Tokens: 40}, surveyrun.Amount{}); err != nil {
		t.Errorf("Reserve of 40 more tokens returned the error %v", err)
	}
	if err := l.Reserve(t.Context(), surveyrun.Amount{Tokens: 1}, surveyrun.Amount{Tokens: 40}); !errors.Is(err, surveyrun.ErrCeiling) {
		t.Errorf("Reserve of the 101st token returned the error %v; want %v", err, surveyrun.ErrCeiling)
	}
}

// A directory that repeatedly loses its worker is given up, and its run ends. The reservations of the workers
// count as spent on that day, and none remains.
func TestGiveUpAfterLostWorkers(t *testing.T) {
	t.Parallel()
	q, run, held := startLeased(t)
	other, err := q.take(t.Context(), run, "b", "w", "other", time.Minute)
	if err != nil || other == nil {
		t.Fatalf("take returned %v, %v; want a lease", other, err)
	}
	if err := q.finish(t.Context(), other, surveyrun.DescribeResult{Verdict: fresh.Verdict{State: fresh.Fresh}}); err != nil {
		t.Fatal(err)
	}
	vanished := 0
	for state := "taken"; state != "dead"; state, _, _, _ = row(t, q, "a") {
		if vanished++; vanished > 5 {
			t.Fatalf("it is %s after %d workers", state, vanished-1)
		}
		if vanished > 1 {
			held = grab(t, q, run, fmt.Sprint(vanished))
		}
		if err := (&dirLease{q, held}).Reserve(t.Context(), surveyrun.Amount{Tokens: 10}, surveyrun.Amount{}); err != nil {
			t.Fatal(err)
		}
		if _, err := q.pool.Exec(t.Context(), `UPDATE ken.survey_directory SET expires = now() - interval '1 second' WHERE path = 'a'`); err != nil {
			t.Fatal(err)
		}
		if err := q.sweepLeases(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	after, err := q.Run(t.Context(), "r", run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if after.State != surveyrun.Incomplete || len(after.Dead) != 1 || after.Dead[0].Attempts != vanished || after.Assumed.Tokens != int64(10*vanished) || !after.Reserved.IsZero() {
		t.Errorf("after %d workers: %+v", vanished, after)
	}
	day, err := q.Today(t.Context())
	if err != nil || day.Spent.Tokens != after.Assumed.Tokens || !day.Reserved.IsZero() {
		t.Errorf("the day: %+v, %v", day, err)
	}
}

// A sweep deletes old ended runs with their directories, but no running ones.
func TestSweepDeletesOldRuns(t *testing.T) {
	t.Parallel()
	q, run, _ := startLeased(t)
	left := func(over string) int {
		t.Helper()
		if _, err := q.pool.Exec(t.Context(), `UPDATE ken.survey_run SET begun = now() - interval '1 year'`); err != nil {
			t.Fatal(err)
		}
		if over != "" {
			if _, err := q.pool.Exec(t.Context(), `UPDATE ken.survey_run SET ended = now() - $1::text::interval`, over); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.sweep(t.Context(), []string{"r"}, time.Minute); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := q.pool.QueryRow(t.Context(), `SELECT count(*) FROM ken.survey_directory WHERE run = $1`, run.ID).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := left(""); n != 3 {
		t.Errorf("%d of a run that is under way", n)
	}
	if err := q.Cancel(t.Context(), "", run.ID, "somebody"); err != nil {
		t.Fatal(err)
	}
	if n := left("29 days"); n != 3 {
		t.Errorf("%d of one that was over not long ago", n)
	}
	if n := left("31 days"); n != 0 {
		t.Errorf("%d of one that was", n)
	}
}

// A run with a model of unknown price stays paused under a day's ceiling of money until that ceiling is removed. A
// sweep does not resume it.
func TestUnpricedStaysPaused(t *testing.T) {
	t.Parallel()
	q, run, held := startLeased(t)
	most := surveyrun.Dollars(5)
	if err := q.SetCeiling(t.Context(), surveyrun.Ceiling{Cost: &most}); err != nil {
		t.Fatal(err)
	}
	if err := (&dirLease{q, held}).Reserve(t.Context(), surveyrun.Amount{Tokens: 1, Unpriced: true}, surveyrun.Amount{}); !errors.Is(err, surveyrun.ErrCeiling) {
		t.Fatalf("Reserve returned the error %v; want %v", err, surveyrun.ErrCeiling)
	}
	state := func() surveyrun.RunState {
		if err := q.sweep(t.Context(), []string{"r"}, time.Second); err != nil {
			t.Fatal(err)
		}
		r, err := q.Run(t.Context(), "r", run.ID)
		if err != nil {
			t.Fatal(err)
		}
		return r.State
	}
	if got := state(); got != surveyrun.Paused {
		t.Errorf("it is %s", got)
	}
	if err := q.SetCeiling(t.Context(), surveyrun.Ceiling{}); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != surveyrun.Running {
		t.Errorf("without the ceiling it is %s", got)
	}
}
