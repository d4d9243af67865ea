package team

import (
	"context"
	"errors"

	"ken/internal/permission"
	"ken/internal/store"
	"ken/internal/store/postgres"
)

// Status compares this clone with the shared store. If the shared store cannot be reached, the status has the
// local facts, and Status returns the error with it. syncErr is the error of a Sync before this call; if it is
// not nil, Status does not try again.
func (t *Team) Status(ctx context.Context, syncErr error) (*store.TeamStatus, error) {
	out := &store.TeamStatus{Address: t.address.String(), Pulled: t.moved.Pulled, Pushed: t.moved.Pushed}
	step := func(ctx context.Context, do func(context.Context) error) error {
		return within(ctx, syncStepTime, do)
	}
	failure := syncErr
	if failure == nil {
		failure = t.connect(ctx, step)
	}
	if t.shared != nil {
		out.Repository = t.shared.Name()
	}
	marks := t.marks
	if failure != nil {
		// connect may have failed before it loaded the marks.
		if m, err := t.loadMarks(ctx); err == nil {
			marks = m
		}
	}
	out.Bad, out.Quarantined = marks.Bad, marks.FirstBad
	mark := marks.Pushed
	for {
		list, next, err := t.opts.Local.Since(ctx, mark, batch)
		if err != nil {
			return out, err
		}
		if len(list) == 0 {
			break
		}
		out.Unsent += len(list)
		mark = next
	}
	if failure == nil {
		failure = step(ctx, func(ctx context.Context) error { return t.addShared(ctx, out) })
	}
	if failure != nil {
		out.Problem = failure.Error()
		out.Trouble = Trouble(failure)
	} else {
		t.ClearFailures()
	}
	return out, failure
}

// Trouble classifies an error of a visit to the shared store.
func Trouble(err error) store.TeamTrouble {
	_, refused := errors.AsType[*permission.Error](err)
	switch {
	case refused:
		return store.TroubleNotAllowed
	case postgres.IsUnreachable(err):
		return store.TroubleUnreachable
	case postgres.IsRefused(err):
		return store.TroubleRefused
	}
	return store.TroubleUnusable
}

// addShared adds the counts of the shared store to a status.
func (t *Team) addShared(ctx context.Context, out *store.TeamStatus) (err error) {
	if out.Records, err = t.shared.Count(ctx); err != nil {
		return err
	}
	out.Unpulled, err = t.shared.CountSince(ctx, t.marks.Pulled)
	return err
}
