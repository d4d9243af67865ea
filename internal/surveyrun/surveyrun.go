// Package surveyrun has the rules of a survey that several workers share: the state of a
// run, the cost of a model call and the budget that pays it, what to do after a failure,
// and which repository's turn it is.
//
// Package survey decides which directories to describe and in what order. Package queue
// stores runs and hands out the work.
package surveyrun

import (
	"fmt"
	"time"

	"ken/internal/repo"
)

// A Run is one survey that is handed out.
type Run struct {
	ID         int64   `json:"id"`
	Repository string  `json:"repository"` // its identity
	Commit     repo.ID `json:"commit"`
	Recipe     string  `json:"recipe"` // the prompt and the model: of all that is written
	Provider   string  `json:"provider"`
	Model      string  `json:"model"`
	By         string  `json:"by"` // who asked for it
	About      string  `json:"-"`  // what the repository seems to be

	State RunState `json:"state"`
	Why   string   `json:"why,omitempty"` // it is paused, or over before all was done

	Directories Counts  `json:"directories"`
	Calls       int64   `json:"calls"`
	Spent       Amount  `json:"spent"`    // that providers told; of calls that broke off, the most
	Assumed     Amount  `json:"assumed"`  // of calls whose worker vanished: the most that they can have cost
	Reserved    Amount  `json:"reserved"` // for calls under way
	Ceiling     Ceiling `json:"ceiling"`

	Begun time.Time  `json:"begun_at"`
	Ended *time.Time `json:"ended_at"`

	// Dead are the directories that were given up, and Blocked those that wait for them.
	Dead    []Dead          `json:"dead"`
	Blocked []repo.PathJSON `json:"blocked"`
}

// A RunState is how a run stands. Its zero value is none.
type RunState string

// The states of a run.
const (
	Running    RunState = "running"
	Paused     RunState = "paused"     // a ceiling was reached; somebody can resume it
	Done       RunState = "done"       // every directory has a text, or was refused one
	Incomplete RunState = "incomplete" // some were given up, and others wait for them
	Cancelled  RunState = "cancelled"
)

// Over reports whether nobody works on it any more.
func (s RunState) Over() bool { return s != Running }

// Counts are how many directories of a run stand how.
type Counts struct {
	Total   int `json:"total"`
	Waiting int `json:"waiting"` // for those below
	Ready   int `json:"ready"`
	Taken   int `json:"taken"` // in a worker's hands
	Done    int `json:"done"`
	Unasked int `json:"unasked"` // of Done: nobody had to be asked
	Partial int `json:"partial"` // of Done: the author could not finish
	Failed  int `json:"failed"`  // the provider will not describe them
	Dead    int `json:"dead"`    // given up after several attempts
}

// Settled is how many need nothing more.
func (c Counts) Settled() int { return c.Done + c.Failed }

// State is how the run stands that has these: one with anything to do is running.
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

// Summary says in a few words how far a run has come.
func (r *Run) Summary() string {
	c := r.Directories
	text := fmt.Sprintf("%d of %d", c.Settled(), c.Total)
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

// A Dead is a directory that was given up.
type Dead struct {
	repo.PathJSON
	Run      int64     `json:"run"`
	Attempts int       `json:"attempts"`
	Error    string    `json:"error"` // of the last one
	Worker   string    `json:"worker"`
	At       time.Time `json:"at"`
}

// A Day is what all runs of a server may spend within a day of UTC, and have.
type Day struct {
	Day      string  `json:"day"` // such as 2026-11-15
	Ceiling  Ceiling `json:"ceiling"`
	Spent    Amount  `json:"spent"` // what was assumed included
	Reserved Amount  `json:"reserved"`
}
