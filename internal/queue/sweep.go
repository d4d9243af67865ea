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

// sweepMost is how many directories are swept at a time.
const sweepMost = 200

// keepRuns is how long a run that is over stays to be looked at.
const keepRuns = 30 * 24 * time.Hour

// sweep puts right what workers that vanished have left, in the repositories given:
// directories whose lease has run out, and those that are ready with nobody told. Any
// number of workers may sweep at once.
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

// sweepLeases makes directories ready again whose lease has run out. What their worker had
// set aside for a call counts as spent: the call may have been made.
func (q *Queue) sweepLeases(ctx context.Context) error {
	list, err := q.leftovers(ctx, `
		SELECT run, path, band FROM ken.survey_directory WHERE state = 'taken' AND expires < now() ORDER BY expires LIMIT $1`, sweepMost)
	if err != nil {
		return err
	}
	for _, l := range list {
		err := q.in(ctx, func(tx pgx.Tx) error { return q.sweepLease(ctx, tx, l) })
		if err != nil && !errors.Is(err, pgx.ErrNoRows) { // somebody else swept it
			return err
		}
	}
	return nil
}

// sweepLease does so with one of them. Where there is no such row, somebody else has swept it.
func (q *Queue) sweepLease(ctx context.Context, tx pgx.Tx, l leftover) error {
	run, err := lockRun(ctx, tx, l.run)
	if err != nil {
		return err
	}
	var h held
	var day *time.Time
	var tries int
	err = tx.QueryRow(ctx, `
		SELECT reserved_tokens, reserved_cost, reserved_on, attempts + 1 FROM ken.survey_directory
		WHERE run = $1 AND path = $2 AND state = 'taken' AND expires < now() FOR NO KEY UPDATE`,
		l.run, bytesOf(l.path)).Scan(&h.reserved.Tokens, &h.reserved.Cost, &day, &tries)
	if err != nil {
		return err
	}
	fate, _ := surveyrun.FateOf(errVanished, tries)
	state := "ready"
	if fate == surveyrun.GivenUp {
		state = "dead"
	}
	_, err = tx.Exec(ctx, `
		UPDATE ken.survey_directory SET state = $3, attempts = attempts + 1, error = $4 || ' (' || worker || ')', token = NULL, expires = NULL,
			reserved_tokens = 0, reserved_cost = 0, reserved_on = NULL, settled_at = CASE $3 WHEN 'dead' THEN now() END
		WHERE run = $1 AND path = $2`, l.run, bytesOf(l.path), state, errVanished.Error())
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

// errVanished is why a directory was not described whose worker gave no sign of life.
var errVanished = errors.New("the worker vanished, or lost its connection")

// sweepOrphans has workers told of directories that are ready and that nobody will hear of:
// whoever was told is gone.
func (q *Queue) sweepOrphans(ctx context.Context, repositories []string, lease time.Duration) error {
	list, err := q.leftovers(ctx, `
		SELECT d.run, d.path, d.band FROM ken.survey_run r
		JOIN ken.survey_directory d ON d.run = r.id AND d.state = 'ready'
		LEFT JOIN ken.river_job j ON j.id = d.job
		WHERE r.repository = ANY ($1) AND r.state = 'running' AND d.queued < now() - $2::interval
			AND (j.id IS NULL OR j.state IN ('completed', 'cancelled', 'discarded') OR j.state = 'running' AND j.attempted_at < now() - $2::interval
				-- A machine whose clock is wrong has put it off, or should have let it come by now.
				OR j.state <> 'running' AND j.scheduled_at > greatest(d.due, now()) + $2::interval
				OR j.state IN ('scheduled', 'retryable') AND greatest(j.scheduled_at, d.due) < now() - $2::interval)
		LIMIT $3`, repositories, lease, sweepMost)
	if err != nil {
		return err
	}
	for _, l := range list {
		err := q.in(ctx, func(tx pgx.Tx) error {
			run, err := lockRun(ctx, tx, l.run)
			if err != nil || run.state != surveyrun.Running {
				return err
			}
			var ready bool
			err = tx.QueryRow(ctx, `SELECT state = 'ready' AND queued < now() - $3::interval FROM ken.survey_directory WHERE run = $1 AND path = $2 FOR NO KEY UPDATE`,
				l.run, bytesOf(l.path), lease).Scan(&ready)
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

// sweepPaused resumes what the day's ceiling has paused, once there is room for it.
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
		err := q.in(ctx, func(tx pgx.Tx) error {
			r, err := lockRun(ctx, tx, id)
			if err != nil || r.state != surveyrun.Paused {
				return err // somebody else was quicker
			}
			return q.begin(ctx, tx, id, r.repository)
		})
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
	}
	return nil
}
