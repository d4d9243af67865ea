// Package team exchanges records between the local store and the shared store of a team.
//
// ken answers every question from the local store. A command pulls new records from the shared store
// when it begins and pushes its own records when it ends. It sends nothing else.
// Records are identified by their content, and marks remember how far each direction has come, so an
// interrupted exchange only has to be repeated. If the shared store does not answer, ken reports it
// once and waits before the next attempt. Package internal/store/postgres implements the protocol.
package team

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ken/internal/fault"
	"ken/internal/permission"
	"ken/internal/store"
	"ken/internal/store/postgres"
)

// Limits on the time that a command spends on the shared store, unless its purpose is to synchronize.
const (
	// minInterval is the shortest time between two visits. An agent that asks ten questions in a row
	// causes one visit.
	minInterval = 5 * time.Second
	// intervalFactor is the shortest time between two visits as a multiple of the duration of the last
	// one. A distant server that takes a second per visit is visited once a minute.
	intervalFactor = 50
	// StepTime is the time limit of one step: connecting, or a few hundred records. A user who waits
	// longer for a question about one file thinks that ken hangs.
	StepTime = 2 * time.Second
	// maxVisit limits all steps of a visit together. The first visit to a large store may reach it; the
	// next command then continues.
	maxVisit = 20 * time.Second
	// minRetryWait is the wait after the first failure. It doubles with each failure up to maxRetryWait,
	// so that a laptop that comes back online synchronizes within minutes.
	minRetryWait = 15 * time.Second
	maxRetryWait = 5 * time.Minute
	// syncStepTime is the time limit of one step when the user asked for the exchange.
	syncStepTime = 30 * time.Second
	// batch limits the records of a step, and maxStepBytes the bytes that a step pushes: a line of one
	// megabit per second sends them within StepTime. Other writers wait during a push.
	batch        = 1000
	maxStepBytes = 256 << 10
)

// Local is the store of this machine.
type Local interface {
	store.Records
	// SetValue stores a value with the records, so that a backup restores both or neither.
	SetValue(ctx context.Context, key, value string) error
	Value(ctx context.Context, key string) (string, error)
}

// Options names the shared store and the clone that uses it.
type Options struct {
	Address string // of the shared store
	// Refused says why ken must not contact the shared store: the repository names it, and the user has
	// not allowed it. It is nil if ken may contact it.
	Refused error
	// Repository returns the name of the repository. Team calls it at most once, on the first visit.
	Repository func(ctx context.Context) (string, error)
	Local      Local
	// StateDir is the user's directory for state that outlives a run. If it is "", no visit is remembered.
	StateDir  string
	CommonDir string // the git directory that all work trees share; it identifies the clone
	Now       func() time.Time
	// Step is the time limit of one step of a visit; 0 means StepTime.
	Step time.Duration
}

// A Team connects one clone to its shared store. It is not safe for concurrent use. It does not connect
// before the first call that needs the shared store.
type Team struct {
	opts    Options
	shared  *postgres.Store // nil before the first visit
	address postgres.Address
	last    lastVisit
	marks   marks
	hasNew  bool            // the shared store may have records that the local store lacks
	pulled  map[string]bool // the keys of the records that this run pulled
	moved   Exchanged
	bad     int  // bad records that this run ignored and has not reported yet
	visited bool // a visit of this process succeeded
}

// Exchanged counts the records that were pulled and pushed.
type Exchanged struct {
	Pulled int `json:"pulled"`
	Pushed int `json:"pushed"`
}

// Open returns a Team for opts. It fails if the address is invalid. It does not connect.
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
	t := &Team{opts: opts, address: address, pulled: make(map[string]bool)}
	t.last = t.loadLastVisit()
	return t, nil
}

// Close closes the connections to the shared store.
func (t *Team) Close() error {
	if t.shared == nil {
		return nil
	}
	return t.shared.Close()
}

// Pull pulls new records and pushes unsent ones at the start of a command, unless the last visit was
// recent or failed recently. It returns a note for the user, "" for none. It never fails, because the
// command can answer from the local store.
func (t *Team) Pull(ctx context.Context) (note string) {
	if t.opts.Refused != nil {
		return refusalNote(t.opts.Refused)
	}
	now := t.opts.Now()
	if t.last.mustWait(now) || t.last.recent(now) {
		return ""
	}
	return t.visit(ctx, func(ctx context.Context, step stepper) error {
		if err := t.pullRecords(ctx, step); err != nil {
			return err
		}
		return t.pushRecords(ctx, step)
	})
}

// Push pushes the records that the command wrote. It returns a note for the user, "" for none.
func (t *Team) Push(ctx context.Context) (note string) {
	if t.opts.Refused != nil || t.last.mustWait(t.opts.Now()) {
		return ""
	}
	unsent, err := t.unsent(ctx)
	if err != nil || !unsent {
		return "" // the command that reads the local store reports its errors
	}
	return t.visit(ctx, t.pushRecords)
}

// Sync pulls and pushes now, without a limit on the total time.
func (t *Team) Sync(ctx context.Context) (Exchanged, error) {
	t.moved = Exchanged{}
	step := func(ctx context.Context, do func(context.Context) error) error {
		return within(ctx, syncStepTime, do)
	}
	err := t.connect(ctx, step)
	if err == nil {
		err = t.pullRecords(ctx, step)
	}
	if err == nil {
		err = t.pushRecords(ctx, step)
	}
	if err == nil {
		t.last.Failures = 0
		t.last.At = t.opts.Now()
		t.saveLastVisit()
	}
	return t.moved, err
}

// VisitNext makes the next command of this clone visit the shared store, even if the last visit was recent.
// Call it after another program on this machine wrote to the shared store.
func (t *Team) VisitNext() {
	t.last.At = time.Time{}
	t.saveLastVisit()
}

// ClearFailures records that the shared store answers. After a failure, the next command then visits it
// without waiting.
func (t *Team) ClearFailures() {
	if t.last.Failures > 0 {
		t.last.Failures = 0
		t.last.At = time.Time{}
		t.saveLastVisit()
	}
}

// A stepper calls do with a time limit.
type stepper func(ctx context.Context, do func(context.Context) error) error

func within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return do(ctx)
}

// visit connects to the shared store, calls do within the time limits and records the outcome. It returns a
// note for the user, "" for none.
func (t *Team) visit(ctx context.Context, do func(context.Context, stepper) error) (note string) {
	began := t.opts.Now()
	deadline := began.Add(maxVisit)
	errTimeUp := errors.New("time limit of the visit")
	step := func(ctx context.Context, do func(context.Context) error) error {
		if t.opts.Now().After(deadline) {
			return errTimeUp
		}
		return within(ctx, t.opts.Step, do)
	}
	err := t.connect(ctx, step)
	if err == nil {
		err = do(ctx, step)
	}
	if ctx.Err() != nil {
		return "" // the user cancelled: this is no failure of the shared store
	}
	now := t.opts.Now()
	t.last.At = now
	t.last.Took = now.Sub(began)
	switch {
	case err == nil:
		t.visited = true
		t.last.Failures = 0
		if t.bad > 0 {
			note = fmt.Sprintf("ignored %d bad records of the store %s; list them with: ken share status", t.bad, t.address)
			t.bad = 0
		}
	case errors.Is(err, errTimeUp):
		t.last.At = time.Time{} // the next command continues
		note = fmt.Sprintf("the store %s has more records than one command takes over; the next command continues, or run: ken share pull", t.address)
	default:
		t.last.Failures++
		note = t.failureNote(err)
	}
	t.saveLastVisit()
	return note
}

// Visited reports whether a visit of this process succeeded.
func (t *Team) Visited() bool { return t.visited }

// refusalNote returns the note about a shared store that ken must not contact.
func refusalNote(err error) string {
	if e, ok := errors.AsType[*permission.Error](err); ok {
		return e.Note()
	}
	return err.Error()
}

// Refused returns the reason why ken must not contact the shared store, nil if there is none.
func (t *Team) Refused() error { return t.opts.Refused }

// CheckAccess returns an error if the shared store cannot be used. It waits no longer than one step of a visit,
// and writes nothing to either store.
func (t *Team) CheckAccess(ctx context.Context) error {
	if t.opts.Refused != nil {
		return t.opts.Refused
	}
	return within(ctx, t.opts.Step, func(ctx context.Context) error { return postgres.CheckAccess(ctx, t.opts.Address) })
}

// failureNote returns the note about a failed visit.
func (t *Team) failureNote(err error) string {
	note := fmt.Sprintf("%v; answered from the local store; nothing is lost", err)
	if hint := fault.HintOf(err); hint != "" && !postgres.IsUnreachable(err) {
		note += " (" + hint + ")"
	}
	return note
}
