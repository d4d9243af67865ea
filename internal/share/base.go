package share

import (
	"time"

	"ken/internal/repo"
)

// A Base compares a clone with the base of its team: a store on a server that many machines use.
type Base struct {
	Address    string `json:"address"` // without a password
	Repository string `json:"repository,omitempty"`
	// Only says that the policy names no git remote.
	Only bool `json:"-"`
	// Problem is why ken could not use the base, "" if it could; Trouble is the kind of problem.
	Problem string  `json:"problem,omitempty"`
	Trouble Trouble `json:"trouble,omitempty"`
	Pulled  int     `json:"pulled"` // records, just now
	Pushed  int     `json:"pushed"`
	Unsent  int     `json:"unsent"` // records that the base lacks, as far as this clone knows
	// Unpulled counts the records that this clone lacks. It is 0 if there is a problem.
	Unpulled int `json:"unpulled"`
	Records  int `json:"records,omitempty"`
	// Aside counts the records of the base that ken ignores because of their content. Quarantined
	// lists the first of them.
	Aside       int           `json:"aside,omitempty"`
	Quarantined []Quarantined `json:"quarantined,omitempty"`
	// Machines are the work trees that sent their state, and first this one in any case.
	Machines []Machine `json:"machines,omitempty"`
}

// A Trouble is a kind of problem with a base.
type Trouble string

// The kinds of problems.
const (
	Away     Trouble = "away"     // the server does not answer
	Refused  Trouble = "refused"  // the server refuses the login or the command
	Unusable Trouble = "unusable" // the base does not fit this version of ken, or this clone
	Unused   Trouble = "unused"   // the user has not allowed it
)

// Current reports whether the clone and the base have the same records, as far as ken knows.
func (b *Base) Current() bool {
	return b.Problem == "" && b.Unsent == 0 && b.Unpulled == 0 && b.Aside == 0
}

// A Machine is the state of a work tree of a machine when ken last verified it there. The counts
// are numbers of files, by the state of their summaries.
type Machine struct {
	ID       string    `json:"id"`
	Host     string    `json:"host"` // its name
	Here     bool      `json:"here,omitempty"`
	Worktree string    `json:"worktree"`
	Head     repo.ID   `json:"head,omitzero"`
	Verified time.Time `json:"verified_at,omitzero"`
	Told     time.Time `json:"told_at,omitzero"`
	Files    int       `json:"files"`
	Fresh    int       `json:"fresh"`
	Stale    int       `json:"stale"`
	None     int       `json:"none"`
}
