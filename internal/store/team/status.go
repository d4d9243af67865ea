package team

import (
	"context"
	"errors"

	"ken/internal/allow"
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
	_, refused := errors.AsType[*allow.Error](err)
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

// addShared adds the counts and the machines of the shared store to a status. This machine comes first.
func (t *Team) addShared(ctx context.Context, out *store.TeamStatus) (err error) {
	if out.Records, err = t.shared.Count(ctx); err != nil {
		return err
	}
	if out.Unpulled, err = t.shared.CountSince(ctx, t.marks.Pulled); err != nil {
		return err
	}
	list, err := t.shared.Machines(ctx)
	if err != nil {
		return err
	}
	machine := t.machine()
	here := store.Machine{ID: machine.ID, Host: machine.Host, Worktree: t.worktree()}
	for _, m := range list {
		if m.ID == here.ID && m.Worktree == here.Worktree {
			here.ReportedAt = m.ReportedAt
			continue
		}
		out.Machines = append(out.Machines, m)
	}
	if t.opts.Bare {
		return nil
	}
	if err := t.addWorktree(ctx, &here); err != nil {
		return err
	}
	out.Machines = append([]store.Machine{here}, out.Machines...)
	return nil
}

// addWorktree adds the state of the local work tree, which may be newer than the state in the shared store.
func (t *Team) addWorktree(ctx context.Context, here *store.Machine) error {
	here.Here = true
	b, verified, err := t.opts.Local.LastVerification(ctx, t.opts.Worktree)
	if err != nil {
		return err
	}
	if verified {
		here.Head, here.Verified = b.Head, b.At.UTC()
	}
	n, err := t.opts.Local.Counts(ctx, t.opts.Worktree)
	here.Files, here.Fresh, here.Stale, here.None = n.Files, n.Fresh, n.Stale, n.None
	return err
}
