package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"ken/internal/surveyrun"
)

// A dirLease is the lease of a directory, with the budget of its calls.
type dirLease struct {
	q   *Queue
	dir *leasedDir
}

// errReserved says that a call does not fit under the ceiling as long as other calls have
// reservations.
var errReserved = errors.New("other calls have reserved it")

// reservedPause is the pause before the next attempt to reserve.
const reservedPause = 200 * time.Millisecond

// Reserve reserves the most that the next call can cost under the ceiling of the run and of
// the day, both or neither. If only other reservations are in the way, it waits, and
// releases its own reservation meanwhile to avoid a deadlock.
func (l *dirLease) Reserve(ctx context.Context, most, before surveyrun.Amount) error {
	next := most
	for {
		var over *ceilingError
		err := withTimeout(ctx, func(ctx context.Context) error {
			return l.q.inTx(ctx, func(tx pgx.Tx) error { return l.reserve(ctx, tx, next, before) })
		})
		switch {
		case err == nil && next == most:
			l.dir.turn++
			l.dir.unsettled = true
			return nil
		case err == nil:
			l.dir.turn++
			l.dir.unsettled = false
			next, before = most, surveyrun.Amount{}
		case errors.Is(err, errReserved) && l.dir.unsettled:
			next = surveyrun.Amount{} // release the reservation of the call before
			continue
		case errors.As(err, &over):
			return errors.Join(over, l.q.pause(ctx, l.dir.run.ID, over))
		case errors.Is(err, errLeaseLost):
			return err
		case !errors.Is(err, errReserved) && !isTemporary(err):
			return l.q.serverError(ctx, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reservedPause):
		}
	}
}

// A ceilingError says which ceiling a call would exceed.
type ceilingError struct {
	today bool // the server's ceiling of the day
	need  surveyrun.Amount
	spent surveyrun.Amount
	most  surveyrun.Ceiling
}

func (e *ceilingError) Error() string {
	whose := "the run"
	if e.today {
		whose = "the server for a day"
	}
	return fmt.Sprintf("the ceiling of %s is %s: %s spent, and the next call may cost up to %s", whose, e.most, e.spent, e.need)
}

func (e *ceilingError) Unwrap() error { return surveyrun.ErrCeiling }

func (l *dirLease) reserve(ctx context.Context, tx pgx.Tx, most, before surveyrun.Amount) error {
	t := l.dir
	run, err := lockRun(ctx, tx, t.run.ID)
	if err != nil {
		return err
	}
	h, err := lockLease(ctx, tx, t)
	switch {
	case err != nil:
		return err
	case run.state == surveyrun.Cancelled:
		return errLeaseLost
	case h.turn == t.turn+1:
		return nil // an attempt before succeeded, but its answer was lost
	}
	if !most.IsZero() {
		if err := fits(run.ceiling, run.spent.Add(before), run.reserved, h.reserved, most, false); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `
		UPDATE ken.survey_directory SET turn = turn + 1, spent_tokens = spent_tokens + $3, spent_cost = spent_cost + $4,
			reserved_tokens = $5, reserved_cost = $6, reserved_on = $7
		WHERE run = $1 AND path = $2`, t.run.ID, pathBytes(t.task.Path), before.Tokens, before.Cost, most.Tokens, most.Cost, run.today)
	if err != nil {
		return err
	}
	if err := settleRun(ctx, tx, t.run.ID, before, h.reserved, most); err != nil {
		return err
	}
	if err := settleDay(ctx, tx, h.day, before, h.reserved); err != nil {
		return err
	}
	if most.IsZero() {
		return nil
	}
	return reserveDay(ctx, tx, run.today, most)
}

// A lockedRun is a run whose row this transaction has locked.
type lockedRun struct {
	repository      string
	state           surveyrun.RunState
	spent, reserved surveyrun.Amount // spent includes assumed amounts
	ceiling         surveyrun.Ceiling
	today, now      time.Time
}

func lockRun(ctx context.Context, tx pgx.Tx, id int64) (r lockedRun, err error) {
	err = tx.QueryRow(ctx, `
		SELECT repository, state, spent_tokens + assumed_tokens, spent_cost + assumed_cost, reserved_tokens, reserved_cost,
			max_tokens, max_cost, (now() AT TIME ZONE 'UTC')::date, now()
		FROM ken.survey_run WHERE id = $1 FOR NO KEY UPDATE`, id).Scan(&r.repository, &r.state,
		&r.spent.Tokens, &r.spent.Cost, &r.reserved.Tokens, &r.reserved.Cost, &r.ceiling.Tokens, &r.ceiling.Cost, &r.today, &r.now)
	r.now = r.now.UTC()
	return r, err
}

// A leaseRow is the row of a leased directory.
type leaseRow struct {
	turn     int
	reserved surveyrun.Amount
	day      time.Time        // of the reservation, zero when there is none
	last     surveyrun.Amount // cost of the last call, not recorded yet
}

// lockLease locks the row of a leased directory. It returns errLeaseLost when the lease is
// lost. The run is locked before.
func lockLease(ctx context.Context, tx pgx.Tx, t *leasedDir) (h leaseRow, err error) {
	var day *time.Time
	err = tx.QueryRow(ctx, `
		SELECT turn, reserved_tokens, reserved_cost, reserved_on FROM ken.survey_directory
		WHERE run = $1 AND path = $2 AND token = $3 AND state = 'taken' FOR NO KEY UPDATE`,
		t.run.ID, pathBytes(t.task.Path), t.token).Scan(&h.turn, &h.reserved.Tokens, &h.reserved.Cost, &day)
	if errors.Is(err, pgx.ErrNoRows) {
		return h, errLeaseLost
	}
	if day != nil {
		h.day = *day
	}
	return h, err
}

// fits returns nil if a call fits under a ceiling, else errReserved or a ceilingError.
func fits(c surveyrun.Ceiling, spent, reserved, own, most surveyrun.Amount, today bool) error {
	others := surveyrun.Amount{Tokens: reserved.Tokens - own.Tokens, Cost: reserved.Cost - own.Cost}
	switch {
	case c.Allows(spent.Add(others).Add(most)):
		return nil
	case c.Allows(spent.Add(most)):
		return errReserved
	default:
		return &ceilingError{today: today, need: most, spent: spent, most: c}
	}
}

// settleRun records the cost of a call in its run, releases its reservation, and adds that of
// the next call.
func settleRun(ctx context.Context, tx pgx.Tx, run int64, spent, freed, next surveyrun.Amount) error {
	_, err := tx.Exec(ctx, `
		UPDATE ken.survey_run SET spent_tokens = spent_tokens + $2, spent_cost = spent_cost + $3, unpriced = unpriced OR $4,
			reserved_tokens = reserved_tokens + $5, reserved_cost = reserved_cost + $6 WHERE id = $1`,
		run, spent.Tokens, spent.Cost, spent.Unpriced, next.Tokens-freed.Tokens, next.Cost-freed.Cost)
	return err
}

// settleDay is settleRun for a day, without a next call. It does nothing for the zero day.
func settleDay(ctx context.Context, tx pgx.Tx, day time.Time, spent, freed surveyrun.Amount) error {
	if day.IsZero() {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE ken.survey_day SET spent_tokens = spent_tokens + $2, spent_cost = spent_cost + $3,
			reserved_tokens = reserved_tokens - $4, reserved_cost = reserved_cost - $5 WHERE day = $1`,
		day, spent.Tokens, spent.Cost, freed.Tokens, freed.Cost)
	return err
}

// reserveDay reserves an amount under the server's ceiling of the day.
func reserveDay(ctx context.Context, tx pgx.Tx, day time.Time, most surveyrun.Amount) error {
	var spent, reserved surveyrun.Amount
	var ceiling surveyrun.Ceiling
	err := tx.QueryRow(ctx, `
		INSERT INTO ken.survey_day AS s (day, reserved_tokens, reserved_cost) VALUES ($1, $2, $3)
		ON CONFLICT (day) DO UPDATE SET reserved_tokens = s.reserved_tokens + $2, reserved_cost = s.reserved_cost + $3
		RETURNING spent_tokens, spent_cost, reserved_tokens - $2, reserved_cost - $3,
			(SELECT max_tokens FROM ken.survey_ceiling), (SELECT max_cost FROM ken.survey_ceiling)`,
		day, most.Tokens, most.Cost).Scan(&spent.Tokens, &spent.Cost, &reserved.Tokens, &reserved.Cost, &ceiling.Tokens, &ceiling.Cost)
	if err != nil {
		return err
	}
	return fits(ceiling, spent, reserved, surveyrun.Amount{}, most, true)
}

// pause stops a run that reached a ceiling: no worker takes its directories until it is
// resumed.
func (q *Queue) pause(ctx context.Context, run int64, over *ceilingError) error {
	_, err := q.pool.Exec(ctx, `
		UPDATE ken.survey_run SET state = 'paused', why = $2, today = $3, need_tokens = $4, need_cost = $5, need_unpriced = $6
		WHERE id = $1 AND state = 'running'`, run, over.Error(), over.today, over.need.Tokens, over.need.Cost, over.need.Unpriced)
	return err
}
