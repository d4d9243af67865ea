// Package team keeps a local store in step with the base of a team.
//
// Every answer comes from the local store; the base is where machines meet. What is new there
// is taken over when a command begins, what was written here is handed over when it ends, and
// how the work tree stands is told along the way. All of it is a union of records named by
// content, taken up where a mark says, so that being cut off at any point costs nothing but
// doing it again. A base that is away is noted once and left alone for a while. How a base
// is spoken to belongs to internal/store/postgres.
package team

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"ken/internal/allow"
	"ken/internal/fault"
	"ken/internal/store"
	"ken/internal/store/postgres"
)

// Bounds of what a command that was about something else spends on the base.
const (
	// every is how long what came from the base is new enough. An agent that asks ten
	// questions in a row goes there once.
	every = 5 * time.Second
	// timesAsLong is how much longer than a visit it is left alone afterwards: a base at the other
	// end of the world takes a second each time, and is asked every minute.
	timesAsLong = 50
	// StepTime is how long one step may take before the base counts as away: connecting, or some
	// hundred records. Who waits longer for a question about one file thinks that ken hangs.
	StepTime = 2 * time.Second
	// visitMost is how long all steps may take together. The first visit to a large base is the
	// one that needs it; the next command goes on where this one stopped.
	visitMost = 20 * time.Second
	// rowsEvery is how often rows are handed over: nobody's answer depends on them.
	rowsEvery = time.Minute
	// rowsMost is how many go at a time, unless that was asked for: a second or so.
	rowsMost = 20_000
	// away is how long a base that did not answer is left alone, twice as long each time up
	// to longAway. Who comes back on line waits no longer than for a mail.
	away     = 15 * time.Second
	longAway = 5 * time.Minute
	// patience is StepTime for somebody who has asked for nothing else.
	patience = 30 * time.Second
	// batch is how many records go in a step, and stepBytes how many bytes of them are handed over
	// in one: a line of one megabit a second takes StepTime for that. Whoever hands over holds up
	// the others meanwhile.
	batch     = 1000
	stepBytes = 256 << 10
)

// Local is the store of this machine.
type Local interface {
	store.Records
	Baseline(ctx context.Context, worktree string) (store.Verification, bool, error)
	Rows(ctx context.Context, worktree string) iter.Seq2[store.FileRow, error]
	Tally(ctx context.Context, worktree string) (store.FileCounts, error)
	// Remember keeps a value beside the records, to be lost and put back with them.
	Remember(ctx context.Context, key, value string) error
	Remembered(ctx context.Context, key string) (string, error)
}

// Options says which base, and for whom.
type Options struct {
	Address string // of the base
	// Refused says why the base must not be contacted: the repository names it, and the user has
	// not allowed that. Nil when it may be.
	Refused error
	// Repository names the repository. It is called once, when it is needed.
	Repository func(ctx context.Context) (string, error)
	Local      Local
	// StateDir is the user's directory for state that outlives a run; "" when there is none,
	// and so no memory of when the base was away.
	StateDir  string
	CommonDir string // the git directory that all work trees share, which names the clone
	Bare      bool   // there is no work tree
	Root      string // of the work tree
	Worktree  string // the work tree's name, "" for the main one
	Now       func() time.Time
	// Step is how long one step of a visit may take; StepTime when 0.
	Step time.Duration
}

// A Team is one clone's way to its base. It is for one goroutine. Nothing is looked at before
// the first call.
type Team struct {
	opts    Options
	base    *postgres.Store
	address postgres.Address
	memory  memory
	marks   marks
	news    bool            // the base may have something that is not here
	arrived map[string]bool // what came from the base in this run
	moved   Moved
	aside   int  // what came from the base in this run and was not taken over
	visited bool // a visit of this process succeeded
}

// Moved counts the records that went each way.
type Moved struct {
	Pulled int `json:"pulled"`
	Pushed int `json:"pushed"`
}

// Open returns the way to a base. An address that cannot be read is an error.
func Open(opts Options) (*Team, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Step == 0 {
		opts.Step = StepTime
	}
	address, err := postgres.Parse(opts.Address)
	if err != nil {
		return nil, err
	}
	t := &Team{opts: opts, address: address, arrived: make(map[string]bool)}
	t.memory = t.recall()
	return t, nil
}

// Close lets go of the base.
func (t *Team) Close() error {
	if t.base == nil {
		return nil
	}
	return t.base.Close()
}

// clone names this clone among those of the machine.
func (t *Team) clone() string {
	sum := sha256.Sum256([]byte(t.opts.CommonDir))
	return hex.EncodeToString(sum[:3])
}

// worktree names the work tree among those of the machine.
func (t *Team) worktree() string {
	name := filepath.Base(t.opts.Root) + "-" + t.clone()
	if t.opts.Worktree != "" {
		name += "/" + t.opts.Worktree
	}
	return name
}

// Arrive takes over what is new in the base and hands over what is not there yet, unless that
// was done a moment ago or the base is away. It returns what a person should be told, "" for
// nothing: it never fails, because the local store answers without it.
func (t *Team) Arrive(ctx context.Context) (note string) {
	if t.opts.Refused != nil {
		return refusal(t.opts.Refused)
	}
	now := t.opts.Now()
	if t.memory.away(now) || t.memory.recent(now) {
		return ""
	}
	return t.visit(ctx, func(ctx context.Context, step stepper) error {
		if err := t.pull(ctx, step); err != nil {
			return err
		}
		if err := t.push(ctx, step); err != nil {
			return err
		}
		return t.tell(ctx, step, false)
	})
}

// Leave hands over what was written since, if anything was. It returns what a person should be
// told.
func (t *Team) Leave(ctx context.Context) (note string) {
	if t.opts.Refused != nil || t.memory.away(t.opts.Now()) {
		return ""
	}
	unsent, err := t.unsent(ctx)
	if err != nil || !unsent {
		return "" // what cannot be read now has been reported by who needed it
	}
	return t.visit(ctx, func(ctx context.Context, step stepper) error {
		if err := t.push(ctx, step); err != nil {
			return err
		}
		return t.tell(ctx, step, false)
	})
}

// Sync does all of it now, however long it takes.
func (t *Team) Sync(ctx context.Context) (Moved, error) {
	t.moved = Moved{}
	step := func(ctx context.Context, do func(context.Context) error) error {
		return within(ctx, patience, do)
	}
	err := t.enter(ctx, step)
	if err == nil {
		err = t.pull(ctx, step)
	}
	if err == nil {
		err = t.push(ctx, step)
	}
	if err == nil {
		err = t.tell(ctx, step, true)
	}
	if err == nil {
		t.memory.Failures, t.memory.At = 0, t.opts.Now()
		t.keep()
	}
	return t.moved, err
}

// Due has the next command of this clone go to the base, however recently one did: somebody else
// of this machine has written there.
func (t *Team) Due() {
	t.memory.At = time.Time{}
	t.keep()
}

// Reached says that the base answers: if it was left alone because it did not, the next command of
// this clone goes there.
func (t *Team) Reached() {
	if t.memory.Failures > 0 {
		t.memory.Failures, t.memory.At = 0, time.Time{}
		t.keep()
	}
}

// A stepper bounds one step in time.
type stepper func(ctx context.Context, do func(context.Context) error) error

func within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return do(ctx)
}

// visit goes to the base in bounded time, and remembers how that went.
func (t *Team) visit(ctx context.Context, do func(context.Context, stepper) error) (note string) {
	began := t.opts.Now()
	deadline := began.Add(visitMost)
	errEnough := errors.New("enough for now")
	step := func(ctx context.Context, do func(context.Context) error) error {
		if t.opts.Now().After(deadline) {
			return errEnough
		}
		return within(ctx, t.opts.Step, do)
	}
	err := t.enter(ctx, step)
	if err == nil {
		err = do(ctx, step)
	}
	if ctx.Err() != nil {
		return "" // it was not the base that gave up
	}
	now := t.opts.Now()
	t.memory.At, t.memory.Took = now, now.Sub(began)
	switch {
	case err == nil:
		t.visited = true
		t.memory.Failures = 0
		if t.aside > 0 {
			note = fmt.Sprintf("ignored %d bad records of the store %s; list them with: ken share status", t.aside, t.address)
			t.aside = 0
		}
	case errors.Is(err, errEnough):
		t.memory.At = time.Time{} // the next command goes on
		note = fmt.Sprintf("the store %s has more records than one command takes over; the next command continues, or run: ken share pull", t.address)
	default:
		t.memory.Failures++
		note = t.said(err)
	}
	t.keep()
	return note
}

// Visited reports whether this process reached the base.
func (t *Team) Visited() bool { return t.visited }

// refusal is what a person is told of a base that must not be contacted.
func refusal(err error) string {
	if e, ok := errors.AsType[*allow.Error](err); ok {
		return e.Note()
	}
	return err.Error()
}

// Refused says why the base must not be contacted; nil when it may be.
func (t *Team) Refused() error { return t.opts.Refused }

// Reach says why the base cannot be used, nil when it can. It waits no longer than a command that
// was about something else, and writes nothing, neither here nor there.
func (t *Team) Reach(ctx context.Context) error {
	if t.opts.Refused != nil {
		return t.opts.Refused
	}
	return within(ctx, t.opts.Step, func(ctx context.Context) error { return postgres.Reach(ctx, t.opts.Address) })
}

// said is what a person is told of a failure.
func (t *Team) said(err error) string {
	note := fmt.Sprintf("%v; answered from the local store; nothing is lost", err)
	if hint := fault.HintOf(err); hint != "" && !postgres.Away(err) {
		note += " (" + hint + ")"
	}
	return note
}
