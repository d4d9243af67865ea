package queue

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// StartRun stores a run, its directories and the jobs of those that are ready, all or none,
// and returns the run's id. run.Spent.Unpriced says that the price of the model is unknown.
func (q *Queue) StartRun(ctx context.Context, run surveyrun.Run, out *survey.TaskList) (id int64, err error) {
	err = q.inTx(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `
			INSERT INTO ken.survey_run (repository, commit_id, recipe, provider, model, asked_by, state, max_tokens, max_cost, unpriced)
			VALUES ($1, $2, $3, $4, $5, $6, 'running', $7, $8, $9) RETURNING id`,
			run.Repository, run.Commit.String(), run.Recipe, run.Provider, run.Model, run.By,
			run.Ceiling.Tokens, run.Ceiling.Cost, run.Spent.Unpriced,
		).Scan(&id)
		if err != nil {
			return err
		}
		var ready []survey.DirTask
		rows := make([][]any, 0, len(out.Tasks))
		for _, p := range out.Tasks {
			state := "kept"
			switch {
			case p.Work && p.Waits == 0:
				state = "ready"
				ready = append(ready, p)
			case p.Work:
				state = "waiting"
			}
			var parent, above []byte
			if p.Path != "" {
				parent = pathBytes(p.Path.Dir())
			}
			if !p.Top {
				above = pathBytes(p.Above)
			}
			rows = append(rows, []any{
				id, pathBytes(p.Path), parent, above, p.Waits, state, int16(p.Rank), int16(p.Band), storedVerdict(p.Verdict), append([]string{}, p.Reasons...), digestBytes(p.Record), //nolint:gosec // few of each
			})
		}
		columns := []string{"run", "path", "parent", "above", "waits", "state", "rank", "band", "verdict", "reasons", "record"}
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{"ken", "survey_directory"}, columns, pgx.CopyFromRows(rows)); err != nil {
			return err
		}
		return q.insertMany(ctx, tx, run.Repository, id, ready)
	})
	if err != nil {
		return 0, q.serverError(ctx, err)
	}
	return id, nil
}

// insertMany is insert for many directories at once.
func (q *Queue) insertMany(ctx context.Context, tx pgx.Tx, repository string, run int64, list []survey.DirTask) error {
	const most = 1000 // at a time, because a statement has a limited number of parameters
	for len(list) > 0 {
		n := min(len(list), most)
		params := make([]river.InsertManyParams, n)
		for i, p := range list[:n] {
			params[i] = river.InsertManyParams{
				Args:       wakeJob{run, []byte(p.Path)},
				InsertOpts: &river.InsertOpts{Queue: queueOf(repository), Priority: priority(p.Band)},
			}
		}
		res, err := q.jobs.InsertManyTx(ctx, tx, params)
		if err != nil {
			return err
		}
		paths, ids := make([][]byte, n), make([]int64, n)
		for i, r := range res {
			paths[i], ids[i] = pathBytes(list[i].Path), r.Job.ID
		}
		_, err = tx.Exec(ctx, `
			UPDATE ken.survey_directory d SET job = n.job, queued = now(), due = now()
			FROM unnest($2::bytea[], $3::bigint[]) AS n (path, job) WHERE d.run = $1 AND d.path = n.path`, run, paths, ids)
		if err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// pathBytes returns a path as the table stores it: the root is empty and not null.
func pathBytes(p repo.Path) []byte { return append([]byte{}, p...) }

// digestBytes returns a digest as the table stores it: null for the zero digest.
func digestBytes(d fresh.Digest) []byte {
	if d.IsZero() {
		return nil
	}
	return d[:]
}

func digestOf(b []byte) (d fresh.Digest) {
	copy(d[:], b)
	return d
}
