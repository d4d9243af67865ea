package queue

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// maxSweep is the most directories of one sweep.
const maxSweep = 200

// keepRuns is how long the server keeps a run that is over.
const keepRuns = 30 * 24 * time.Hour

// sweep repairs the state that lost workers left behind: directories whose lease expired, and
// ready directories of the given repositories without a job. Several workers may sweep at
// once.
func (q *Queue) sweep(ctx context.Context, repositories []string, lease time.Duration) error {
	err := errors.Join(q.sweepLeases(ctx), q.sweepOrphans(ctx, repositories, lease), q.sweepPaused(ctx))
	if err != nil {
		return err
	}
	_, err = q.pool.Exec(ctx, `DELETE FROM ken.survey_run WHERE ended < now() - $1::interval`, keepRuns)
	return err
}

type leftover struct {
	run  int64
	path repo.Path
	band survey.Rank
}

func (q *Queue) leftovers(ctx context.Context, query string, args ...any) ([]leftover, error) {
	rows, err := q.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l leftover, err error) {
		var path []byte
		var band int16
		err = row.Scan(&l.run, &path, &band)
		l.path, l.band = repo.Path(path), survey.Rank(band)
		return l, err
	})
}

// sweepLeases makes directories with an expired lease ready again. A reservation of their
// worker counts as spent, because the worker may have made the call.
func (q *Queue) sweepLeases(ctx context.Context) error {
	list, err := q.leftovers(ctx, `
		SELECT run, path, band FROM ken.survey_directory WHERE state = 'taken' AND expires < now() ORDER BY expires LIMIT $1`, maxSweep)
	if err != nil {
		return err
	}
	for _, l := range list {
		err := q.inTx(ctx, func(tx pgx.Tx) error { return q.sweepLease(ctx, tx, l) })
		if err != nil && !errors.Is(err, pgx.ErrNoRows) { // another worker swept it
			return err
		}
	}
	return nil
}

// sweepLease sweeps one directory. It returns [pgx.ErrNoRows] if another worker has swept it.
func (q *Queue) sweepLease(ctx context.Context, tx pgx.Tx, l leftover) error {
	run, err := lockRun(ctx, tx, l.run)
	if err != nil {
		return err
	}
	var h leaseRow
	var day *time.Time
	var tries int
	err = tx.QueryRow(ctx, `
		SELECT reserved_tokens, reserved_cost, reserved_on, attempts + 1 FROM ken.survey_directory
		WHERE run = $1 AND path = $2 AND state = 'taken' AND expires < now() FOR NO KEY UPDATE`,
		l.run, pathBytes(l.path)).Scan(&h.reserved.Tokens, &h.reserved.Cost, &day, &tries)
	if err != nil {
		return err
	}
	action, _ := surveyrun.ActionAfter(errVanished, tries)
	state := "ready"
	if action == surveyrun.ActionGiveUp {
		state = "dead"
	}
	_, err = tx.Exec(ctx, `
		UPDATE ken.survey_directory SET state = $3, attempts = attempts + 1, error = $4 || ' (' || worker || ')', token = NULL, expires = NULL,
			reserved_tokens = 0, reserved_cost = 0, reserved_on = NULL, settled_at = CASE $3 WHEN 'dead' THEN now() END
		WHERE run = $1 AND path = $2`, l.run, pathBytes(l.path), state, errVanished.Error())
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE ken.survey_run SET reserved_tokens = reserved_tokens - $2, reserved_cost = reserved_cost - $3,
			assumed_tokens = assumed_tokens + $2, assumed_cost = assumed_cost + $3 WHERE id = $1`, l.run, h.reserved.Tokens, h.reserved.Cost)
	if err != nil {
		return err
	}
	switch {
	case state == "dead":
		err = conclude(ctx, tx, l.run)
	case run.state == surveyrun.Running:
		err = q.insert(ctx, tx, run.repository, l.run, l.path, l.band, 0)
	}
	if err != nil || day == nil {
		return err
	}
	return settleDay(ctx, tx, *day, h.reserved, h.reserved)
}

// errVanished is the error of a directory whose worker no longer renewed its lease.
var errVanished = errors.New("the worker stopped, or lost its connection")

// sweepOrphans adds a job for each ready directory whose job is gone or lost.
func (q *Queue) sweepOrphans(ctx context.Context, repositories []string, lease time.Duration) error {
	list, err := q.leftovers(ctx, `
		SELECT d.run, d.path, d.band FROM ken.survey_run r
		JOIN ken.survey_directory d ON d.run = r.id AND d.state = 'ready'
		LEFT JOIN ken.river_job j ON j.id = d.job
		WHERE r.repository = ANY ($1) AND r.state = 'running' AND d.queued < now() - $2::interval
			AND (j.id IS NULL OR j.state IN ('completed', 'cancelled', 'discarded') OR j.state = 'running' AND j.attempted_at < now() - $2::interval
				-- A machine with a wrong clock delayed the job, or should have released it by now.
				OR j.state <> 'running' AND j.scheduled_at > greatest(d.due, now()) + $2::interval
				OR j.state IN ('scheduled', 'retryable') AND greatest(j.scheduled_at, d.due) < now() - $2::interval)
		LIMIT $3`, repositories, lease, maxSweep)
	if err != nil {
		return err
	}
	for _, l := range list {
		err := q.inTx(ctx, func(tx pgx.Tx) error {
			run, err := lockRun(ctx, tx, l.run)
			if err != nil || run.state != surveyrun.Running {
				return err
			}
			var ready bool
			err = tx.QueryRow(ctx, `SELECT state = 'ready' AND queued < now() - $3::interval FROM ken.survey_directory WHERE run = $1 AND path = $2 FOR NO KEY UPDATE`,
				l.run, pathBytes(l.path), lease).Scan(&ready)
			if err != nil || !ready {
				return err
			}
			return q.insert(ctx, tx, run.repository, l.run, l.path, l.band, 0)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepPaused resumes runs that the ceiling of a day paused, once they fit under it.
func (q *Queue) sweepPaused(ctx context.Context) error {
	rows, err := q.pool.Query(ctx, `
		SELECT r.id FROM ken.survey_run r CROSS JOIN ken.survey_ceiling c
		LEFT JOIN ken.survey_day d ON d.day = (now() AT TIME ZONE 'UTC')::date
		WHERE r.state = 'paused' AND r.today
			AND (c.max_tokens IS NULL OR coalesce(d.spent_tokens + d.reserved_tokens, 0) + r.need_tokens <= c.max_tokens)
			AND (c.max_cost IS NULL OR NOT r.need_unpriced AND coalesce(d.spent_cost + d.reserved_cost, 0) + r.need_cost <= c.max_cost)`)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for _, id := range ids {
		err := q.inTx(ctx, func(tx pgx.Tx) error {
			r, err := lockRun(ctx, tx, id)
			if err != nil || r.state != surveyrun.Paused {
				return err // another worker resumed it
			}
			return q.resume(ctx, tx, id, r.repository)
		})
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
	}
	return nil
}
