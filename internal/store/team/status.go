package team

import (
	"context"
	"errors"

	"ken/internal/allow"
	"ken/internal/store"
	"ken/internal/store/postgres"
)

// Status says how this clone stands with the base. What is known without the base is in it
// even when that cannot be reached; why Sync could not, if it could not, is not found out again.
func (t *Team) Status(ctx context.Context, away error) (*store.TeamStatus, error) {
	out := &store.TeamStatus{Address: t.address.String(), Pulled: t.moved.Pulled, Pushed: t.moved.Pushed}
	step := func(ctx context.Context, do func(context.Context) error) error {
		return within(ctx, patience, do)
	}
	if away == nil {
		away = t.enter(ctx, step)
	}
	if t.base != nil {
		out.Repository = t.base.Name()
	}
	// Without the base the marks that are remembered are the best there is.
	marks := t.marks
	if away != nil {
		if m, err := t.load(ctx); err == nil {
			marks = m
		}
	}
	out.Aside, out.Quarantined = marks.Aside, marks.FirstAside
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
	if away == nil {
		away = step(ctx, func(ctx context.Context) error { return t.look(ctx, out) })
	}
	if away != nil {
		out.Problem, out.Trouble = away.Error(), Trouble(away)
	} else {
		t.Reached()
	}
	return out, away
}

// Trouble says what sort of failure one is that a base was the reason for.
func Trouble(err error) store.TeamTrouble {
	_, refused := errors.AsType[*allow.Error](err)
	switch {
	case refused:
		return store.TroubleNotAllowed
	case postgres.Away(err):
		return store.TroubleAway
	case postgres.Refused(err):
		return store.TroubleRefused
	}
	return store.TroubleUnusable
}

// look asks the base what is there that is not here, and who else comes: this one first.
func (t *Team) look(ctx context.Context, out *store.TeamStatus) (err error) {
	if out.Records, err = t.base.Count(ctx); err != nil {
		return err
	}
	if out.Unpulled, err = t.base.Behind(ctx, t.marks.Pulled); err != nil {
		return err
	}
	list, err := t.base.Machines(ctx)
	if err != nil {
		return err
	}
	machine := t.machine()
	here := store.Machine{ID: machine.ID, Host: machine.Host, Worktree: t.worktree()}
	for _, m := range list {
		if m.ID == here.ID && m.Worktree == here.Worktree {
			here.Told = m.Told
			continue
		}
		out.Machines = append(out.Machines, m)
	}
	if t.opts.Bare {
		return nil
	}
	if err := t.looked(ctx, &here); err != nil {
		return err
	}
	out.Machines = append([]store.Machine{here}, out.Machines...)
	return nil
}

// looked fills in how the work tree here stands. What was told of it may be older than what is
// known, or nothing yet.
func (t *Team) looked(ctx context.Context, here *store.Machine) error {
	here.Here = true
	b, verified, err := t.opts.Local.Baseline(ctx, t.opts.Worktree)
	if err != nil {
		return err
	}
	if verified {
		here.Head, here.Verified = b.Head, b.At.UTC()
	}
	n, err := t.opts.Local.Tally(ctx, t.opts.Worktree)
	here.Files, here.Fresh, here.Stale, here.None = n.Files, n.Fresh, n.Stale, n.None
	return err
}
