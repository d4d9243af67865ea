package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// Runs returns the newest runs of a repository, or of all when it is "", newest first.
func (q *Queue) Runs(ctx context.Context, repository string, most int) ([]surveyrun.Run, error) {
	rows, err := q.pool.Query(ctx, `
		SELECT id FROM ken.survey_run WHERE $1 = '' OR repository = $1 ORDER BY id DESC LIMIT $2`, repository, most)
	if err != nil {
		return nil, q.serverError(ctx, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, q.serverError(ctx, err)
	}
	runs := make([]surveyrun.Run, 0, len(ids))
	for _, id := range ids {
		r, err := q.Run(ctx, repository, id)
		if err != nil {
			return nil, err
		}
		runs = append(runs, *r)
	}
	return runs, nil
}

// Run returns a run of a repository, or of any when that is "".
func (q *Queue) Run(ctx context.Context, repository string, id int64) (*surveyrun.Run, error) {
	r := &surveyrun.Run{Dead: []surveyrun.Dead{}, Blocked: []repo.PathJSON{}}
	err := pgx.BeginTxFunc(ctx, q.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if err := scanRun(ctx, tx, id, r); err != nil {
			return err
		}
		if !matchesRepository(repository, r.Repository) {
			return pgx.ErrNoRows
		}
		c := &r.Directories
		err := tx.QueryRow(ctx, `
			SELECT count(*) FILTER (WHERE state <> 'kept'), count(*) FILTER (WHERE state = 'waiting'), count(*) FILTER (WHERE state = 'ready'),
				count(*) FILTER (WHERE state = 'taken'), count(*) FILTER (WHERE state IN ('done', 'partial')),
				count(*) FILTER (WHERE state = 'done' AND calls = 0), count(*) FILTER (WHERE state = 'partial'),
				count(*) FILTER (WHERE state = 'failed'), count(*) FILTER (WHERE state = 'dead')
			FROM ken.survey_directory WHERE run = $1`, id).
			Scan(&c.Total, &c.Waiting, &c.Ready, &c.Taken, &c.Done, &c.Unasked, &c.Partial, &c.Failed, &c.Dead)
		if err != nil || c.Dead == 0 {
			return err
		}
		if r.Dead, err = scanDead(ctx, tx, `WHERE run = $1 AND state = 'dead' ORDER BY path LIMIT $2`, id, maxDead); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT path FROM ken.survey_directory WHERE run = $1 AND state = 'waiting' ORDER BY path LIMIT $2`, id, maxDead)
		if err != nil {
			return err
		}
		if r.State == surveyrun.Incomplete {
			r.Blocked, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (repo.PathJSON, error) {
				var path []byte
				err := row.Scan(&path)
				return repo.DirLabel(repo.Path(path)).JSON(), err
			})
		}
		rows.Close()
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, noRun(repository, id)
	}
	if err != nil {
		return nil, q.serverError(ctx, err)
	}
	return r, nil
}

// maxDead is the most dead directories that are listed with a run.
const maxDead = 100

// matchesRepository reports whether asked is the repository, or "" for all.
func matchesRepository(asked, repository string) bool { return asked == "" || asked == repository }

func noRun(repository string, id int64) error {
	err := &fault.Error{Kind: fault.Usage, Hint: "list runs with: ken worker runs", Err: fmt.Errorf("no run %d", id)}
	if repository != "" {
		err.Hint += ", or of all repositories with --all"
		err.Err = fmt.Errorf("no run %d in this repository", id)
	}
	return err
}

func scanRun(ctx context.Context, tx interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, id int64, r *surveyrun.Run,
) error {
	var commit string
	err := tx.QueryRow(ctx, `
		SELECT id, repository, commit_id, recipe, provider, model, asked_by, state, why, calls, unpriced,
			spent_tokens, spent_cost, assumed_tokens, assumed_cost, reserved_tokens, reserved_cost, max_tokens, max_cost, begun, ended
		FROM ken.survey_run WHERE id = $1`, id).
		Scan(&r.ID, &r.Repository, &commit, &r.Recipe, &r.Provider, &r.Model, &r.By, &r.State, &r.Why, &r.Calls, &r.Spent.Unpriced,
			&r.Spent.Tokens, &r.Spent.Cost, &r.Assumed.Tokens, &r.Assumed.Cost, &r.Reserved.Tokens, &r.Reserved.Cost,
			&r.Ceiling.Tokens, &r.Ceiling.Cost, &r.Started, &r.Ended)
	if err != nil {
		return err
	}
	// A run uses one model.
	r.Assumed.Unpriced = r.Spent.Unpriced && r.Assumed.Tokens > 0
	r.Reserved.Unpriced = r.Spent.Unpriced && r.Reserved.Tokens > 0
	r.Started = r.Started.UTC()
	r.Commit, err = repo.ParseID(commit)
	return err
}

// Dead lists the directories that ken gave up, of one run or of all when it is 0, of one
// repository or of all when it is "".
func (q *Queue) Dead(ctx context.Context, repository string, run int64) ([]surveyrun.Dead, error) {
	if run != 0 {
		if _, err := q.Run(ctx, repository, run); err != nil {
			return nil, err
		}
	}
	list, err := scanDead(ctx, q.pool, `
		WHERE state = 'dead' AND ($1 = 0 OR run = $1) AND ($2 = '' OR run IN (SELECT id FROM ken.survey_run WHERE repository = $2))
		ORDER BY run DESC, path LIMIT $3`, run, repository, 10*maxDead)
	if err != nil {
		return nil, q.serverError(ctx, err)
	}
	return list, nil
}

func scanDead(ctx context.Context, tx interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, which string, args ...any,
) ([]surveyrun.Dead, error) {
	rows, err := tx.Query(ctx, `SELECT run, path, attempts, error, worker, coalesce(settled_at, now()) FROM ken.survey_directory `+which, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d surveyrun.Dead, err error) {
		var path []byte
		err = row.Scan(&d.Run, &path, &d.Attempts, &d.Error, &d.Worker, &d.At)
		d.PathJSON, d.At = repo.DirLabel(repo.Path(path)).JSON(), d.At.UTC()
		return d, err
	})
}

// Retry makes the dead directories of a run ready again, and returns how many. The run must be
// of the repository, unless that is "".
func (q *Queue) Retry(ctx context.Context, repository string, run int64) (n int, err error) {
	err = q.changeRun(ctx, repository, run, func(tx pgx.Tx, r lockedRun) error {
		if r.state == surveyrun.Cancelled {
			return &fault.Error{Kind: fault.Usage, Hint: "start a new run with: ken survey run --workers", Err: fmt.Errorf("run %d was cancelled", run)}
		}
		tag, err := tx.Exec(ctx, `
			UPDATE ken.survey_directory SET state = 'ready', attempts = 0, absent = NULL, settled_at = NULL WHERE run = $1 AND state = 'dead'`, run)
		if n = int(tag.RowsAffected()); err != nil || n == 0 {
			return err
		}
		return q.resume(ctx, tx, run, r.repository)
	})
	return n, err
}

// Resume continues a run that a ceiling paused. The parts of c that are not nil replace the
// ceiling of the run. The run must be of the repository, unless that is "".
func (q *Queue) Resume(ctx context.Context, repository string, run int64, c surveyrun.Ceiling) error {
	return q.changeRun(ctx, repository, run, func(tx pgx.Tx, r lockedRun) error {
		_, err := tx.Exec(ctx, `UPDATE ken.survey_run SET max_tokens = coalesce($2, max_tokens), max_cost = coalesce($3, max_cost) WHERE id = $1`, run, c.Tokens, c.Cost)
		if err != nil || r.state == surveyrun.Running {
			return err
		}
		if r.state != surveyrun.Paused {
			return &fault.Error{Kind: fault.Usage, Hint: fmt.Sprintf("show it with: ken worker runs %d", run), Err: fmt.Errorf("run %d is not paused (%s)", run, r.state)}
		}
		return q.resume(ctx, tx, run, r.repository)
	})
}

// Cancel ends a run. Workers stop working on it; its finished summaries stay. The run must be of
// the repository, unless that is "".
func (q *Queue) Cancel(ctx context.Context, repository string, run int64, who string) error {
	return q.changeRun(ctx, repository, run, func(tx pgx.Tx, r lockedRun) error {
		if r.state != surveyrun.Running && r.state != surveyrun.Paused {
			return &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("run %d is already over (%s)", run, r.state)}
		}
		_, err := tx.Exec(ctx, `UPDATE ken.survey_run SET state = 'cancelled', why = $2, ended = now(), today = false WHERE id = $1`, run, "cancelled by "+who)
		return err
	})
}

// changeRun locks a run and calls f.
func (q *Queue) changeRun(ctx context.Context, repository string, run int64, f func(tx pgx.Tx, r lockedRun) error) error {
	err := q.inTx(ctx, func(tx pgx.Tx) error {
		r, err := lockRun(ctx, tx, run)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && !matchesRepository(repository, r.repository) {
			return noRun(repository, run)
		}
		if err != nil {
			return err
		}
		return f(tx, r)
	})
	if err == nil || fault.KindOf(err) == fault.Usage {
		return err
	}
	return q.serverError(ctx, err)
}

// resume sets a run to running and adds the jobs of its ready directories.
func (q *Queue) resume(ctx context.Context, tx pgx.Tx, run int64, repository string) error {
	if _, err := tx.Exec(ctx, `UPDATE ken.survey_run SET state = 'running', why = '', today = false, ended = NULL WHERE id = $1`, run); err != nil {
		return err
	}
	// No worker could take a directory during the pause.
	if _, err := tx.Exec(ctx, `UPDATE ken.survey_directory SET absent = NULL WHERE run = $1 AND state = 'ready' AND absent IS NOT NULL`, run); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `SELECT `+taskColumns+` FROM ken.survey_directory d WHERE d.run = $1 AND d.state = 'ready'`, run)
	if err != nil {
		return err
	}
	ready, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (survey.DirTask, error) { return scanTask(row) })
	if err != nil {
		return err
	}
	return q.insertMany(ctx, tx, repository, run, ready)
}

// Today returns the spending and the ceiling of all runs on this day (UTC).
func (q *Queue) Today(ctx context.Context) (surveyrun.Day, error) {
	var d surveyrun.Day
	var day time.Time
	var unpriced bool // a run with a model of unknown price had work today
	err := q.pool.QueryRow(ctx, `
		SELECT (now() AT TIME ZONE 'UTC')::date, c.max_tokens, c.max_cost, coalesce(d.spent_tokens, 0), coalesce(d.spent_cost, 0),
			coalesce(d.reserved_tokens, 0), coalesce(d.reserved_cost, 0),
			EXISTS (SELECT FROM ken.survey_run r JOIN ken.survey_directory w ON w.run = r.id
				WHERE r.unpriced AND (r.ended IS NULL OR r.ended >= begins.at) AND greatest(w.taken_at, w.settled_at) >= begins.at)
		FROM ken.survey_ceiling c CROSS JOIN (SELECT date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC') AS begins (at)
		LEFT JOIN ken.survey_day d ON d.day = (now() AT TIME ZONE 'UTC')::date`).
		Scan(&day, &d.Ceiling.Tokens, &d.Ceiling.Cost, &d.Spent.Tokens, &d.Spent.Cost, &d.Reserved.Tokens, &d.Reserved.Cost, &unpriced)
	if err != nil {
		return d, q.serverError(ctx, err)
	}
	d.Spent.Unpriced, d.Reserved.Unpriced = unpriced && d.Spent.Tokens > 0, unpriced && d.Reserved.Tokens > 0
	d.Day = day.Format(time.DateOnly)
	return d, nil
}

// SetCeiling sets the ceiling of all runs together on a day.
func (q *Queue) SetCeiling(ctx context.Context, c surveyrun.Ceiling) error {
	_, err := q.pool.Exec(ctx, `UPDATE ken.survey_ceiling SET max_tokens = $1, max_cost = $2`, c.Tokens, c.Cost)
	switch {
	case isPermissionDenied(err):
		return q.permissionError(ctx, err, lookRights, ceilingRights)
	case err != nil:
		return q.serverError(ctx, err)
	}
	if err := q.sweepPaused(ctx); err != nil {
		return q.serverError(ctx, err)
	}
	return nil
}
