// Package surveyrun has the rules of a survey that several workers share: the state of a run, the cost of a model
// call and its budget, the action after a failure, and the order in which repositories take turns.
//
// Package survey decides which directories to describe and in what order. Package queue stores runs and leases the
// work to workers.
package surveyrun

import (
	"fmt"
	"time"

	"ken/internal/repo"
)

// A Run is one survey that workers share.
type Run struct {
	ID         int64   `json:"id"`
	Repository string  `json:"repository"` // the identity of the repository
	Commit     repo.ID `json:"commit"`
	Recipe     string  `json:"recipe"` // the versions of prompt and model of all its summaries
	Provider   string  `json:"provider"`
	Model      string  `json:"model"`
	By         string  `json:"by"` // who started it

	State RunState `json:"state"`
	Why   string   `json:"why,omitempty"` // the reason of a pause or an early end

	Directories Counts  `json:"directories"`
	Calls       int64   `json:"calls"`
	Spent       Amount  `json:"spent"`    // as providers report it; of interrupted calls, the most that they can have cost
	Assumed     Amount  `json:"assumed"`  // the most that the calls of lost workers can have cost
	Reserved    Amount  `json:"reserved"` // for current calls
	Ceiling     Ceiling `json:"ceiling"`

	Started time.Time  `json:"begun_at"`
	Ended   *time.Time `json:"ended_at"`

	// Dead are the directories that ken gave up, and Blocked those that wait for them.
	Dead    []Dead          `json:"dead"`
	Blocked []repo.PathJSON `json:"blocked"`
}

// A RunState is the state of a run. The zero value is no state.
type RunState string

// The states of a run.
const (
	Running    RunState = "running"
	Paused     RunState = "paused"     // it reached a ceiling; a user can resume it
	Done       RunState = "done"       // every directory has a summary, or the model refused it
	Incomplete RunState = "incomplete" // ken gave up some directories, and others wait for them
	Cancelled  RunState = "cancelled"
)

// Stopped reports whether no worker takes directories of the run any more.
func (s RunState) Stopped() bool { return s != Running }

// Counts counts the directories of a run by their state.
type Counts struct {
	Total   int `json:"total"`
	Waiting int `json:"waiting"` // for directories below
	Ready   int `json:"ready"`
	Taken   int `json:"taken"` // leased by a worker
	Done    int `json:"done"`
	Unasked int `json:"unasked"` // of Done: without a model call
	Partial int `json:"partial"` // of Done: the model could not finish
	Failed  int `json:"failed"`  // refused by the model
	Dead    int `json:"dead"`    // given up after several attempts
}

// Finished counts the directories that need no more work.
func (c Counts) Finished() int { return c.Done + c.Failed }

// State returns the state of a run with these counts. A run with work left is running.
func (c Counts) State() RunState {
	switch {
	case c.Ready+c.Taken > 0:
		return Running
	case c.Dead > 0 || c.Waiting > 0:
		return Incomplete
	default:
		return Done
	}
}

// Summary returns the progress of a run in a few words.
func (r *Run) Summary() string {
	c := r.Directories
	text := fmt.Sprintf("%d of %d", c.Finished(), c.Total)
	if c.Taken > 0 {
		text += fmt.Sprintf(", %d under way", c.Taken)
	}
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d refused", c.Failed)
	}
	if c.Dead > 0 {
		text += fmt.Sprintf(", %d dead", c.Dead)
	}
	return text
}

// A Dead is a directory that ken gave up.
type Dead struct {
	repo.PathJSON
	Run      int64     `json:"run"`
	Attempts int       `json:"attempts"`
	Error    string    `json:"error"` // of the last attempt
	Worker   string    `json:"worker"`
	At       time.Time `json:"at"`
}

// A Day is the ceiling and the spending of all runs of a server on one day (UTC).
type Day struct {
	Day      string  `json:"day"` // such as 2026-11-15
	Ceiling  Ceiling `json:"ceiling"`
	Spent    Amount  `json:"spent"` // including assumed amounts
	Reserved Amount  `json:"reserved"`
}
