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

// A leasedDir is a directory that this worker has.
type leasedDir struct {
	run      surveyrun.Run
	task     survey.DirTask
	below    []survey.DirTask
	token    string
	failures int // failed attempts before
	turn     int // number of reservations
	// unsettled says that there is a reservation for a call whose cost is not recorded yet.
	unsettled bool
}

// errLeaseLost means that this worker no longer has the lease of a directory.
var errLeaseLost = errors.New("the lease is lost")

// take leases a directory that is ready. It returns nil when the directory is not: another
// worker has it, it is done, or its run is over. Taking it again with the same token, because
// the answer was lost, finds the lease.
func (q *Queue) take(ctx context.Context, run surveyrun.Run, path repo.Path, worker, token string, lease time.Duration) (*leasedDir, error) {
	t := &leasedDir{run: run, token: token}
	err := q.inTx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			UPDATE ken.survey_directory d SET state = 'taken', token = $3, worker = $4, expires = now() + $5, taken_at = now(), absent = NULL, turn = 0, basis = NULL
			FROM ken.survey_run r WHERE d.run = $1 AND d.path = $2 AND (d.state = 'ready' OR d.state = 'taken' AND d.token = $3)
				AND r.id = d.run AND r.state = 'running'
			RETURNING `+taskColumns+`, d.attempts`, run.ID, pathBytes(path), token, worker, lease)
		if err != nil {
			return err
		}
		if t.task, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (survey.DirTask, error) { return scanTask(row, &t.failures) }); err != nil {
			return err
		}
		rows, err = tx.Query(ctx, `SELECT `+taskColumns+` FROM ken.survey_directory d WHERE d.run = $1 AND d.parent = $2 ORDER BY d.path`, run.ID, pathBytes(path))
		if err != nil {
			return err
		}
		t.below, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (survey.DirTask, error) { return scanTask(row) })
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return t, err
}

const taskColumns = `d.path, d.above, d.state <> 'kept', d.waits, d.rank, d.band, d.verdict, d.reasons, d.record`

func scanTask(row pgx.CollectableRow, more ...any) (p survey.DirTask, err error) {
	var path, above, record []byte
	var rank, band, verdict int16
	err = row.Scan(append([]any{&path, &above, &p.Work, &p.Waits, &rank, &band, &verdict, &p.Reasons, &record}, more...)...)
	p.Path, p.Above, p.Top, p.Record = repo.Path(path), repo.Path(above), above == nil, digestOf(record)
	p.Rank, p.Band, p.Verdict = survey.Rank(rank), survey.Rank(band), verdictOf(verdict) //nolint:gosec // as it was written
	return p, err
}

// renew extends leases, and returns the tokens of those that it could not extend: they were
// lost, or their run was cancelled. It skips rows that are locked, so that a directory that
// ends right now does not delay the others.
func (q *Queue) renew(ctx context.Context, held []*leasedDir, lease time.Duration) (lost map[string]bool, err error) {
	runs, paths, tokens := make([]int64, len(held)), make([][]byte, len(held)), make([]string, len(held))
	lost = make(map[string]bool)
	for i, t := range held {
		runs[i], paths[i], tokens[i] = t.run.ID, pathBytes(t.task.Path), t.token
		lost[t.token] = true
	}
	rows, err := q.pool.Query(ctx, `
		WITH held AS (
			SELECT d.run, d.path, d.token FROM unnest($1::bigint[], $2::bytea[], $3::text[]) AS h (run, path, token)
			JOIN ken.survey_directory d USING (run, path, token) JOIN ken.survey_run r ON r.id = d.run
			WHERE d.state = 'taken' AND r.state <> 'cancelled'
		), free AS (
			SELECT d.run, d.path FROM ken.survey_directory d JOIN held USING (run, path)
			WHERE d.token = held.token AND d.state = 'taken' FOR NO KEY UPDATE OF d SKIP LOCKED
		), renewed AS (
			UPDATE ken.survey_directory d SET expires = now() + $4::interval FROM free WHERE d.run = free.run AND d.path = free.path
		)
		SELECT token FROM held`, runs, paths, tokens, lease)
	if err != nil {
		return nil, err
	}
	kept, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, token := range kept {
		delete(lost, token)
	}
	return lost, err
}
