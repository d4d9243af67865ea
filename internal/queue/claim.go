package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/surveyrun"
)

// Claim implements [surveyrun.DirLease]. Claims of the same input are serialized. While the server is
// away, it tries again until the context ends.
func (l *dirLease) Claim(ctx context.Context, basis fresh.Digest) error {
	for {
		var same bool
		err := withTimeout(ctx, func(ctx context.Context) error {
			return l.q.inTx(ctx, func(tx pgx.Tx) (err error) {
				same, err = claim(ctx, tx, l.dir, basis)
				return err
			})
		})
		switch {
		case err == nil && same:
			return surveyrun.ErrSameInput
		case err == nil || errors.Is(err, errLeaseLost):
			return err
		case !isTemporary(err):
			return l.q.serverError(ctx, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reservedPause):
		}
	}
}

// claim stores the basis of a leased directory, unless another lease has the same basis.
func claim(ctx context.Context, tx pgx.Tx, t *leasedDir, basis fresh.Digest) (same bool, err error) {
	key := int64(binary.LittleEndian.Uint64(basis[:])) //nolint:gosec // any number will do
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, key); err != nil {
		return false, err
	}
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM ken.survey_directory d JOIN ken.survey_run r ON r.id = d.run
			WHERE r.repository = $1 AND d.basis = $2 AND d.state = 'taken' AND d.expires > now() AND NOT (d.run = $3 AND d.path = $4))`,
		t.run.Repository, basis[:], t.run.ID, pathBytes(t.task.Path)).Scan(&same)
	if same || err != nil {
		return same, err
	}
	done, err := tx.Exec(ctx, `UPDATE ken.survey_directory SET basis = $4 WHERE run = $1 AND path = $2 AND token = $3 AND state = 'taken'`,
		t.run.ID, pathBytes(t.task.Path), t.token, basis[:])
	if err == nil && done.RowsAffected() == 0 {
		err = errLeaseLost
	}
	return false, err
}
