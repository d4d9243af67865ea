package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// finish completes a directory in one transaction. It changes nothing if the lease is lost.
func (q *Queue) finish(ctx context.Context, t *leasedDir, d surveyrun.DescribeResult) error {
	return q.inTx(ctx, func(tx pgx.Tx) error {
		run, h, err := q.settle(ctx, tx, t, d)
		if errors.Is(err, errLeaseLost) && q.finished(ctx, tx, t) {
			return nil
		}
		if err != nil {
			return err
		}
		state, basis := "done", fresh.Digest{}
		if d.Record != nil {
			basis = d.Record.Basis.Digest()
			if d.Record.Partial {
				state = "partial"
			}
		}
		_, err = tx.Exec(ctx, `
			UPDATE ken.survey_directory SET state = $3, verdict = $4, reasons = $5, record = $6, basis = $7, error = '', expires = NULL, settled_at = now()
			WHERE run = $1 AND path = $2`,
			t.run.ID, pathBytes(t.task.Path), state, storedVerdict(d.Verdict), append([]string{}, d.Reasons...), digestBytes(d.Current), digestBytes(basis))
		if err != nil {
			return err
		}
		if d.Record != nil || len(d.Files) > 0 {
			var records []*store.DirRecord
			if d.Record != nil {
				records = []*store.DirRecord{d.Record}
			}
			if err := q.opts.SaveRecords(ctx, tx, t.run.Repository, records, d.Files); err != nil {
				return fmt.Errorf("store the summary of %s: %w", repo.DirLabel(t.task.Path), err)
			}
		}
		if err := q.release(ctx, tx, run, t); err != nil {
			return err
		}
		return settleDay(ctx, tx, h.day, h.last, h.reserved)
	})
}

// finished reports whether this worker finished the directory before, and the answer was lost.
func (q *Queue) finished(ctx context.Context, tx pgx.Tx, t *leasedDir) bool {
	var ours bool
	err := tx.QueryRow(ctx, `SELECT token = $3 AND state IN ('done', 'partial') FROM ken.survey_directory WHERE run = $1 AND path = $2`,
		t.run.ID, pathBytes(t.task.Path), t.token).Scan(&ours)
	return err == nil && ours
}

// settle locks a run and the lease of a directory, and records the cost of the last call. The
// caller settles the day at the end of the transaction.
func (q *Queue) settle(ctx context.Context, tx pgx.Tx, t *leasedDir, d surveyrun.DescribeResult) (lockedRun, leaseRow, error) {
	run, err := lockRun(ctx, tx, t.run.ID)
	if err != nil {
		return run, leaseRow{}, err
	}
	h, err := lockLease(ctx, tx, t)
	if err != nil {
		return run, h, err
	}
	h.last = d.Last
	if !t.unsettled {
		h.last = surveyrun.Amount{} // it is recorded already
	}
	_, err = tx.Exec(ctx, `
		UPDATE ken.survey_directory SET calls = calls + $3, spent_tokens = spent_tokens + $4, spent_cost = spent_cost + $5,
			reserved_tokens = 0, reserved_cost = 0, reserved_on = NULL WHERE run = $1 AND path = $2`,
		t.run.ID, pathBytes(t.task.Path), d.Calls, h.last.Tokens, h.last.Cost)
	if err != nil {
		return run, h, err
	}
	if _, err := tx.Exec(ctx, `UPDATE ken.survey_run SET calls = calls + $2 WHERE id = $1`, t.run.ID, d.Calls); err != nil {
		return run, h, err
	}
	return run, h, settleRun(ctx, tx, t.run.ID, h.last, h.reserved, surveyrun.Amount{})
}

// release counts down the directory above, and makes it ready when it waits for no other. If
// no directory of the run is ready or taken any more, the run is over.
func (q *Queue) release(ctx context.Context, tx pgx.Tx, run lockedRun, t *leasedDir) error {
	if !t.task.Top {
		var left int
		var band int16
		err := tx.QueryRow(ctx, `
			UPDATE ken.survey_directory SET waits = waits - 1, state = CASE waits WHEN 1 THEN 'ready' ELSE state END
			WHERE run = $1 AND path = $2 RETURNING waits, band`, t.run.ID, pathBytes(t.task.Above)).Scan(&left, &band)
		if err != nil {
			return err
		}
		if left == 0 {
			if run.state != surveyrun.Running {
				return nil // resuming the run inserts the job
			}
			return q.insert(ctx, tx, run.repository, t.run.ID, t.task.Above, survey.Rank(band), 0)
		}
	}
	return conclude(ctx, tx, t.run.ID)
}

// conclude ends a run without ready or taken directories.
func conclude(ctx context.Context, tx pgx.Tx, run int64) error {
	var open bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM ken.survey_directory WHERE run = $1 AND state IN ('ready', 'taken'))`, run).Scan(&open)
	if err != nil || open {
		return err
	}
	var c surveyrun.Counts
	err = tx.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE state = 'dead'), count(*) FILTER (WHERE state = 'waiting') FROM ken.survey_directory WHERE run = $1`, run).
		Scan(&c.Dead, &c.Waiting)
	if err != nil {
		return err
	}
	state, why := c.State(), ""
	if state == surveyrun.Incomplete {
		why = fmt.Sprintf("%d failed too often, %d wait for them", c.Dead, c.Waiting)
	}
	_, err = tx.Exec(ctx, `
		UPDATE ken.survey_run SET ended = now(), today = false, state = $2, why = $3 WHERE id = $1 AND state IN ('running', 'paused')`, run, state, why)
	return err
}

// fail ends a failed attempt.
func (q *Queue) fail(ctx context.Context, t *leasedDir, d surveyrun.DescribeResult, action surveyrun.FailureAction, delay time.Duration, cause error) error {
	return q.inTx(ctx, func(tx pgx.Tx) error {
		run, h, err := q.settle(ctx, tx, t, d)
		if err != nil {
			return err
		}
		state, tried, why := "ready", 1, oneLine(cause)
		switch action {
		case surveyrun.ActionRefuse:
			state = "failed"
		case surveyrun.ActionGiveUp:
			state = "dead"
		case surveyrun.ActionReturn, surveyrun.ActionStop:
			tried = 0
		default:
		}
		_, err = tx.Exec(ctx, `
			UPDATE ken.survey_directory SET state = $3, attempts = attempts + $4, error = $5, token = NULL, expires = NULL,
				settled_at = CASE WHEN $3 IN ('failed', 'dead') THEN now() END
			WHERE run = $1 AND path = $2`, t.run.ID, pathBytes(t.task.Path), state, tried, why)
		if err != nil {
			return err
		}
		switch {
		case action == surveyrun.ActionRefuse:
			_, err = tx.Exec(ctx, `UPDATE ken.survey_directory SET verdict = $3, reasons = $4 WHERE run = $1 AND path = $2`,
				t.run.ID, pathBytes(t.task.Path), storedVerdict(fresh.Failed.Verdict()), []string{why})
			if err == nil && q.opts.SaveFailure != nil {
				err = q.opts.SaveFailure(ctx, tx, t.run.Repository, store.DirFailure{Path: t.task.Path, Basis: d.Basis, Reason: why, At: run.now})
			}
			if err == nil {
				err = q.release(ctx, tx, run, t)
			}
		case action == surveyrun.ActionGiveUp:
			err = conclude(ctx, tx, t.run.ID)
		case run.state == surveyrun.Running:
			err = q.insert(ctx, tx, run.repository, t.run.ID, t.task.Path, t.task.Band, delay)
		}
		if err != nil {
			return err
		}
		return settleDay(ctx, tx, h.day, h.last, h.reserved)
	})
}

// reportUnable notes that a worker cannot work on a ready directory: it lacks the commit, or has
// another recipe. After Options.Absent, ken gives up the directory, unless other workers
// make progress with the run.
//
// The worker's job ends, and another one is added for other workers.
func (q *Queue) reportUnable(ctx context.Context, run int64, path repo.Path, job int64, worker string, cause error) error {
	err := q.inTx(ctx, func(tx pgx.Tx) error {
		r, err := lockRun(ctx, tx, run)
		if err != nil || r.state != surveyrun.Running {
			return err
		}
		var late bool
		err = tx.QueryRow(ctx, `
			UPDATE ken.survey_directory SET absent = coalesce(absent, now()), error = $3, worker = $4
			WHERE run = $1 AND path = $2 AND state = 'ready' RETURNING absent < now() - $5::interval`,
			run, pathBytes(path), oneLine(cause), worker, q.opts.Absent).Scan(&late)
		if err != nil {
			return err
		}
		if !late {
			return q.insertInstead(ctx, tx, r, run, path, job)
		}
		var moves bool
		err = tx.QueryRow(ctx, `
			SELECT EXISTS (SELECT FROM ken.survey_directory WHERE run = $1 AND
				(state = 'taken' OR taken_at > now() - $2::interval OR state <> 'dead' AND settled_at > now() - $2::interval))`,
			run, q.opts.Absent).Scan(&moves)
		if err != nil {
			return err
		}
		if moves {
			return q.insertInstead(ctx, tx, r, run, path, job)
		}
		_, err = tx.Exec(ctx, `UPDATE ken.survey_directory SET state = 'dead', settled_at = now() WHERE run = $1 AND path = $2`, run, pathBytes(path))
		if err != nil {
			return err
		}
		return conclude(ctx, tx, run)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// oneLine returns an error as one line of limited length.
func oneLine(err error) string {
	const most = 500
	text := strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "?")), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
