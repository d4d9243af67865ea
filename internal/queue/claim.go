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

// Claim implements [Hold]. Those who claim the same come one after another, and a server that
// is away is waited for as long as the lease may hold.
func (l *till) Claim(ctx context.Context, basis fresh.Digest) error {
	for {
		var twin bool
		err := patiently(ctx, func(ctx context.Context) error {
			return l.q.in(ctx, func(tx pgx.Tx) (err error) {
				twin, err = claim(ctx, tx, l.t, basis)
				return err
			})
		})
		switch {
		case err == nil && twin:
			return surveyrun.ErrTwin
		case err == nil || errors.Is(err, errFenced):
			return err
		case !passes(err):
			return l.q.away(ctx, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(crowdedPause):
		}
	}
}

// claim notes what is to be described of a directory that is held, unless somebody describes
// the same: twin.
func claim(ctx context.Context, tx pgx.Tx, t *taken, basis fresh.Digest) (twin bool, err error) {
	key := int64(binary.LittleEndian.Uint64(basis[:])) //nolint:gosec // any number will do
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, key); err != nil {
		return false, err
	}
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM ken.survey_directory d JOIN ken.survey_run r ON r.id = d.run
			WHERE r.repository = $1 AND d.basis = $2 AND d.state = 'taken' AND d.expires > now() AND NOT (d.run = $3 AND d.path = $4))`,
		t.run.Repository, basis[:], t.run.ID, bytesOf(t.of.Path)).Scan(&twin)
	if twin || err != nil {
		return twin, err
	}
	done, err := tx.Exec(ctx, `UPDATE ken.survey_directory SET basis = $4 WHERE run = $1 AND path = $2 AND token = $3 AND state = 'taken'`,
		t.run.ID, bytesOf(t.of.Path), t.token, basis[:])
	if err == nil && done.RowsAffected() == 0 {
		err = errFenced
	}
	return false, err
}
